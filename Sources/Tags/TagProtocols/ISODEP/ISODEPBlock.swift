// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A block, the unit that ISO-DEP sends (ISO/IEC 14443-4, 7.1).
enum ISODEPBlock: Equatable {
    /// An I-block: a part of an APDU.
    case information(number: UInt8, isChained: Bool, payload: [UInt8])
    /// An R(ACK) block.
    case acknowledge(number: UInt8)
    /// An R(NAK) block. Only the reader sends it.
    case negativeAcknowledge(number: UInt8)
    /// An S(WTX) block with its multiplier.
    case waitingTimeExtension(multiplier: UInt8)
    /// An S(DESELECT) block.
    case deselect

    /// Reads a block.
    ///
    /// - Parameters:
    ///   - octets: the frame's bytes without the checksum.
    ///   - cid: the card identifier in use; nil when blocks have none.
    /// - Returns: nil when the bytes aren't a block, or are a block for another card.
    init?(_ octets: [UInt8], cid: UInt8?) {
        guard let pcb = octets.first else { return nil }
        var start = 1
        if pcb & 0x08 != 0 {
            guard let cid, octets.count > 1, octets[1] & 0x0F == cid else { return nil }
            start = 2
        } else if let cid, cid != 0 {
            return nil
        }
        let rest = octets[start...]
        // Bit 3 announces a node address, which this reader never uses. Bit 4 announces a CID.
        switch pcb & 0xF6 {
        case 0x02, 0x12:
            self = .information(number: pcb & 1, isChained: pcb & 0x10 != 0, payload: Array(rest))
        case 0xA2 where rest.isEmpty: self = .acknowledge(number: pcb & 1)
        case 0xB2 where rest.isEmpty: self = .negativeAcknowledge(number: pcb & 1)
        case 0xF2 where pcb & 1 == 0:
            guard rest.count == 1, let first = rest.first else { return nil }
            // The two high bits are a power level indication (ISO/IEC 14443-4, 7.4).
            self = .waitingTimeExtension(multiplier: first & 0x3F)
        case 0xC2 where pcb & 1 == 0 && rest.isEmpty: self = .deselect
        default: return nil
        }
    }

    /// The block's bytes.
    func octets(cid: UInt8?) -> [UInt8] {
        let pcb: UInt8
        var payload: [UInt8] = []
        switch self {
        case .information(let number, let isChained, let content):
            pcb = 0x02 | number | (isChained ? 0x10 : 0)
            payload = content
        case .acknowledge(let number): pcb = 0xA2 | number
        case .negativeAcknowledge(let number): pcb = 0xB2 | number
        case .waitingTimeExtension(let multiplier):
            pcb = 0xF2
            payload = [multiplier]
        case .deselect: pcb = 0xC2
        }
        guard let cid else { return [pcb] + payload }
        return [pcb | 0x08, cid] + payload
    }
}

/// The parameters of ISO-DEP that reader and card agreed on (ISO/IEC 14443-4, 5.2 and 7.2).
public struct ISODEPParameters: Sendable, Hashable {
    /// FSC: the longest frame that the card accepts, in bytes with PCB and checksum.
    public var cardFrameSize: Int
    /// FSD: the longest frame that the reader accepts.
    public var readerFrameSize: Int
    /// FWT: the longest time until the card starts its answer.
    public var frameWaitingTime: Airtime
    /// The card identifier in every block; nil when blocks have none.
    public var cid: UInt8?

    /// Creates parameters. The defaults are those of a card that states none.
    public init(
        cardFrameSize: Int = 32,
        readerFrameSize: Int = 256,
        frameWaitingTime: Airtime = ISODEPParameters.frameWaitingTime(index: 4),
        cid: UInt8? = nil
    ) {
        self.cardFrameSize = max(16, cardFrameSize)
        self.readerFrameSize = max(16, readerFrameSize)
        self.frameWaitingTime = frameWaitingTime
        self.cid = cid
    }

    /// The frame sizes by FSCI or FSDI.
    static let frameSizes = [16, 24, 32, 40, 48, 64, 96, 128, 256]

    /// Returns the frame size for an FSCI or FSDI. Reserved values mean 256 bytes (ISO/IEC 14443-4, 5.2.3).
    public static func frameSize(index: UInt8) -> Int {
        frameSizes[min(Int(index), frameSizes.count - 1)]
    }

