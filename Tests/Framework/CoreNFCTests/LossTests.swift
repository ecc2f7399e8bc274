// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A tag that is lost at any exchange` {
    /// Connects, queries, reads, writes, reads, locks; every step runs, even after a failure.
    @Sendable static func flow(_ field: TestField) async throws {
        // If the tag is lost before it is found, the session runs until its minute is over.
        var found = try await FoundTags()
        let (session, tag) = (found.session, found.tag)
        @Sendable func note(_ step: String, _ error: (any Error)?) {
            field.completed(step)
            if let code = (error as? NFCReaderError)?.code { field.note("code \(code.rawValue)") }
        }
        let message = TestTag.message(uri: "https://example.com/a/longer/path")
        session.connect(to: tag) { note("connect", $0) }
        tag.queryNDEFStatus { note("query", $2) }
        tag.readNDEF { note("read", $1) }
        tag.writeNDEF(message) { note("write", $0) }
        tag.readNDEF { note("read again", $1) }
        let failure = try await field.completion("all") { done in
            tag.writeLock { error in
                note("lock", error)
                done(error as? NFCReaderError)
            }
        }
        session.invalidate()
        #expect(await found.events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
        if let failure { throw failure }
    }

    /// The steps are answered in order. From the first failure on, each answer reports that the connection was lost.
    static let lostOnce = Invariant("each answer after the loss says that the connection was lost") { run in
        let notes = run.trace.entries.compactMap { if case .note(let text) = $0.event { text } else { nil } }
        let steps = ["connect", "query", "read", "write", "read again", "lock", "all"].map { "called: \($0)" }
        let called = notes.filter { $0.hasPrefix("called: ") }
        guard !called.isEmpty else { return nil }
        if called != steps { return "the order was \(called)" }
        let codes = notes.filter { $0.hasPrefix("code ") }
        if run.error == nil { return codes.isEmpty ? nil : "there were \(codes)" }
        let lost = "code \(NFCReaderError.Code.readerTransceiveErrorTagConnectionLost.rawValue)"
        let after = notes.drop { !$0.hasPrefix("code ") }.filter { $0.hasPrefix("called: ") && $0 != "called: all" }
        return codes.allSatisfy { $0 == lost } && codes.count == after.count + 1 ? nil : "the codes were \(codes)"
    }

    @Test func `Every completion is called once and in order, and says that the connection was lost`() async throws {
        let report = try await explore(
            .losses + .tears,
            near: .product("NTAG213", holding: .uri("https://example.com/a")),
            invariants: [.neverBricked, .sessionEnds, .completesOnce, Self.lostOnce]
        ) { try await Self.flow($0) }
        // One loss is before the connection.
        #expect(report.exchanges > 10 && report.runs == 1 + report.exchanges + 1 + 3 * report.writes)
    }

    @Test(arguments: ["Topaz 512", "NTAG215", "Ultralight EV1 UL11", "FeliCa Lite-S", "generic Type 4", "ICODE SLIX2"])
    func `Whatever the tag, it is never bricked, no message is lost, and every caller is answered once`(
        product: String
    ) async throws {
        let report = try await explore(
            .everyLoss,
            near: .product(product, holding: .uri("https://example.com/a")),
            invariants: [.neverBricked, .noMessageLost, .sessionEnds, .completesOnce]
        ) { field in
            let found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            do {
                try await session.connect(to: tag)
                guard try await tag.queryNDEFStatus().0 == .readWrite else { throw CocoaError(.fileNoSuchFile) }
                _ = try await tag.readNDEF()
                try await tag.writeNDEF(TestTag.message(uri: "https://example.com/b/longer"))
                session.invalidate()
            } catch {
                session.invalidate(errorMessage: "Try again.")
                throw error
            }
        }
        #expect(report.writes > 0)
    }

    @Test func `A session that is invalidated at any moment resumes every caller once`() async throws {
        for delay in 0..<40 {
            try await withVirtualField { field in
                field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
                let found = try await FoundTags()
                let (session, tag) = (found.session, found.tag)
                let results = await withTaskGroup(of: NFCReaderError.Code?.self) { group in
                    group.addTask {
                        // Spreads the moment over the whole flow.
                        for _ in 0..<delay { await Task.yield() }
                        session.invalidate()
                        return nil
                    }
                    for _ in 0..<4 {
                        group.addTask {
                            do {
                                try await session.connect(to: tag)
                                _ = try await tag.queryNDEFStatus()
                                _ = try await tag.readNDEF()
                                return nil
                            } catch {
                                return (error as? NFCReaderError)?.code ?? .readerErrorInvalidParameter
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(results.count == 5)
                #expect(results.allSatisfy { $0 == nil || $0 == .readerTransceiveErrorSessionInvalidated })
            }
        }
    }

    @Test func `A tag that is swapped between connecting and writing is not written to`() async throws {
        try await withField { field in
            let other = TestTag.ntag213(uri: "https://example.com/other", serial: 9)
            let before = other.contents.memory
            try await field.bring(.product("NTAG213", holding: .uri("https://example.com/a")))
            let found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            try await session.connect(to: tag)
            #expect(try await tag.queryNDEFStatus().0 == .readWrite)
            try field.inject(.effect(.swap(other), atExchange: 0))
            await #expect {
                try await tag.writeNDEF(TestTag.message(uri: "https://example.com/new"))
            } throws: { error in
                (error as? NFCReaderError)?.code == .readerTransceiveErrorTagConnectionLost
            }
            #expect(!tag.isAvailable)
            #expect(other.contents.memory == before)
            session.invalidate()
        }
    }

    @Test func `A task that is cancelled at any moment gets one answer, and the session goes on`() async throws {
        for delay in 0..<40 {
            try await withVirtualField { field in
                field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
                var found = try await FoundTags()
                let (session, tag) = (found.session, found.tag)
                let work = Task {
                    try await session.connect(to: tag)
                    _ = try await tag.queryNDEFStatus()
                    return try await tag.readNDEF().records.count
                }
                for _ in 0..<delay { await Task.yield() }
                work.cancel()
                // A phone can't cancel a sent command, so it is still answered.
                let answer = await work.result
                #expect((try? answer.get()) == 1)
                #expect(try await tag.readNDEF().records.count == 1)
                session.invalidate()
                #expect(await found.events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            }
        }
    }
}
