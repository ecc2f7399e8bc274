// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TagLink

/// A card that is a reader's chip: the chip answers a reader's activation and blocks, and its host answers the commands.
///
/// Two sides share it. The field that it lies in calls ``activated()``, ``respond(to:)``, ``deselected()`` and
/// ``lostField()``; the chip takes commands from it and gives the host's answers.
package final class HostedCard: Sendable {
    /// What readers see of the card before its first command.
    package struct Identity: Sendable, Hashable {
        /// ATQA; the low byte goes first on the air.
        package var atqa: UInt16
        package var sak: UInt8
        /// Four bytes.
        package var uid: [UInt8]
        /// The whole answer to RATS with its length byte.
        package var answerToSelect: [UInt8]
    }

    /// What the host gets when it asks for a command.
    enum Request: Sendable, Equatable {
        case none
        case command([UInt8])
        /// The reader has let go of the card, or its field is gone.
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
        /// How many seconds the host may take for an answer: as many as the longest frame waiting time has.
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

    /// Lets the host take longer for an answer, which waits its turn for a processor.
    ///
    /// - Parameter seconds: how long.
    package func allow(seconds: Int) { state.withLock { $0.limit = seconds } }

    // MARK: The reader's side

    /// Whether the chip answers at all: not when a reader was there and has gone, until its host makes it a card again.
    package var isListening: Bool { state.withLock { $0.isListening } }

    /// A reader has selected the card, and RATS is answered.
    package func activated() {
        let isNew = state.withLock { state in
            defer { state.isActivated = true }
            return state.isListening && !state.isActivated
        }
        if isNew { onChange() }
    }

    /// Asks the host, and waits for it.
    ///
    /// - Returns: nil when there is no answer; the chip is silent from then on.
    package func respond(to command: [UInt8]) -> [UInt8]? {
        let asks = state.withLock { state in
            guard state.isListening else { return false }
            state.command = command
            state.isAsking = true
            state.answer = nil
            return true
        }
        guard asks else { return nil }
        onChange()
        let isAnswered = answered.wait(timeout: .now() + .seconds(state.withLock { $0.limit })) == .success
        return state.withLock { state in
            // The one that comes between the two is for nobody.
            if !isAnswered, !state.isAsking { answered.wait() }
            state.isAsking = false
            if state.answer == nil, state.isListening {
                state.isListening = false
                state.gone = .fieldLost
            }
            return state.answer.take()
        }
    }

    /// The reader has deselected the card.
    package func deselected() { leave(.released) }

    /// The reader's field is gone.
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

    /// Whether a reader has begun to work with the card.
    var isActivated: Bool { state.withLock { $0.isActivated } }

    /// The reader's next command.
    func takeCommand() -> Request {
        state.withLock { state in
            if let command = state.command.take() { return .command(command) }
            return state.gone.map(Request.gone) ?? .none
        }
    }

    /// Answers the reader.
    ///
    /// - Returns: whether one waits.
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

    /// The chip is a card no longer: a reader that waits gets no answer.
    func end() {
        let asked = state.withLock { state in
            defer { state.isAsking = false }
            state.isListening = false
            return state.isAsking
        }
        if asked { answered.signal() }
    }
}

/// A field into which a chip can be brought as a card.
package protocol CardPlace: Sendable {
    /// Brings the card, in place of one that was brought before.
    func bring(_ card: HostedCard)

    /// Takes the card away.
    func remove()
}
