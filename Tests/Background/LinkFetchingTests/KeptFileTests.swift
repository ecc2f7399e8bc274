// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinkFetching
import PrivateStorage
import Testing
import UniversalLinks

/// Which file of a domain opens links while its site answers, fails, loses its file and has one again.
@Suite final class `The file of a domain that changes` {
    private static let domain = "a.example"
    private static let failure = FetchError(.timeout, "It is slow.")

    private let path: String
    private let store: DirectoryStore
    private let local: LocalAssociations<DirectoryStore>
    private let compiled = CompiledAssociations()

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("nfc-kept-\(UUID().uuidString)").path
        store = try DirectoryStore(path + "/cache")
        local = LocalAssociations(try DirectoryStore(path + "/local"))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private static func file(_ app: String) -> [UInt8] {
        Array(#"{"applinks":{"details":[{"appIDs":["\#(app)"],"components":[{}]}]}}"#.utf8)
    }

    /// Asks the site if that is due.
    ///
    /// - Returns: whether it was asked.
    private func refresh(
        _ now: Int64,
        isForced: Bool = false,
        retriesFailures: Bool = false,
        _ answer: Result<[UInt8], FetchError>
    ) async throws -> Bool {
        var isAsked = false
        _ = try await LinkCache(store, local: local).refresh(
            [Self.domain],
            now: now,
            isForced: isForced,
            retriesFailures: retriesFailures
        ) { _ async throws(FetchError) -> [UInt8] in
            isAsked = true
            return try answer.get()
        }
        return isAsked
    }

    /// The app that opens the links of the domain, as the next process finds it.
    private var app: String? {
        LinkCache(store, local: local).matchers(of: [Self.domain], compiled: compiled)[Self.domain]?.file.details.first?
            .apps.first
    }

    @Test func `Opens links while the site fails, until it says that there is none, and again with the next`()
        async throws
    {
        #expect(app == nil)
        #expect(try await refresh(0, .success(Self.file("T.one"))))
        #expect(app == "T.one")
        let week = CachedAssociation.refreshInterval
        #expect(try await refresh(week, .failure(Self.failure)))
        #expect(app == "T.one")
        // It is asked again a minute later, and then two minutes after that.
        #expect(try await !refresh(week + 59, .success(Self.file("T.two"))))
        #expect(try await refresh(week + 60, .failure(Self.failure)))
        #expect(try await !refresh(week + 179, .success(Self.file("T.two"))))
        #expect(try await refresh(week + 180, .failure(FetchError(.missing, "It is gone."))))
        #expect(app == nil)
        // The site answered, and is left alone for longer all the same.
        #expect(try await !refresh(week + 419, .success(Self.file("T.two"))))
        #expect(try await refresh(week + 420, .success(Self.file("T.two"))))
        #expect(app == "T.two")
        #expect(try await !refresh(2 * week + 419, .success(Self.file("T.one"))))
        #expect(try await refresh(2 * week + 420, .success(Self.file("T.one"))))
        #expect(app == "T.one")
    }

    @Test func `Is asked for at once when that is forced, or when there is a network again after a failure`()
        async throws
    {
        #expect(try await refresh(0, .failure(Self.failure)))
        #expect(try await !refresh(1, .success(Self.file("T.one"))))
        #expect(try await refresh(1, isForced: true, .failure(Self.failure)))
        #expect(try await refresh(2, retriesFailures: true, .success(Self.file("T.one"))))
        #expect(app == "T.one")
        // The site has not failed.
        #expect(try await !refresh(3, retriesFailures: true, .success(Self.file("T.two"))))
        #expect(try await refresh(3, isForced: true, .success(Self.file("T.two"))))
        #expect(app == "T.two")
    }

    @Test func `Gives its place to a local one, and has it again without a question when that is removed`() async throws
    {
        _ = try await refresh(0, .success(Self.file("T.one")))
        try local.add(Self.file("T.local"), for: Self.domain)
        #expect(app == "T.local")
        let week = CachedAssociation.refreshInterval
        for (isForced, retries) in [(false, false), (true, false), (false, true)] {
            let isAsked = try await refresh(
                week + 1,
                isForced: isForced,
                retriesFailures: retries,
                .success(Self.file("T.two"))
            )
            #expect(!isAsked && app == "T.local")
        }
        try local.add(Self.file("T.other"), for: Self.domain)
        #expect(app == "T.other")
        #expect(try local.remove(Self.domain))
        #expect(app == "T.one")
        #expect(try await refresh(week, .success(Self.file("T.two"))))
        #expect(app == "T.two")
    }

    @Test func `Opens nothing while a local one in its place is no file`() async throws {
        _ = try await refresh(0, .success(Self.file("T.one")))
        for text in ["", "{", "[]", "{}"] {
            try local.add(Array(text.utf8), for: Self.domain)
            #expect(app == nil, "\(text)")
        }
        #expect(try local.remove(Self.domain))
        #expect(app == "T.one")
    }

    @Test func `Goes when no app lists the domain any more, and a domain below another has its own`() async throws {
        _ = try await refresh(0, .success(Self.file("T.one")))
        let found = try await LinkCache(store).refresh(["b.example", "a.b.example"], now: 1) {
            domain async throws(FetchError) -> [UInt8] in
            Self.file("T." + domain)
        }
        #expect(found.map(\.domain) == ["b.example", "a.b.example"])
        let matchers = LinkCache(store).matchers(of: ["a.example", "b.example", "a.b.example"])
        #expect(matchers.keys.sorted() == ["a.b.example", "b.example"])
        #expect(matchers["b.example"]?.file.details.first?.apps == ["T.b.example"])
    }
}
