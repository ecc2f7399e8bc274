// SPDX-License-Identifier: Apache-2.0

/// The card's side of the block protocol of ISO/IEC 14443-4, 7. It receives blocks, and returns blocks or messages.
///
/// A card never recovers from errors by itself. It ignores an invalid block, so the reader requests the answer again.
struct ISODEPListener: Sendable {
    /// The reaction to a block.
    enum Action: Sendable, Hashable {
        case silence
        case send([UInt8])
        /// Send this S(WTX) request. It extends the frame waiting time by this factor.
        case extend([UInt8], multiplier: UInt8)
        /// A message is complete. Call ``ISODEPListener/answer(_:extensions:)`` for the answer's first block.
        case process([UInt8])
        /// Send this answer to S(DESELECT), and halt.
        case halt([UInt8])
    }

    /// The maximum length of a message. Longer messages, which no real card could store, are not answered.
    static let messageLimit = 0x1_0100

    /// The maximum block sizes of the card and of the reader, with the checksum (FSC and FSD).
    private let cardFrameSize: Int
    private let readerFrameSize: Int
    private let cid: UInt8
    private let supportsCID: Bool

    /// The card's block number. It starts at 1 (ISO/IEC 14443-4, 7.5.4.2).
    private var blockNumber: UInt8 = 1
    private var received: [UInt8] = []
    /// The answer, and the number of its bytes already sent.
    private var answer: [UInt8] = []
    private var sent = 0
    private var isSending = false
    private var extensions: [UInt8] = []
    private var last: Action = .silence
    /// Whether the current block has a CID, so that the answer needs one too.
    private var usesCID = false

    /// Creates the layer for a card that was just activated, with FSC and FSD.
    init(cardFrameSize: Int, readerFrameSize: Int, cid: UInt8, supportsCID: Bool) {
        self.cardFrameSize = cardFrameSize
        self.readerFrameSize = readerFrameSize
        self.cid = cid
        self.supportsCID = supportsCID
    }

    /// Handles a block with a correct checksum.
    mutating func receive(_ block: [UInt8]) -> Action {
        guard let pcb = block.first, block.count + 2 <= cardFrameSize else { return .silence }
        let hasCID = pcb & 0x08 != 0
        var rest = block.dropFirst()
        if hasCID {
            guard supportsCID, let byte = rest.popFirst(), byte & 0x0F == cid else { return .silence }
        } else if supportsCID, cid != 0 {
            // A card whose CID is not 0 ignores blocks without a CID, unless it does not support CIDs (ISO/IEC 14443-4,
            // 7.1.2.2). Readers learn this from the ATS, after assigning a CID.
            return .silence
        }
        usesCID = hasCID
        switch pcb & 0xC0 {
        case 0x00 where pcb & 0x26 == 0x02: return receiveInformation(Array(rest), isChained: pcb & 0x10 != 0)
        case 0x80 where pcb & 0x26 == 0x22 && rest.isEmpty:
            return receiveReady(isNegative: pcb & 0x10 != 0, number: pcb & 0x01)
        case 0xC0 where pcb & 0x37 == 0x02 && rest.isEmpty: return .halt(header(0xC2))
        case 0xC0 where pcb & 0x37 == 0x32 && rest.count == 1: return receiveExtension(rest.first ?? 0)
        default: return .silence
        }
    }

    /// Returns the first S(WTX) request for the extensions (1 to 59), or without any, the answer's first block.
    mutating func answer(_ message: [UInt8], extensions: [UInt8] = []) -> Action {
        answer = message
        sent = 0
        isSending = true
        self.extensions = extensions.filter { (1...59).contains($0) }.reversed()
        return proceed()
    }

    /// Handles an I-block: rule D, then 10 or 2 (ISO/IEC 14443-4, 7.5.4.3 and 7.5.5.3).
    private mutating func receiveInformation(_ information: [UInt8], isChained: Bool) -> Action {
        if isSending { received = [] }
        isSending = false
        extensions = []
        blockNumber ^= 1
        received += information
        guard received.count <= Self.messageLimit else {
            received = []
            return .silence
        }
        if isChained { return remember(.send(header(0xA2 | blockNumber))) }
        let message = received
        received = []
        return .process(message)
    }

    /// Handles an R-block: rules 11, 12, 13 and E.
    private mutating func receiveReady(isNegative: Bool, number: UInt8) -> Action {
        if number == blockNumber { return last }
        if isNegative { return .send(header(0xA2 | blockNumber)) }
        guard isSending, sent < answer.count else { return .silence }
        blockNumber ^= 1
        return proceed()
    }

    /// Handles an S(WTX) answer, which must repeat the requested multiplier.
    private mutating func receiveExtension(_ parameter: UInt8) -> Action {
        guard case .extend(_, let multiplier) = last, parameter & 0x3F == multiplier else { return .silence }
        return proceed()
    }

    /// Returns the next S(WTX) request, or the next block of the answer.
    private mutating func proceed() -> Action {
        if let multiplier = extensions.popLast() {
            return remember(.extend(header(0xF2) + [multiplier], multiplier: multiplier))
        }
        let room = max(1, readerFrameSize - 3 - (usesCID ? 1 : 0))
        let end = min(answer.count, sent + room)
        let isChained: UInt8 = end < answer.count ? 0x10 : 0
        let block = header(0x02 | blockNumber | isChained) + answer[sent..<end]
        sent = end
        return remember(.send(block))
    }

    private mutating func remember(_ action: Action) -> Action {
        last = action
        return action
    }

    /// Returns the bytes before a block's information: the PCB, and the CID if the request contained one.
    private func header(_ pcb: UInt8) -> [UInt8] { usesCID ? [pcb | 0x08, cid] : [pcb] }
}
