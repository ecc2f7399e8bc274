// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinkFetching
import PrivateStorage
import Synchronization
import Testing
import UniversalLinks

@Suite final class `The cache of association files` {
    private static let file = Array(#"{"applinks":{"details":[{"appIDs":["T.x"],"components":[{}]}]}}"#.utf8)
    private static let week = CachedAssociation.refreshInterval

    /// Sites with scripted answers, which count requests.
    private final class Sites: Sendable {
        let answers = Mutex<[String: Result<[UInt8], FetchError>]>([:])
        let asked = Mutex<[String]>([])

        func fetch(_ domain: String) async throws(FetchError) -> [UInt8] {
            asked.withLock { $0.append(domain) }
            guard let answer = answers.withLock({ $0[domain] }) else { throw FetchError(.notFound, "no") }
            return try answer.get()
        }
    }

    private let sites = Sites()
    private let path: String
    private let cache: LinkCache<DirectoryStore>

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("nfc-cache-\(UUID().uuidString)").path
        cache = LinkCache(try DirectoryStore(path))
        sites.answers.withLock { $0 = ["a.example": .success(Self.file)] }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func refresh(_ domains: [String], _ now: Int64, isForced: Bool = false) async throws -> [CachedAssociation]
    {
        try await cache.refresh(domains, now: now, isForced: isForced) { domain async throws(FetchError) -> [UInt8] in
            try await sites.fetch(domain)
        }
    }

    private var asked: Int { sites.asked.withLock { $0.count } }

    @Test func `A file is got once, and again after a week`() async throws {
        let first = try await refresh(["a.example"], 1000)
        #expect(first.first?.file == Self.file)
        #expect(first.first?.answered == 1000)
        _ = try await refresh(["a.example"], 1000 + Self.week - 1)
        #expect(asked == 1)
        _ = try await refresh(["a.example"], 1000 + Self.week)
        #expect(asked == 2)
        _ = try await refresh(["a.example"], 1000 + Self.week, isForced: true)
        #expect(asked == 3)
        // A clock that was set back.
        _ = try await refresh(["a.example"], 5)
        #expect(asked == 4)
        #expect(cache.matchers(of: ["a.example", "b.example"]).count == 1)
    }

    @Test(arguments: [240, 241]) func `A domain that is too long for the name of a file is not kept`(size: Int)
        async throws
    {
        let label = String(repeating: "a", count: 59) + "."
        let long = String(String(repeating: label, count: 4).suffix(size - 3)) + "aaa"
        sites.answers.withLock { $0[long] = .success(Self.file) }
        #expect(try await refresh([long], 0).first?.file == Self.file)
        #expect((cache.association(of: long) != nil) == (size == 240))
        _ = try await refresh([long], 1)
        #expect(asked == (size == 240 ? 1 : 2))
    }

    @Test func `The largest file that a site may serve is kept`() async throws {
        let largest = Self.file + [UInt8](repeating: 0x20, count: AssociationFile.maximumSize - Self.file.count)
        sites.answers.withLock { $0["a.example"] = .success(largest) }
        #expect(try await refresh(["a.example"], 1000).first?.file == largest)
        #expect(cache.association(of: "a.example")?.file == largest)
        #expect(cache.matchers(of: ["a.example"]).count == 1)
        _ = try await refresh(["a.example"], 1001)
        #expect(asked == 1)
    }

    @Test func `A file is compiled once, until its bytes change or nobody asks for it`() {
        let compiled = CompiledAssociations()
        let other = Array(#"{"applinks":{"details":[{"appIDs":["T.y"],"components":[{}]}]}}"#.utf8)
        for _ in 0..<3 { #expect(compiled.matchers(of: ["a.example": Self.file, "b.example": [0x7B]]).count == 1) }
        // What is no file is not read again either.
        #expect(compiled.compilations == 2)
        #expect(compiled.matchers(of: ["a.example": other])["a.example"]?.file.details.first?.apps == ["T.y"])
        #expect(compiled.compilations == 3)
        #expect(compiled.matchers(of: [:]).isEmpty)
        _ = compiled.matchers(of: ["a.example": other])
        #expect(compiled.compilations == 4)
    }

    @Test(arguments: [FetchError.Code.noConnection, .timeout, .certificate, .redirect, .status, .badFile, .tooLarge])
    func `A site that fails keeps its file, and is asked again later`(code: FetchError.Code) async throws {
        _ = try await refresh(["a.example"], 0)
        sites.answers.withLock { $0["a.example"] = .failure(FetchError(code, "down\nnow")) }
        let failed = try await refresh(["a.example"], Self.week)
        #expect(failed.first?.file == Self.file)
        #expect(failed.first?.answered == 0)
        #expect(failed.first?.failure?.contains("down") == true)
        #expect(cache.association(of: "a.example")?.failure == "\(code): down now")
        _ = try await refresh(["a.example"], Self.week + CachedAssociation.firstRetryInterval - 1)
        #expect(asked == 2)
        _ = try await refresh(["a.example"], Self.week + CachedAssociation.firstRetryInterval)
        #expect(asked == 3)
    }

    @Test func `After each failure a site is left alone twice as long, for six hours at most, until it answers`()
        async throws
    {
        var now: Int64 = 1000
        var pauses: [Int64] = []
        for _ in 0..<12 {
            let known = try #require(try await refresh(["down.example"], now).first)
            let next = try #require(known.nextTry(at: now))
            // What is on the disk says the same to the next process.
            #expect(cache.association(of: "down.example")?.nextTry(at: now) == next)
            let before = asked
            _ = try await refresh(["down.example"], next - 1)
            #expect(asked == before)
            pauses.append(next - now)
            now = next
        }
        #expect(pauses == [60, 120, 240, 480, 960, 1920, 3840, 7680, 15360, 21600, 21600, 21600])
        sites.answers.withLock { $0["down.example"] = .success(Self.file) }
        #expect(try await refresh(["down.example"], now).first?.nextTry(at: now) == now + Self.week)
        sites.answers.withLock { $0["down.example"] = nil }
        _ = try await refresh(["down.example"], now + Self.week)
        #expect(cache.association(of: "down.example")?.nextTry(at: now + Self.week) == now + Self.week + 60)
    }

    @Test func `When there is a network again only sites that failed are asked`() async throws {
        _ = try await refresh(["a.example", "down.example"], 0)
        sites.asked.withLock { $0 = [] }
        _ = try await cache.refresh(["a.example", "down.example"], now: 1, retriesFailures: true) {
            domain async throws(FetchError) -> [UInt8] in try await sites.fetch(domain)
        }
        #expect(sites.asked.withLock { $0 } == ["down.example"])
    }

    @Test func `A file in the form before failures were counted is read`() throws {
        let old = try #require(
            CachedAssociation(domain: "a.example", bytes: Array("nfc-links 1 7 - - timeout: No answer.\n".utf8))
        )
        #expect(old.failure == "timeout: No answer.")
        #expect(old.nextTry(at: 7) == 67)
        let good = try #require(CachedAssociation(domain: "a.example", bytes: Array("nfc-links 1 7 7 2 \n{}".utf8)))
        #expect(good.file == Array("{}".utf8))
        #expect(good.nextTry(at: 7) == 7 + Self.week)
    }

    @Test func `A local file takes the place of the site's, which is not asked, until it is removed`() async throws {
        let local = LocalAssociations(try DirectoryStore(path + "/local"))
        defer { try? FileManager.default.removeItem(atPath: path + "/local") }
        let cache = LinkCache(try DirectoryStore(path + "/cache"), local: local)
        let own = Array(#"{"applinks":{"details":[{"appIDs":["T.local"],"components":[{}]}]}}"#.utf8)
        try local.add(own, for: "a.example")
        #expect(local.domains == ["a.example"])
        let found = try await cache.refresh(["a.example"], now: 5, isForced: true) {
            domain async throws(FetchError) -> [UInt8] in try await sites.fetch(domain)
        }
        #expect(found.first?.file == own)
        #expect(found.first?.isLocal == true)
        #expect(found.first?.nextTry(at: 5) == nil)
        #expect(asked == 0)
        #expect(cache.matchers(of: ["a.example"])["a.example"]?.file.details.first?.apps == ["T.local"])
        #expect(try local.remove("a.example"))
        #expect(try !local.remove("a.example"))
        #expect(cache.association(of: "a.example") == nil)
        for domain in ["../x", "", "A.example", "a/b"] {
            #expect(throws: StorageError.self) { try local.add(own, for: domain) }
        }
    }

    @Test func `A site that has no file any more loses it`() async throws {
        _ = try await refresh(["a.example"], 0)
        sites.answers.withLock { $0["a.example"] = .failure(FetchError(.missing, "gone")) }
        #expect(try await refresh(["a.example"], Self.week).first?.file == nil)
        #expect(cache.matchers(of: ["a.example"]).isEmpty)
    }

    @Test func `Only domains that are listed are asked and kept`() async throws {
        _ = try await refresh(["a.example", "b.example"], 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == 2)
        _ = try await refresh(["b.example"], 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["b.example.links"])
        #expect(sites.asked.withLock { $0 } == ["a.example", "b.example"])
    }

    @Test func `Where only some are asked the files of the others stay, and are not asked`() async throws {
        sites.answers.withLock { $0["b.example"] = .success(Self.file) }
        _ = try await refresh(["a.example", "b.example", "gone.example"], 0)
        sites.asked.withLock { $0 = [] }
        let found = try await cache.refresh(
            ["a.example", "b.example"],
            asking: ["b.example", "unlisted.example"],
            now: Self.week
        ) { domain async throws(FetchError) -> [UInt8] in try await sites.fetch(domain) }
        #expect(found.map(\.domain) == ["b.example"])
        #expect(sites.asked.withLock { $0 } == ["b.example"])
        #expect(cache.association(of: "a.example")?.file == Self.file)
        #expect(cache.association(of: "gone.example") == nil)
        #expect(cache.association(of: "unlisted.example") == nil)
    }

    @Test func `What can't be removed from the cache's folder keeps no site from being asked`() async throws {
        let stray = path + "/gone.example.links"
        try FileManager.default.createDirectory(atPath: stray, withIntermediateDirectories: false)
        try Data().write(to: URL(fileURLWithPath: stray + "/file"))
        #expect(try await refresh(["a.example"], 0).first?.file == Self.file)
        #expect(cache.association(of: "a.example")?.file == Self.file)
    }

    /// A disk that has no room for a file.
    private struct FullDisk: FileStore {
        func names() throws(StorageError) -> [String] { [] }
        func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8] {
            throw StorageError(.missing, "There is no \(name).")
        }
        func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
            throw StorageError(.failed, "The disk is full.")
        }
        func rename(_ name: String, to new: String) throws(StorageError) {}
        func remove(_ name: String) throws(StorageError) {}
        func synchronize() throws(StorageError) {}
    }

    @Test("A file that can't be kept is an error, since the site would be asked again each time")
    func fullDisk() async {
        let (cache, sites) = (LinkCache(FullDisk()), sites)
        let error = await #expect(throws: StorageError.self) {
            try await cache.refresh(["a.example"], now: 5) { domain async throws(FetchError) -> [UInt8] in
                try await sites.fetch(domain)
            }
        }
        #expect(error?.reason == "The disk is full." && asked == 1)
    }

    @Test func `A damaged file of the cache counts as none`() async throws {
        _ = try await refresh(["a.example"], 0)
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + "/a.example.links")))
        for count in 0..<bytes.count {
            #expect(CachedAssociation(domain: "a.example", bytes: Array(bytes[..<count])) == nil)
        }
        try Data(bytes.dropLast()).write(to: URL(fileURLWithPath: path + "/a.example.links"))
        #expect(cache.association(of: "a.example") == nil)
        _ = try await refresh(["a.example"], 1)
        #expect(asked == 2)
        for domain in ["../x", "", "A.example", "a/b", String(repeating: "a.", count: 124) + "ab"] {
            #expect(cache.association(of: domain) == nil)
        }
    }
}
