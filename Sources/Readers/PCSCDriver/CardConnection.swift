// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The open connection to the card in one reader. All calls wait, and only the driver's thread makes them.
///
/// Sendable because a lock guards its state. The driver makes sure that only one thread calls it at a time.
final class CardConnection: Sendable {
    struct State {
        var card: SmartCardHandle?
        /// The reader was unplugged while the card was open. It can't reset the card any more, but pcscd would wait for
        /// that. If the reader was plugged in again meanwhile, pcscd would consider its card to be mute.
        var isReaderGone = false
        /// The card left while it was open.
        var isCardGone = false
        var statistics = LinkStatistics()
        /// Counts the opened cards: a link to an earlier card can't be used any more.
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
    /// Whether there is a card that may still answer.
    var isUsable: Bool { state.withLock { $0.card != nil && !$0.isReaderGone } }
    /// Whether the card left, or the reader was unplugged, while the card was open.
    var isLost: Bool { state.withLock { $0.isReaderGone || $0.isCardGone } }
    var generation: Int { state.withLock { $0.generation } }
    var statistics: LinkStatistics { state.withLock { $0.statistics } }

    /// How long another program may hold the card before that is an error, and how often to check meanwhile, in
    /// milliseconds.
    static let patience = 2000
    private static let step = 100
    /// How long opening a card may take at most, in milliseconds. The service makes it wait without limit while another
    /// program has a transaction with the card.
    private static let openingLimit = 5000

    // MARK: Opening and closing

    /// Opens the card for this program only, and waits a while for another program to close it. Throws
    /// `sharingViolation` when another program keeps it for too long.
    func open(isInUse: Bool) throws(SmartCardError) {
        close(.reset)
        var isInUse = isInUse
        for _ in 0..<Self.patience / Self.step {
            if !isInUse {
                do throws(SmartCardError) {
                    return try openNow()
                } catch {
                    guard error.code == .sharingViolation else { throw error }
                }
            }
            try service.pause(milliseconds: Self.step)
            isInUse = try self.isInUse()
        }
        throw SmartCardError(.sharingViolation, "SCardConnect")
    }

    private func openNow() throws(SmartCardError) {
        let card: SmartCardHandle
        do throws(SmartCardError) {
            card = try service.call(within: Self.openingLimit) { layer, context throws(SmartCardError) in
                try layer.connect(context, reader: self.reader, .exclusive)
            }
        } catch {
            // A transaction of another program started at that moment.
            if error.code == .timeout, try isInUse() { throw SmartCardError(.sharingViolation, "SCardConnect") }
            throw error
        }
        opened(card)
    }

    private func opened(_ card: SmartCardHandle) {
        state.withLock { state in
            state.card = card
            state.isReaderGone = false
            state.isCardGone = false
            state.generation += 1
        }
    }

    /// Whether another program has opened the card, while this one has not. Opening it would then wait for the end of a
    /// transaction, and otherwise fail.
    private func isInUse() throws(SmartCardError) -> Bool {
        try service.readers().contains { $0.reader == reader && $0.isInUse }
    }

    /// Opens a card that did not answer when it arrived, by switching its power off and on.
    func wake() throws(SmartCardError) {
        let card = try service.call(within: Self.openingLimit) { layer, context throws(SmartCardError) in
            let reader = try layer.connect(context, reader: self.reader, .direct)
            do throws(SmartCardError) {
                return try layer.reset(reader, .exclusive)
            } catch {
                layer.disconnect(reader, .leave)
                throw error
            }
        }
        opened(card)
    }

    func reset() throws(LinkError) {
        try attempt { layer, card throws(SmartCardError) in
            let card = try layer.reset(card, .exclusive)
            self.state.withLock { $0.card = card }
        }
    }

    func close(_ disposition: SmartCardDisposition) {
        let (card, isLeft) = state.withLock { state in
            defer { state.card = nil }
            // With the power off, a card that arrives at once would not be noticed; see `PCSCReader.mayBeHidden`.
            return (state.card, state.isReaderGone || state.isCardGone && disposition == .unpower)
        }
        guard let card else { return }
        service.disconnect(card, isLeft ? .leave : disposition)
    }

