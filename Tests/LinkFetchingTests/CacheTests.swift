// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinkFetching
import PrivateStorage
import Synchronization
import Testing
import UniversalLinks

@Suite struct `The cache of association files` {
    private static let file = Array(#"{"applinks":{"details":[{"appIDs":["T.x"],"components":[{}]}]}}"#.utf8)
    private static let week = CachedAssociation.refreshInterval

    /// Sites that answer as they are told, and count.
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

    private func refresh(_ domains: [String], _ now: Int64, isForced: Bool = false) async throws -> [CachedAssociation]
    {
        try await cache.refresh(domains, now: now, isForced: isForced) { domain async throws(FetchError) -> [UInt8] in
            try await sites.fetch(domain)
        }
    }

    private var asked: Int { sites.asked.withLock { $0.count } }

    @Test func `A file is got once, and again after a week`() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
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

    @Test(arguments: [FetchError.Code.noConnection, .timeout, .certificate, .redirect, .status, .badFile, .tooLarge])
    func `A site that fails keeps its file, and is asked again later`(code: FetchError.Code) async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try await refresh(["a.example"], 0)
        sites.answers.withLock { $0["a.example"] = .failure(FetchError(code, "down\nnow")) }
        let failed = try await refresh(["a.example"], Self.week)
        #expect(failed.first?.file == Self.file)
        #expect(failed.first?.answered == 0)
        #expect(failed.first?.failure?.contains("down") == true)
        #expect(cache.association(of: "a.example")?.failure == "\(code): down now")
        _ = try await refresh(["a.example"], Self.week + CachedAssociation.retryInterval - 1)
        #expect(asked == 2)
        _ = try await refresh(["a.example"], Self.week + CachedAssociation.retryInterval)
        #expect(asked == 3)
    }

    @Test func `A site that has no file any more loses it`() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try await refresh(["a.example"], 0)
        sites.answers.withLock { $0["a.example"] = .failure(FetchError(.missing, "gone")) }
        #expect(try await refresh(["a.example"], Self.week).first?.file == nil)
        #expect(cache.matchers(of: ["a.example"]).isEmpty)
    }

    @Test func `Only domains that are listed are asked and kept`() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try await refresh(["a.example", "b.example"], 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == 2)
        _ = try await refresh(["b.example"], 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["b.example.links"])
        #expect(sites.asked.withLock { $0 } == ["a.example", "b.example"])
    }

    @Test func `A damaged file of the cache counts as none`() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try await refresh(["a.example"], 0)
        let octets = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + "/a.example.links")))
        for count in 0..<octets.count {
            #expect(CachedAssociation(domain: "a.example", octets: Array(octets[..<count])) == nil)
        }
        try Data(octets.dropLast()).write(to: URL(fileURLWithPath: path + "/a.example.links"))
        #expect(cache.association(of: "a.example") == nil)
        _ = try await refresh(["a.example"], 1)
        #expect(asked == 2)
        for domain in ["../x", "", "A.example", "a/b", String(repeating: "a.", count: 124) + "ab"] {
            #expect(cache.association(of: domain) == nil)
        }
    }
}
