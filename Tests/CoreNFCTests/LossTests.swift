// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A tag that is lost at any exchange` {
    /// What became of one flow: the error of each step, nil for success.
    struct Outcome: Sendable {
        var steps: [String] = []
        var errors: [NFCReaderError.Code?] = []
        var completions = 0
    }

    /// Connects, asks, reads, writes, reads, locks; every step is taken, whatever became of the one before.
    static func flow(losingAt exchange: Int?) async throws -> (outcome: Outcome, exchanges: Int) {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            var found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            field.tags.arm(exchange.map { .loss(atExchange: $0) } ?? FaultPlan())
            let before = field.tags.link(for: .nfcA)?.statistics.exchanges ?? 0

            let outcome = Mutex(Outcome())
            @Sendable func note(_ step: String, _ error: (any Error)?) {
                outcome.withLock { outcome in
                    outcome.completions += 1
                    outcome.steps.append(step)
                    outcome.errors.append((error as? NFCReaderError)?.code)
                }
            }
            let message = TestTag.message(uri: "https://example.com/a/longer/path")
            session.connect(to: tag) { note("connect", $0) }
            tag.queryNDEFStatus { note("query", $2) }
            tag.readNDEF { note("read", $1) }
            tag.writeNDEF(message) { note("write", $0) }
            tag.readNDEF { note("read again", $1) }
            await withCheckedContinuation { continuation in
                tag.writeLock {
                    note("lock", $0)
                    continuation.resume()
                }
            }
            let after = field.tags.link(for: .nfcA)?.statistics.exchanges ?? 0
            session.invalidate()
            #expect(await found.events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            return (outcome.withLock { $0 }, after - before)
        }
    }

    @Test func `Every completion is called once and in order, and says that the connection was lost`() async throws {
        let whole = try await Self.flow(losingAt: nil)
        let steps = ["connect", "query", "read", "write", "read again", "lock"]
        #expect(whole.outcome.steps == steps)
        #expect(whole.outcome.errors.allSatisfy { $0 == nil })
        #expect(whole.exchanges > 10)
        for exchange in 0..<whole.exchanges {
            let cut = try await Self.flow(losingAt: exchange).outcome
            #expect(cut.steps == steps, "exchange \(exchange)")
            let first = try #require(cut.errors.firstIndex { $0 != nil }, "exchange \(exchange)")
            #expect(
                cut.errors[first...].allSatisfy { $0 == .readerTransceiveErrorTagConnectionLost },
                "exchange \(exchange): \(cut.errors)"
            )
        }
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
        try await withVirtualField { field in
            let other = TestTag.ntag213(uri: "https://example.com/other", serial: 9)
            let before = other.contents.memory
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            try await session.connect(to: tag)
            #expect(try await tag.queryNDEFStatus().0 == .readWrite)
            field.tags.arm(.effect(.swap(other), atExchange: 0))
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
                // A phone has no way to take a command back: it is answered all the same.
                let answer = await work.result
                #expect((try? answer.get()) == 1)
                #expect(try await tag.readNDEF().records.count == 1)
                session.invalidate()
                #expect(await found.events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            }
        }
    }
}
