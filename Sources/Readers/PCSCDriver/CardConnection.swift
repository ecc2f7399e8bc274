// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The open connection to the card in a reader. All calls wait, so only the driver's thread makes them.
///
/// Sendable because a lock protects the state. The driver makes sure that only one thread at a time makes calls.
final class CardConnection: Sendable {
    struct State {
        var card: SmartCardHandle?
        /// Whether the reader was unplugged while the card was open. pcscd would wait for a reset that is impossible now.
        /// If the reader was plugged in again, pcscd would even consider its new card to be mute.
        var isReaderGone = false
        var isCardGone = false
        var statistics = LinkStatistics()
        /// Counts the opened cards. A link to an earlier card no longer works.
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
    var isUsable: Bool { state.withLock { $0.card != nil && !$0.isReaderGone } }
    /// Whether the card left, or the reader was unplugged, while the card was open.
    var isLost: Bool { state.withLock { $0.isReaderGone || $0.isCardGone } }
    var generation: Int { state.withLock { $0.generation } }
    var statistics: LinkStatistics { state.withLock { $0.statistics } }

    /// How long to wait for another program to close the card, and how often to check meanwhile, in milliseconds.
    static let patience = 2000
    private static let step = 100
    /// The time limit for opening a card, in milliseconds. While another program has a transaction with the card, the
    /// service would make this program wait without limit.
    private static let openingLimit = 5000

    // MARK: Opening and closing

    /// Opens the card for this program only, and waits a while for another program to close it. Throws
    /// `sharingViolation` when that takes too long.
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
            // Another program started a transaction at that moment.
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

    /// Whether another program has opened the card, while this one has not. Opening the card would then fail, or wait
    /// for the end of a transaction.
    private func isInUse() throws(SmartCardError) -> Bool {
        try service.readers().contains { $0.reader == reader && $0.isInUse }
    }

    /// Opens a card that did not answer when it arrived, by turning its power off and on.
    func wake() throws(SmartCardError) {
        let card = try service.call(within: Self.openingLimit) { layer, context throws(SmartCardError) in
            let reader = try layer.connect(context, reader: self.reader, .direct)
            do throws(SmartCardError) {
                return try layer.reset(reader, .exclusive, .reset)
            } catch {
                layer.disconnect(reader, .leave)
                throw error
            }
        }
        opened(card)
    }

    func reset(_ disposition: SmartCardDisposition) throws(LinkError) {
        try attempt { layer, card throws(SmartCardError) in
            let card = try layer.reset(card, .exclusive, disposition)
            self.state.withLock { $0.card = card }
        }
    }

    func close(_ disposition: SmartCardDisposition) {
        let (card, isLeft) = state.withLock { state in
            defer { state.card = nil }
            // Without power, a card that arrives at once goes unnoticed; see `PCSCReader.mayBeHidden`.
            return (state.card, state.isReaderGone || state.isCardGone && disposition == .unpower)
        }
        guard let card else { return }
        service.disconnect(card, isLeft ? .leave : disposition)
    }

    /// Closes the connection without a reset, because the card in the reader is no longer the one that was opened.
    func closeAsLost() {
        state.withLock { $0.isCardGone = true }
        close(.leave)
    }

    /// Records what an error reveals about the connection.
    private func record(_ error: SmartCardError) {
        state.withLock { state in
            if error.isConnectionLost { state.card = nil }
            if error.code == .readerUnavailable { state.isReaderGone = true }
            if error.code == .removedCard || error.code == .noSmartcard { state.isCardGone = true }
        }
    }

    // MARK: Exchanges

    /// Sends an APDU to the card, or a pseudo-APDU to the reader. Returns two bytes or more. A shorter response means
    /// that the reader has lost the tag, and throws.
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

    /// Throws unless the open card has this number.
    func check(_ generation: Int) throws(LinkError) {
        guard self.generation == generation else {
            throw LinkError(.tagRemoved, "The reader has polled again since this tag was found.")
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

    /// Returns whether the opened card is still present. Nothing is sent to the card.
    ///
    /// pcscd knows when the card has left, even if another card is present. But if a reader's driver can't wait for
    /// changes, pcscd checks the reader only every 400 ms. So the driver is asked as well. libccid, for example, then
    /// asks the reader.
    func isCardPresent() -> Bool {
        guard let card = state.withLock({ $0.card }) else { return false }
        do throws(SmartCardError) {
            let presence = try service.call(within: Self.openingLimit) { layer, _ throws(SmartCardError) in
                try layer.attribute(card, Self.presenceAttribute)
            }
            return presence.first != 0
        } catch {
            record(error)
            // If the driver lacks the attribute or its value, the card is present as far as pcscd knows.
            return error.code == .unsupportedFeature || error.code == .notTransacted
        }
    }

    /// SCARD_ATTR_ICC_PRESENCE: one byte, 0 for no card (PC/SC part 3).
    private static let presenceAttribute: UInt32 = 0x0009_0300

    private func attempt<Value: Sendable>(
        _ body: (any SmartCardLayer, SmartCardHandle) throws(SmartCardError) -> Value
    ) throws(LinkError) -> Value {
        guard let card = state.withLock({ $0.card }) else { throw LinkError(.tagRemoved, "The reader lost the tag.") }
        do throws(SmartCardError) {
            return try service.call { layer, _ throws(SmartCardError) in try body(layer, card) }
        } catch {
            record(error)
            throw LinkError(error)
        }
    }
}

/// A reader's own answer to a pseudo-APDU: data and a status word.
struct ReaderAnswer: Hashable {
    var data: [UInt8]
    var status: UInt16

    /// Splits an answer; nil when the status word is missing.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return nil }
        data = Array(bytes.dropLast(2))
        status = UInt16(high: bytes[bytes.count - 2], low: bytes[bytes.count - 1])
    }

    var isDone: Bool { status == 0x9000 }

    /// Whether the data can be used: 6282 warns that the memory ended before as many bytes as were asked for (PC/SC
    /// part 3, 3.2.2.1.8).
    var hasData: Bool { isDone || isCutShort }

    /// Whether the memory ended before as many bytes as were asked for, but after some.
    var isCutShort: Bool { status == 0x6282 && !data.isEmpty }

    /// The status word in hexadecimal, for error messages.
    var statusText: String { status.bigEndianBytes.hexText() }
}
