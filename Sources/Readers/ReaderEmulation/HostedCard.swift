// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TagLink

/// A card that is emulated by a reader's chip. The chip itself answers during activation and handles blocks. The chip's
/// host answers the commands.
///
/// Two sides share this object. The field that contains the card calls ``activated()``, ``respond(to:)``,
/// ``deselected()`` and ``lostField()``. The chip takes commands from the card and passes on the host's answers.
package final class HostedCard: Sendable {
    /// The data that readers receive before the first command.
    package struct Identity: Sendable, Hashable {
        /// The ATQA; its low byte is transmitted first.
        package var atqa: UInt16
        package var sak: UInt8
        /// The UID, four bytes.
        package var uid: [UInt8]
        /// The whole answer to RATS, with the length byte.
        package var answerToSelect: [UInt8]
    }

    enum Request: Sendable, Equatable {
        case none
        case command([UInt8])
        case gone(PN53xStatus)
    }

    private struct State {
        var isListening = true
        var isActivated = false
        var endStatus: PN53xStatus?
        var command: [UInt8]?
        var isAsking = false
        var answer: [UInt8]?
        /// How many seconds the host may take to answer. The default is about the longest frame waiting time.
        var limit = 5
    }

    package let identity: Identity
    private let state = Locked(State())
    private let answerSignal = DispatchSemaphore(value: 0)
    private let onChange: @Sendable () -> Void

    init(_ identity: Identity, onChange: @escaping @Sendable () -> Void) {
        self.identity = identity
        self.onChange = onChange
    }

    /// Sets how long the host may take to answer, for example on a busy machine.
    package func allow(seconds: Int) { state.withLock { $0.limit = seconds } }

    // MARK: The reader's side

    /// Whether the chip answers readers. Once a reader has left, this is false until the host makes the chip a card
    /// again.
    package var isListening: Bool { state.withLock { $0.isListening } }

    /// Called when a reader has selected the card and received the answer to RATS.
    package func activated() {
        let isNew = state.withLock { state in
            defer { state.isActivated = true }
            return state.isListening && !state.isActivated
        }
        if isNew { onChange() }
    }

    /// Passes a command to the host and waits for the answer. Returns nil when the host does not answer; then the chip
    /// does not answer either.
    package func respond(to command: [UInt8]) -> [UInt8]? {
        let asks = state.withLock { state in
            guard state.isListening else { return false }
            state.command = command
            state.isAsking = true
            return true
        }
        guard asks else { return nil }
        onChange()
        let isAnswered = answerSignal.wait(timeout: .now() + .seconds(state.withLock { $0.limit })) == .success
        return state.withLock { state in
            // Consumes the signal of an answer that arrived between the timeout and this lock.
            if !isAnswered, !state.isAsking { answerSignal.wait() }
            state.isAsking = false
            if state.answer == nil, state.isListening {
                state.isListening = false
                state.endStatus = .fieldLost
            }
            return state.answer.take()
        }
    }

    package func deselected() { leave(.released) }

    package func lostField() { leave(.fieldLost) }

    private func leave(_ status: PN53xStatus) {
        let changes = state.withLock { state in
            guard state.isListening, state.isActivated else { return false }
            state.isListening = false
            state.endStatus = status
            return true
        }
        if changes { onChange() }
    }

    // MARK: The host's side

    var isActivated: Bool { state.withLock { $0.isActivated } }

    func takeCommand() -> Request {
        state.withLock { state in
            if let command = state.command.take() { return .command(command) }
            return state.endStatus.map(Request.gone) ?? .none
        }
    }

    /// Answers the reader. Returns whether the reader was waiting for the answer.
    func give(_ answer: [UInt8]) -> Bool {
        let wasAsking = state.withLock { state in
            guard state.isAsking else { return false }
            state.isAsking = false
            state.answer = answer
            return true
        }
        if wasAsking { answerSignal.signal() }
        return wasAsking
    }

    /// Makes the chip stop being a card. A waiting reader gets no answer.
    func end() {
        let wasAsking = state.withLock { state in
            defer { state.isAsking = false }
            state.isListening = false
            return state.isAsking
        }
        if wasAsking { answerSignal.signal() }
    }
}

package protocol CardSlot: Sendable {
    func bring(_ card: HostedCard)

    func remove()
}
