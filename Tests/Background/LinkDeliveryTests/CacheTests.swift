// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import Synchronization
import Testing
import UniversalLinks

@testable import LinkDelivery  // the stored form of an answer is internal

/// Which file of a domain opens links while its site answers, fails, loses its file and has one again.
final class CacheTests {
    private static let week = CachedAssociation.refreshInterval

    private static func file(_ app: String) -> [UInt8] {
        Array(#"{"applinks":{"details":[{"appIDs":["\#(app)"],"components":[{}]}]}}"#.utf8)
    }

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
    private let root = FileManager.default.temporaryDirectory.appending(path: "nfc-\(UUID().uuidString)").path
    private var folders: UserFolders {
        UserFolders(environment: ["HOME": root, "XDG_CONFIG_HOME": root + "/config", "XDG_CACHE_HOME": root + "/cache"])
    }

    init() { answer("a.example", .success(Self.file("T.one"))) }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private func answer(_ domain: String, _ answer: Result<[UInt8], FetchError>?) {
        sites.answers.withLock { $0[domain] = answer }
    }

    /// Refreshes the cache of the user as a new process does.
    ///
    /// - Returns: the domains whose sites were asked.
    @discardableResult
    private func refresh(
        _ domains: [String],
        asking: [String]? = nil,
        now: Int64,
        isForced: Bool = false,
        retriesFailures: Bool = false
    ) async throws -> [String] {
        sites.asked.withLock { $0 = [] }
        _ = try await LinkCache(of: folders).refresh(
            domains,
            asking: asking,
            now: now,
            isForced: isForced,
            retriesFailures: retriesFailures
        ) { [sites] domain async throws(FetchError) -> [UInt8] in try await sites.fetch(domain) }
        return sites.asked.withLock { $0 }
    }

    private func kept(_ domain: String) throws -> CachedAssociation? {
        try LinkCache(of: folders).association(of: domain)
    }

    /// The app that opens the links of a domain.
    private func app(_ domain: String = "a.example") throws -> String? {
        try LinkCache(of: folders).matchers(of: [domain])[domain]?.file.details.first?.apps.first
    }

    // MARK: When a site is asked

    @Test func `Cache: a file is fetched once, again after a week, when forced, or when the clock was set back`()
        async throws
    {
        let rows: [(now: Int64, isForced: Bool, isAsked: Bool)] = [
            (1000, false, true), (1000 + Self.week - 1, false, false), (1000 + Self.week, false, true),
            (1000 + Self.week, true, true), (5, false, true), (6, false, false),
        ]
        for row in rows {
            #expect(
                try await !refresh(["a.example"], now: row.now, isForced: row.isForced).isEmpty == row.isAsked,
                "\(row)"
            )
        }
        #expect(try app() == "T.one")
    }

    @Test func `Cache: after each failure a site is left alone twice as long, up to six hours`() async throws {
        var now: Int64 = 1000
        var pauses: [Int64] = []
        for _ in 0..<12 {
            #expect(try await refresh(["down.example"], now: now) == ["down.example"])
            let next = try #require(try kept("down.example")?.nextTry(at: now))
            #expect(try await refresh(["down.example"], now: next - 1) == [])
            pauses.append(next - now)
            now = next
        }
        #expect(pauses == [60, 120, 240, 480, 960, 1920, 3840, 7680, 15360, 21600, 21600, 21600])
        // An answer begins the count again.
        answer("down.example", .success(Self.file("T.one")))
        try await refresh(["down.example"], now: now)
        #expect(try kept("down.example")?.nextTry(at: now) == now + Self.week)
        answer("down.example", nil)
        try await refresh(["down.example"], now: now + Self.week)
        #expect(try kept("down.example")?.nextTry(at: now + Self.week) == now + Self.week + 60)
    }

    @Test func `Cache: a failed fetch keeps the cached file, the answer that there is no file removes it`() async throws
    {
        let codes: [FetchError.Code] = [.noConnection, .timeout, .certificate, .redirect, .status, .badFile, .tooLarge]
        for code in codes {
            answer("a.example", .success(Self.file("T.one")))
            try await refresh(["a.example"], now: 0, isForced: true)
            answer("a.example", .failure(FetchError(code, "down\nnow")))
            try await refresh(["a.example"], now: Self.week)
            #expect(try app() == "T.one", "\(code)")
            #expect(try kept("a.example")?.failureParts?.code == code.rawValue)
            #expect(try kept("a.example")?.answered == 0)
        }
        answer("a.example", .failure(FetchError(.missing, "gone")))
        try await refresh(["a.example"], now: Self.week, isForced: true)
        #expect(try app() == nil)
        answer("a.example", .success(Self.file("T.two")))
        #expect(try await refresh(["a.example"], now: Self.week + 59) == [])
        try await refresh(["a.example"], now: 2 * Self.week)
        #expect(try app() == "T.two")
    }

