// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The open connection to the card in one reader. Everything here waits, and is only called on the driver's thread.
///
/// Sendable because its state is behind a lock; that it is called by one thread at a time is the driver's affair.
final class CardConnection: Sendable {
    struct State {
        var card: SmartCardHandle?
        /// The reader was unplugged while the card was open. It can't reset the card any more; pcscd would wait for it to
        /// do so, and when it has come again meanwhile, take the card in it for one that does not answer.
        var isReaderGone = false
        var statistics = LinkStatistics()
        /// Counts the cards that were opened: a link of an earlier one is of no use.
        var generation = 0
    }

    let service: ServiceConnection
    let reader: String
    private let state = Locked(State())

    init(service: ServiceConnection, reader: String) {
        self.service = service
        self.reader = reader
    }

    var answerToReset: [UInt8] { state.withLock { $0.card?.answerToReset ?? [] } }
    var isOpen: Bool { state.withLock { $0.card != nil } }
    /// Whether there is a card that may answer.
    var isUsable: Bool { state.withLock { $0.card != nil && !$0.isReaderGone } }
    /// Whether the reader was unplugged while the card was open.
    var isReaderGone: Bool { state.withLock { $0.isReaderGone } }
    var generation: Int { state.withLock { $0.generation } }
    var statistics: LinkStatistics { state.withLock { $0.statistics } }

    /// How long another program may hold the card before that is an error.
    static let patience: UInt32 = 2000

    // MARK: Opening and closing

    /// Opens the card for this program alone, waiting a while for another one to let go of it.
    func open() throws(SmartCardError) {
        close(.reset)
        var remaining = Self.patience
        while true {
            do throws(SmartCardError) {
                let card = try service.call { layer, context throws(SmartCardError) in
                    try layer.connect(context, reader: self.reader, .exclusive)
                }
                return state.withLock { state in
                    state.card = card
                    state.isReaderGone = false
                    state.generation += 1
                }
            } catch {
                guard error.code == .sharingViolation, remaining > 0 else { throw error }
                let step = min(250, remaining)
                remaining -= step
                try service.waitForRelease(of: reader, milliseconds: step)
            }
        }
    }

    /// Opens a card that did not answer when it came, by giving it its power again.
    func wake() throws(SmartCardError) {
        let card = try service.call { layer, context throws(SmartCardError) in
            let reader = try layer.connect(context, reader: self.reader, .direct)
            do throws(SmartCardError) {
                return try layer.reset(reader, .exclusive)
            } catch {
                layer.disconnect(reader, .leave)
                throw error
            }
        }
        state.withLock { state in
            state.card = card
            state.isReaderGone = false
            state.generation += 1
        }
    }

    /// Resets the card, so that its protocol and its memory of us begin anew.
    func reset() throws(LinkError) {
        try attempt { layer, card throws(SmartCardError) in
            let card = try layer.reset(card, .exclusive)
            self.state.withLock { $0.card = card }
        }
    }

    /// Closes the card.
    func close(_ disposition: SmartCardDisposition) {
        let (card, isReaderGone) = state.withLock { state in
            defer { state.card = nil }
            return (state.card, state.isReaderGone)
        }
        guard let card else { return }
        try? service.call { layer, _ throws(SmartCardError) in
            layer.disconnect(card, isReaderGone ? .leave : disposition)
        }
    }

    /// Remembers what an error says of the connection.
    private func note(_ error: SmartCardError) {
        state.withLock { state in
            if error.isConnectionLost { state.card = nil }
            if error.code == .readerUnavailable { state.isReaderGone = true }
        }
    }

    // MARK: Exchanges

    /// Sends an APDU to the card or a pseudo-APDU to the reader.
    ///
    /// - Returns: two octets or more; a reader that returns less has lost the tag.
    func transmit(_ command: [UInt8]) throws(LinkError) -> [UInt8] {
        try transmit(command, generation: nil)
    }

    /// Sends an APDU.
    ///
    /// - Parameter generation: the card that is meant; nil for whichever is open.
    func transmit(_ command: [UInt8], generation: Int?) throws(LinkError) -> [UInt8] {
        let (card, isMeant) = state.withLock { ($0.card, generation == nil || generation == $0.generation) }
        guard let card, isMeant else { throw Self.gone(isMeant: isMeant) }
        let response: [UInt8]
        do throws(SmartCardError) {
            response = try service.transmit(card, command)
        } catch {
            note(error)
            throw LinkError(error)
        }
        state.withLock { state in
            state.statistics.exchanges += 1
            state.statistics.bytesOnAir += command.count + response.count
        }
        guard response.count >= 2 else {
            throw LinkError(.tagRemoved, "The reader answered without a status word: it has lost the tag.")
        }
        return response
    }

    private static func gone(isMeant: Bool) -> LinkError {
        LinkError(
            .tagRemoved,
            isMeant
                ? "The reader has let go of the tag."
                : "The reader has looked for tags again since this one was found."
        )
    }

    /// Throws unless the card that is open is the one that is meant.
    func check(_ generation: Int) throws(LinkError) {
        guard self.generation == generation else { throw Self.gone(isMeant: false) }
    }

    /// Sends a pseudo-APDU to the reader.
    func ask(_ command: [UInt8]) throws(LinkError) -> ReaderAnswer {
        let response = try transmit(command)
        guard let answer = ReaderAnswer(response) else {
            throw LinkError(.transmission, "The reader answered without a status word.")
        }
        return answer
    }

    /// Sends a control code to the reader's driver.
    func control(_ code: UInt32, _ data: [UInt8] = []) throws(LinkError) -> [UInt8] {
        try attempt { layer, card throws(SmartCardError) in try layer.control(card, code: code, data) }
    }

    private func attempt<Value: Sendable>(
        _ body: (any SmartCardLayer, SmartCardHandle) throws(SmartCardError) -> Value
    ) throws(LinkError) -> Value {
        guard let card = state.withLock({ $0.card }) else { throw Self.gone(isMeant: true) }
        do throws(SmartCardError) {
            return try service.call { layer, _ throws(SmartCardError) in try body(layer, card) }
        } catch {
            note(error)
            throw LinkError(error)
        }
    }
}