    /// Returns the largest FSDI for a reader with a frame limit.
    public static func frameSizeIndex(fitting limit: Int) -> UInt8 {
        UInt8(frameSizes.lastIndex { $0 <= limit } ?? 0)
    }

    /// Returns 4096/fc * 2^FWI. The reserved FWI 15 means 4 (ISO/IEC 14443-4, 7.2).
    public static func frameWaitingTime(index: UInt8) -> Airtime {
        Airtime(carrierPeriods: 4096 << Int64(index >= 15 ? 4 : index))
    }

    /// The longest frame waiting time, FWI 14. Extensions are limited to it.
    static let longestFrameWaitingTime = frameWaitingTime(index: 14)

    /// The time that a reader waits in addition to the frame waiting time (NFC Forum Digital 2.3, 14.6: delta FWT).
    static let waitingTolerance = Airtime(carrierPeriods: 49152)

    /// How long a presence check waits for the answer: FWT, but at most 20 ms.
    ///
    /// FWT allows for a card's applications and may be 4.9 s. R(ACK) comes from the transport layer alone.
    var presenceWaitingTime: Airtime {
        min(frameWaitingTime, .milliseconds(20)) + Self.waitingTolerance
    }

    /// The bytes of a block that aren't payload: PCB, CID, two bytes of checksum.
    private var overhead: Int { cid == nil ? 3 : 4 }

    /// The number of command bytes that fit into one block.
    var commandPayload: Int { cardFrameSize - overhead }
    /// The number of response bytes that fit into one block.
    var responsePayload: Int { readerFrameSize - overhead }
}

/// The ATS, a Type A card's answer to RATS (ISO/IEC 14443-4, 5.2).
public struct AnswerToSelect: Sendable, Hashable {
    /// The bytes from TL on.
    public let octets: [UInt8]
    /// FSCI: the index of the longest frame that the card accepts. 2 when the ATS has no T0.
    public let frameSizeIndex: UInt8
    /// TA(1), the bit rates that the card supports; 0 means only 106 kbit/s.
    public let bitRates: UInt8
    /// FWI: the index of the frame waiting time. 4 when the ATS has no TB(1).
    public let frameWaitingIndex: UInt8
    /// SFGI: the index of the guard time after the ATS. 0 when the ATS has no TB(1).
    public let startUpGuardIndex: UInt8
    /// Whether blocks may have a card identifier. True when the ATS has no TC(1).
    public let supportsCID: Bool
    /// The historical bytes, T1 to Tk (ISO/IEC 7816-4, 8.1.1).
    public let historicalBytes: [UInt8]

    /// Reads an ATS.
    ///
    /// - Parameter octets: the bytes from TL on, without checksum. More bytes than TL counts are an error.
    /// - Throws: ``TagError`` with `badAnswer`.
    public init(_ octets: [UInt8]) throws(TagError) {
        guard let length = octets.first, length > 0, Int(length) == octets.count else {
            throw TagError(.badAnswer, "The ATS's length byte TL is wrong (ISO/IEC 14443-4, 5.2.2).")
        }
        self.octets = octets
        var position = 1
        let format = octets.count > 1 ? octets[1] : 0x02
        if octets.count > 1 { position = 2 }
        let interfaceCount = [0x10, 0x20, 0x40].count { format & $0 != 0 }
        guard octets.count >= position + (octets.count > 1 ? interfaceCount : 0) else {
            throw TagError(.badAnswer, "The ATS ends before its interface bytes (ISO/IEC 14443-4, 5.2.3).")
        }
        func next(_ flag: UInt8) -> UInt8? {
            guard octets.count > 1, format & flag != 0 else { return nil }
            defer { position += 1 }
            return octets[position]
        }
        self.frameSizeIndex = format & 0x0F
        self.bitRates = next(0x10) ?? 0
        let waiting = next(0x20)
        self.frameWaitingIndex = waiting.map { $0 >> 4 } ?? 4
        // 15 is reserved and means 0.
        self.startUpGuardIndex = waiting.map { $0 & 0x0F == 15 ? 0 : $0 & 0x0F } ?? 0
        self.supportsCID = next(0x40).map { $0 & 0x02 != 0 } ?? true
        self.historicalBytes = Array(octets[position...])
    }

    /// SFGT: how long the reader must wait after the ATS, in addition to the frame delay; zero for most cards.
    public var startUpGuardTime: Airtime {
        startUpGuardIndex == 0 ? .zero : ISODEPParameters.frameWaitingTime(index: startUpGuardIndex)
    }
}