    /// Closes the card and leaves it as it is, because it is another one than was opened: that one has left.
    func closeAsLost() {
        state.withLock { $0.isCardGone = true }
        close(.leave)
    }

    /// Records what an error says about the connection.
    private func record(_ error: SmartCardError) {
        state.withLock { state in
            if error.isConnectionLost { state.card = nil }
            if error.code == .readerUnavailable { state.isReaderGone = true }
            if error.code == .removedCard || error.code == .noSmartcard { state.isCardGone = true }
        }
    }

    // MARK: Exchanges

    /// Sends an APDU to the card or a pseudo-APDU to the reader. Returns two bytes or more. If a reader returns less, it
    /// has lost the tag, and this call throws.
    func transmit(_ command: [UInt8]) throws(LinkError) -> [UInt8] {
        let response = try attempt { layer, card throws(SmartCardError) in try layer.transmit(card, command) }
        state.withLock { state in
            state.statistics.exchanges += 1
            state.statistics.bytesOnAir += command.count + response.count
        }
        guard response.count >= 2 else {
            state.withLock { $0.isCardGone = true }
            throw LinkError(.tagRemoved, "The reader answered without a status word: it has lost the tag.")
        }
        return response
    }

    /// Throws unless the open card is the one of this number.
    func check(_ generation: Int) throws(LinkError) {
        guard self.generation == generation else {
            throw LinkError(.tagRemoved, "The reader has looked for tags again since this one was found.")
        }
    }

    func ask(_ command: [UInt8]) throws(LinkError) -> ReaderAnswer {
        let response = try transmit(command)
        guard let answer = ReaderAnswer(response) else {
            throw LinkError(.transmission, "The reader answered without a status word.")
        }
        return answer
    }

    func control(_ code: UInt32, _ data: [UInt8] = []) throws(LinkError) -> [UInt8] {
        try attempt { layer, card throws(SmartCardError) in try layer.control(card, code: code, data) }
    }

    /// Whether the opened card is still present. Nothing is sent to the card.
    ///
    /// pcscd knows when the card has left, even if another one is present. But if a reader's driver can't wait for
    /// changes, pcscd checks the reader only every 400 ms. So the driver is asked as well, and libccid then asks the
    /// reader.
    func isCardPresent() -> Bool {
        guard let card = state.withLock({ $0.card }) else { return false }
        do throws(SmartCardError) {
            let presence = try service.call(within: Self.openingLimit) { layer, _ throws(SmartCardError) in
                try layer.attribute(card, Self.presenceAttribute)
            }
            return presence.first != 0
        } catch {
            record(error)
            // If the driver does not have the attribute, or a value for it, pcscd's knowledge counts.
            return error.code == .unsupportedFeature || error.code == .notTransacted
        }
    }

    /// SCARD_ATTR_ICC_PRESENCE: one byte, 0 for no card (PC/SC part 3).
    private static let presenceAttribute: UInt32 = 0x0009_0300

    private func attempt<Value: Sendable>(
        _ body: (any SmartCardLayer, SmartCardHandle) throws(SmartCardError) -> Value
    ) throws(LinkError) -> Value {
        guard let card = state.withLock({ $0.card }) else {
            throw LinkError(.tagRemoved, "The reader lost the tag.")
        }
        do throws(SmartCardError) {
            return try service.call { layer, _ throws(SmartCardError) in try body(layer, card) }
        } catch {
            record(error)
            throw LinkError(error)
        }
    }
}

/// A reader's own answer to a pseudo-APDU: data, and the status word.
struct ReaderAnswer: Hashable {
    var data: [UInt8]
    var status: UInt16

    /// Splits an answer; nil when it has no status word.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return nil }
        data = Array(bytes.dropLast(2))
        status = UInt16(high: bytes[bytes.count - 2], low: bytes[bytes.count - 1])
    }

    var isDone: Bool { status == 0x9000 }

    /// The status word in hexadecimal, for sentences.
    var statusText: String { status.bigEndianBytes.hexText() }
}
