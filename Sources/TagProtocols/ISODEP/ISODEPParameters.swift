// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// What reader and card agreed on for ISO-DEP (ISO/IEC 14443-4, 5.2 and 7.2).
public struct ISODEPParameters: Sendable, Hashable {
    /// FSC: the longest frame that the card takes, in octets with PCB and checksum.
    public var cardFrameSize: Int
    /// FSD: the longest frame that the reader takes.
    public var readerFrameSize: Int
    /// FWT: how long the card may take to begin its answer.
    public var frameWaitingTime: Airtime
    /// The card identifier in every block; nil when blocks go without.
    public var cid: UInt8?

    /// Creates parameters; the defaults are those of a card that says nothing of itself.
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

    /// The frame sizes that FSCI and FSDI stand for.
    static let frameSizes = [16, 24, 32, 40, 48, 64, 96, 128, 256]

    /// The frame size of an FSCI or FSDI; reserved values stand for 256 octets (ISO/IEC 14443-4, 5.2.3).
    public static func frameSize(index: UInt8) -> Int {
        frameSizes[min(Int(index), frameSizes.count - 1)]
    }

    /// The largest FSDI that a reader with a frame limit can offer.
    public static func frameSizeIndex(fitting limit: Int) -> UInt8 {
        UInt8(frameSizes.lastIndex { $0 <= limit } ?? 0)
    }

    /// 4096/fc * 2^FWI; the reserved FWI 15 stands for 4 (ISO/IEC 14443-4, 7.2).
    public static func frameWaitingTime(index: UInt8) -> Airtime {
        Airtime(carrierPeriods: 4096 << Int64(index >= 15 ? 4 : index))
    }

    /// The longest frame waiting time, to which extensions are held: FWI 14.
    static let longestFrameWaitingTime = frameWaitingTime(index: 14)

    /// What a reader waits on top of the frame waiting time (NFC Forum Digital 2.3, 14.6: delta FWT).
    static let waitingTolerance = Airtime(carrierPeriods: 49152)

    /// Octets of a block that are not payload: PCB, CID, two of checksum.
    private var overhead: Int { cid == nil ? 3 : 4 }

    /// How many octets of a command fit into one block.
    var commandPayload: Int { cardFrameSize - overhead }
    /// How many octets of a response fit into one block.
    var responsePayload: Int { readerFrameSize - overhead }
}
