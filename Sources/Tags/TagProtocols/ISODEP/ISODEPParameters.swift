// SPDX-License-Identifier: Apache-2.0
public import TagLink

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
    var presenceWaitingTime: Airtime { min(frameWaitingTime, .milliseconds(20)) + Self.waitingTolerance }

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
    public let bytes: [UInt8]
    /// FSCI: the index of the longest frame that the card accepts. 2 when the ATS has no T0.
    public let frameSizeIndex: UInt8
    /// FWI: the index of the frame waiting time. 4 when the ATS has no TB(1).
    public let frameWaitingIndex: UInt8
    /// Whether blocks may have a card identifier. True when the ATS has no TC(1).
    public let supportsCID: Bool
    /// The historical bytes, T1 to Tk (ISO/IEC 7816-4, 8.1.1).
    public let historicalBytes: [UInt8]

    /// Reads an ATS.
    ///
    /// - Parameter bytes: the bytes from TL on, without checksum. More bytes than TL counts are an error.
    /// - Throws: ``TagError`` with `badAnswer`.
    public init(_ bytes: [UInt8]) throws(TagError) {
        guard let length = bytes.first, length > 0, Int(length) == bytes.count else {
            throw TagError(.badAnswer, "The ATS's length byte TL is wrong (ISO/IEC 14443-4, 5.2.2).")
        }
        self.bytes = bytes
        // Without T0, FSCI is 2 and there are no interface bytes.
        let format = bytes.count > 1 ? bytes[1] : 0x02
        var position = min(2, bytes.count)
        guard bytes.count >= position + [0x10, 0x20, 0x40].count(where: { format & $0 != 0 }) else {
            throw TagError(.badAnswer, "The ATS ends before its interface bytes (ISO/IEC 14443-4, 5.2.3).")
        }
        func next(_ flag: UInt8) -> UInt8? {
            guard format & flag != 0 else { return nil }
            defer { position += 1 }
            return bytes[position]
        }
        self.frameSizeIndex = format & 0x0F
        // TA(1), the bit rates.
        _ = next(0x10)
        self.frameWaitingIndex = next(0x20).map { $0 >> 4 } ?? 4
        self.supportsCID = next(0x40).map { $0 & 0x02 != 0 } ?? true
        self.historicalBytes = Array(bytes[position...])
    }
}
