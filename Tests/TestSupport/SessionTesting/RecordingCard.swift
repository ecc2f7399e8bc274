// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink

/// A card that records a reader's actions, and answers when the test wants it.
package final class RecordingCard: EmulatedCard {
    private struct State {
        var log: [String] = []
        var answers: [@Sendable ([UInt8]) -> Void] = []
    }

    private let state = Locked(State())
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let answersAtOnce: Bool

    /// - Parameter answersAtOnce: whether each command is answered with itself and 9000.
    package init(answersAtOnce: Bool = false) {
        self.answersAtOnce = answersAtOnce
        (stream, continuation) = AsyncStream.makeStream()
    }

    /// What the reader has done, in order.
    package var log: [String] { state.withLock { $0.log } }

    package func note(_ line: String) {
        state.withLock { $0.log.append(line) }
        continuation.yield()
    }

    package func readerDetected() { note("detected") }
    package func readerDeselected() { note("deselected") }

    package func received(_ apdu: [UInt8], respond: @escaping @Sendable ([UInt8]) -> Void) {
        state.withLock { $0.answers.append(respond) }
        note(apdu.hexText())
        if answersAtOnce { respond(apdu + [0x90, 0]) }
    }

    /// Answers the command that came as the first, second, … one.
    package func answer(_ index: Int, _ response: [UInt8]) { state.withLock { $0.answers[index] }(response) }

    /// Waits until so much has happened.
    package func happens(_ count: Int) async -> [String] {
        var changes = stream.makeAsyncIterator()
        while log.count < count { _ = await changes.next() }
        return log
    }
}
