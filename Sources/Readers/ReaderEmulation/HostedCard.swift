// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TagLink

/// A card that is emulated by a reader's chip. The chip answers activation and blocks, and the chip's host answers the
/// commands.
///
/// Two sides share it. The field in which it lies calls ``activated()``, ``respond(to:)``, ``deselected()`` and
/// ``lostField()``. The chip takes commands from it and passes on the host's answers.
package final class HostedCard: Sendable {
    /// The data that readers see before the first command.
    package struct Identity: Sendable, Hashable {
        /// ATQA; the low byte is transmitted first.
        package var atqa: UInt16
        package var sak: UInt8
        /// Four bytes.
        package var uid: [UInt8]
        /// The whole answer to RATS, with its length byte.
        package var answerToSelect: [UInt8]
    }

    /// The result when the host asks for a command.
    enum Request: Sendable, Equatable {
        case none
        case command([UInt8])
        /// The reader has deselected the card, or its field is gone.
        case gone(PN53xStatus)
    }

    private struct State {
        var isListening = true
        var isActivated = false
        var gone: PN53xStatus?
        var command: [UInt8]?
        /// Whether the reader waits for an answer.
        var isAsking = false
        var answer: [UInt8]?
        /// How many seconds the host may take for an answer. The default is about the longest frame waiting time.
        var limit = 5
    }

    package let identity: Identity
    private let state = Locked(State())
    private let answered = DispatchSemaphore(value: 0)
    private let onChange: @Sendable () -> Void

    init(_ identity: Identity, onChange: @escaping @Sendable () -> Void) {
        self.identity = identity
        self.onChange = onChange
    }

    /// Gives the host more time for an answer, for example on a busy machine.
    package func allow(seconds: Int) { state.withLock { $0.limit = seconds } }

    // MARK: The reader's side

    /// Whether the chip answers readers at all. When a reader was present and has gone, it does not, until the host
    /// makes it a card again.
    package var isListening: Bool { state.withLock { $0.isListening } }

    /// Called when a reader has selected the card, and RATS is answered.
    package func activated() {
        let isNew = state.withLock { state in
            defer { state.isActivated = true }
            return state.isListening && !state.isActivated
        }
        if isNew { onChange() }
    }

    /// Passes a command to the host, and waits for the answer. Returns nil when there is no answer; then the chip stays
    /// silent.
    package func respond(to command: [UInt8]) -> [UInt8]? {
        let asks = state.withLock { state in
            guard state.isListening else { return false }
            state.command = command
            state.isAsking = true
            return true
        }
        guard asks else { return nil }
        onChange()
        let isAnswered = answered.wait(timeout: .now() + .seconds(state.withLock { $0.limit })) == .success
        return state.withLock { state in
            // Consumes the signal of an answer that arrived between the timeout and this lock.
            if !isAnswered, !state.isAsking { answered.wait() }
            state.isAsking = false
            if state.answer == nil, state.isListening {
                state.isListening = false
                state.gone = .fieldLost
            }
            return state.answer.take()
        }
    }

    /// Called when the reader has deselected the card.
    package func deselected() { leave(.released) }

    /// Called when the reader's field is gone.
    package func lostField() { leave(.fieldLost) }

    private func leave(_ status: PN53xStatus) {
        let changes = state.withLock { state in
            guard state.isListening, state.isActivated else { return false }
            state.isListening = false
            state.gone = status
            return true
        }
        if changes { onChange() }
    }

    // MARK: The host's side

    /// Whether a reader has started to use the card.
    var isActivated: Bool { state.withLock { $0.isActivated } }

    func takeCommand() -> Request {
        state.withLock { state in
            if let command = state.command.take() { return .command(command) }
            return state.gone.map(Request.gone) ?? .none
        }
    }

    /// Answers the reader. Returns whether a reader waits for the answer.
    func give(_ answer: [UInt8]) -> Bool {
        let asked = state.withLock { state in
            guard state.isAsking else { return false }
            state.isAsking = false
            state.answer = answer
            return true
        }
        if asked { answered.signal() }
        return asked
    }

    /// The chip stops being a card. A reader that waits gets no answer.
    func end() {
        let asked = state.withLock { state in
            defer { state.isAsking = false }
            state.isListening = false
            return state.isAsking
        }
        if asked { answered.signal() }
    }
}

/// A field in which a chip can appear as a card.
package protocol CardSlot: Sendable {
    /// Brings the card into the field, and replaces an earlier one.
    func bring(_ card: HostedCard)

    /// Removes the card from the field.
    func remove()
}