    @Test func `Cache: when the network is back, only sites that failed are asked`() async throws {
        try await refresh(["a.example", "down.example"], now: 0)
        #expect(try await refresh(["a.example", "down.example"], now: 1, retriesFailures: true) == ["down.example"])
    }

    @Test
    func `Cache: a domain that is no longer listed is removed, and of the listed ones only those named are asked`()
        async throws
    {
        answer("b.example", .success(Self.file("T.b")))
        #expect(try await refresh(["a.example", "b.example", "gone.example"], now: 0).count == 3)
        #expect(
            try await refresh(["a.example", "b.example"], asking: ["b.example", "x.example"], now: Self.week) == [
                "b.example"
            ]
        )
        #expect(try app("a.example") == "T.one" && app("b.example") == "T.b")
        #expect(try kept("gone.example") == nil && kept("x.example") == nil)
    }

    // MARK: What is kept

    @Test func `Cache: a file that is damaged is fetched again`() async throws {
        try await refresh(["a.example"], now: 0)
        let path = root + "/cache/nfc/links/a.example.links"
        let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
        for count in 0..<bytes.count {
            #expect(CachedAssociation(domain: "a.example", bytes: Array(bytes[..<count])) == nil, "\(count)")
        }
        try Data(bytes.dropLast()).write(to: URL(filePath: path))
        #expect(try app() == nil)
        #expect(try await refresh(["a.example"], now: 1) == ["a.example"])
    }

    @Test func `Cache file: each state is read back, other texts are refused`() {
        var kept = CachedAssociation(domain: "a.example", asked: 1000)
        let changes: [Result<[UInt8], FetchError>?] = [
            nil, .success([]), .success([0x0A, 0, 0xFF]),
            .success(Array(String(repeating: "{}\n", count: 10_000).utf8)),
            .failure(FetchError(.tls, "One line\nand\r\nanother: two")),
        ]
        for change in changes {
            if let change { kept.take(change, at: 7) }
            let again = CachedAssociation(domain: "a.example", bytes: kept.bytes)
            #expect(again?.file == kept.file && again?.answered == kept.answered && again?.asked == kept.asked)
            #expect(again?.failureCount == kept.failureCount)
            #expect(CachedAssociation(domain: "a.example", bytes: kept.bytes + [1]) == nil)
        }
        let refused = [
            "nfc-links 3 1 - - 0 \n", "nfc-links 2 x - - 0 \n", "nfc-links 2 1 - - x \n", "nfc-links 2 1 - - -1 \n",
            "nfc-links 2 1 - - 0\n", "nfc-links 2 1 - 2 0 \nx", "nfc-links 2 1 - - 0 \nx", "nfc-links 2 1 -\n",
            "other 2 1 - - 0 \n", "nfc-links 2 1 - - 0 " + String(repeating: "x", count: 4096) + "\n",
        ]
        for text in refused { #expect(CachedAssociation(domain: "a", bytes: Array(text.utf8)) == nil, "\(text)") }
    }

    @Test func `Cache file: a count of failures stays at Int.max, and a reason is cut to 500 characters`() throws {
        let bytes = Array("nfc-links 2 1000 - - \(Int.max) timeout: Late.\n".utf8)
        var kept = try #require(CachedAssociation(domain: "a.example", bytes: bytes))
        kept.take(.failure(FetchError(.timeout, String(repeating: "x", count: 9000))), at: 5000)
        #expect(kept.failureCount == .max && kept.nextTry(at: 5000) == 5000 + 21_600)
        // A long reason is cut.
        #expect(CachedAssociation(domain: "a.example", bytes: kept.bytes)?.failure?.count == 500)
    }

    @Test func `Cache: a file is compiled once until its bytes change`() {
        let compiled = CompiledAssociations()
        for _ in 0..<3 {
            #expect(compiled.matchers(of: ["a.example": Self.file("T.x"), "b.example": [0x7B]]).count == 1)
        }
        // A broken file is not read again either.
        #expect(compiled.compilations == 2)
        #expect(
            compiled.matchers(of: ["a.example": Self.file("T.y")])["a.example"]?.file.details.first?.apps == ["T.y"]
        )
        #expect(compiled.compilations == 3)
    }

    @Test func `Cache: the largest file and the longest domain are kept, a longer domain is asked each time`()
        async throws
    {
        let label = String(repeating: "a", count: 59) + "."
        func domain(_ size: Int) -> String { String(String(repeating: label, count: 4).suffix(size - 3)) + "aaa" }
        let small = Self.file("T.one")
        let largest = small + [UInt8](repeating: 0x20, count: AssociationFile.maximumSize - small.count)
        for (size, isKept) in [(240, true), (241, false)] {
            answer(domain(size), .success(largest))
            try await refresh([domain(size)], now: 0)
            #expect(try (kept(domain(size))?.file == largest) == isKept)
            #expect(try await refresh([domain(size)], now: 1).isEmpty == isKept)
        }
        for name in ["../x", "", "A.example", "a/b"] { #expect(try kept(name) == nil) }
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

    @Test func `Cache: a file that can't be stored is an error`() async {
        let (cache, sites) = (LinkCache(FullDisk()), sites)
        let error = await #expect(throws: StorageError.self) {
            try await cache.refresh(["a.example"], now: 5) { domain async throws(FetchError) -> [UInt8] in
                try await sites.fetch(domain)
            }
        }
        #expect(error?.code == .failed)
    }

    // MARK: Files of the user's own

    @Test func `Local file: it replaces the site's file until it is removed, and the site is not asked`() async throws {
        try await refresh(["a.example"], now: 0)
        #expect(LocalAssociations(of: folders) == nil)
        let local = try LocalAssociations(making: folders)
        for name in ["T.local", "T.other"] {
            try local.add(Self.file(name), for: "a.example")
            #expect(try app() == name)
        }
        #expect(try await refresh(["a.example"], now: Self.week, isForced: true) == [])
        #expect(try kept("a.example")?.isLocal == true && kept("a.example")?.nextTry(at: 5) == nil)
        // A broken one opens nothing.
        for text in ["", "{", "[]", "{}"] {
            try local.add(Array(text.utf8), for: "a.example")
            #expect(try app() == nil, "\(text)")
        }
        #expect(try local.remove("a.example"))
        #expect(try !local.remove("a.example"))
        #expect(try app() == "T.one")
    }

    @Test func `Local files: only files named by a domain count, with at most the size of a site's file`() throws {
        let local = try LocalAssociations(making: folders)
        let folder = root + "/config/nfc/links/"
        try local.add(Self.file("T.x"), for: "b.example")
        for name in ["c.example", "c.example.links", "C.example.association", ".association", "d e.association"] {
            #expect(FileManager.default.createFile(atPath: folder + name, contents: Data(Self.file("T.x"))))
        }
        #expect(local.domains == ["b.example"])
        #expect(local.file(of: "b.example") == Self.file("T.x") && local.file(of: "C.example") == nil)
        for domain in ["../x", "", "A.example", "a/b", String(repeating: "a.", count: 118) + "aaaaa"] {
            #expect(throws: StorageError.self, "\(domain)") { try local.add([], for: domain) }
            #expect(try !local.remove(domain))
        }
        for (size, isTaken) in [(AssociationFile.maximumSize, true), (AssociationFile.maximumSize + 1, false)] {
            try local.add([UInt8](repeating: 0x20, count: size), for: "a.example")
            #expect((local.file(of: "a.example") != nil) == isTaken, "\(size)")
        }
    }

    // MARK: The network

    @Test func `Network change: settled 2 s after the last change, or at the latest one minute after the first`() {
        var settling = ChangeSettling()
        #expect(!settling.hasChanged)
        for second in 0...58 { #expect(settling.change(at: .seconds(7 + second)) == .seconds(2)) }
        #expect(settling.change(at: .milliseconds(66_500)) == .milliseconds(500))
        for second in [67, 90] { #expect(settling.change(at: .seconds(second)) == .zero) }
        #expect(settling.hasChanged)
        settling.settle()
        #expect(!settling.hasChanged)
        #expect(settling.change(at: .seconds(91)) == .seconds(2))
    }
}
