// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import TestThreads
import Testing

/// Two sessions that follow each other: their turns, and the sheet.
@Suite(.timeLimit(.minutes(1))) struct SessionTurnTests {
    /// Two sessions on one queue, whose calls are in one log.
    private struct Pair {
        let log = Locked<[String]>([])
        let queue = DispatchQueue(label: "shared")
        let delegates: [MessageDelegate]
        let first: NFCNDEFReaderSession
        let second: NFCNDEFReaderSession

        init(onEnd: @escaping @Sendable () -> Void = {}) {
            let log = log
            let (a, b) = (
                MessageDelegate { _, event in
                    log.withLock { $0.append("a \(event.text)") }
                    if case .ended = event { onEnd() }
                },
                MessageDelegate { _, event in log.withLock { $0.append("b \(event.text)") } }
            )
            delegates = [a, b]
            (first, second) = (ndefSession(a, queue: queue), ndefSession(b, queue: queue))
            (first.alertMessage, second.alertMessage) = ("a", "b")
        }

        func wait(for entry: String) async throws { try await waitWhile(!log.withLock { $0 }.contains(entry)) }

        /// Waits for the end of the second session, and returns the log.
        func end() async throws -> [String] {
            try await wait(for: "b ended 200")
            return log.withLock { $0 }
        }
    }

    @Test func `Two sessions: they report in order, and the text of one is never on the sheet of the other`()
        async throws
    {
        try await withVirtualField { field in
            let pair = Pair()
            let (first, second) = (pair.first, pair.second)
            first.begin()
            second.begin()
            second.begin()
            #expect(first.isReady && !second.isReady)
            second.alertMessage = "b waits"
            first.alertMessage = "a works"
            first.invalidate(errorMessage: "a failed")
            first.alertMessage = "a is late"
            #expect(first.alertMessage == "a is late")
            try await pair.wait(for: "b active")
            #expect(!first.isReady && second.isReady)
            first.alertMessage = "a is too late"
            first.invalidate(errorMessage: "a failed again")
            first.begin()
            second.invalidate()
            second.alertMessage = "b is late"
            #expect(try await pair.end() == ["a active", "a ended 200", "b active", "b ended 200"])
            try await field.untilIdle()
            field.clock.advance(by: .seconds(3))
            pair.queue.sync {}
            #expect(
                field.sheet.history.map { "\($0.state): \($0.message)" } == [
                    "ready: a", "ready: a works", "failure: a failed", "dismissed: a failed", "ready: b waits",
                    "success: b waits", "dismissed: b waits",
                ]
            )
        }
    }

    @Test func `Two sessions: the next one may begin as soon as the app hears of the end`() async throws {
        try await withVirtualField { field in
            let next = Locked<(@Sendable () -> Void)?>(nil)
            let pair = Pair { next.withLock { $0.take() }?() }
            let (first, second) = (Shared(pair.first), Shared(pair.second))
            next.withLock { next in
                next = {
                    first.value.begin()
                    second.value.begin()
                }
            }
            pair.first.begin()
            pair.first.invalidate()
            try await pair.wait(for: "b active")
            pair.second.invalidate()
            #expect(try await pair.end() == ["a active", "a ended 200", "b active", "b ended 200"])
            let states: [SheetState] = [.ready, .success, .dismissed, .ready, .success]
            #expect(Array(field.sheet.history.map(\.state).prefix(5)) == states)
            try await field.untilIdle()
        }
    }
}
