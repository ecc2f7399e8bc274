// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The ATS, a Type A card's answer to RATS (ISO/IEC 14443-4, 5.2).
public struct AnswerToSelect: Sendable, Hashable {
    /// The bytes from TL on.
    public let bytes: [UInt8]
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
    /// - Parameter bytes: the bytes from TL on, without checksum. More bytes than TL counts are an error.
    /// - Throws: ``TagError`` with `badAnswer`.
    public init(_ bytes: [UInt8]) throws(TagError) {
        guard let length = bytes.first, length > 0, Int(length) == bytes.count else {
            throw TagError(.badAnswer, "The ATS's length byte TL is wrong (ISO/IEC 14443-4, 5.2.2).")
        }
        self.bytes = bytes
        var position = 1
        let format = bytes.count > 1 ? bytes[1] : 0x02
        if bytes.count > 1 { position = 2 }
        let interfaceCount = [0x10, 0x20, 0x40].count { format & $0 != 0 }
        guard bytes.count >= position + (bytes.count > 1 ? interfaceCount : 0) else {
            throw TagError(.badAnswer, "The ATS ends before its interface bytes (ISO/IEC 14443-4, 5.2.3).")
        }
        func next(_ flag: UInt8) -> UInt8? {
            guard bytes.count > 1, format & flag != 0 else { return nil }
            defer { position += 1 }
            return bytes[position]
        }
        self.frameSizeIndex = format & 0x0F
        self.bitRates = next(0x10) ?? 0
        let waiting = next(0x20)
        self.frameWaitingIndex = waiting.map { $0 >> 4 } ?? 4
        // 15 is reserved and means 0.
        self.startUpGuardIndex = waiting.map { $0 & 0x0F == 15 ? 0 : $0 & 0x0F } ?? 0
        self.supportsCID = next(0x40).map { $0 & 0x02 != 0 } ?? true
        self.historicalBytes = Array(bytes[position...])
    }

    /// SFGT: how long the reader must wait after the ATS, in addition to the frame delay; zero for most cards.
    public var startUpGuardTime: Airtime {
        startUpGuardIndex == 0 ? .zero : ISODEPParameters.frameWaitingTime(index: startUpGuardIndex)
    }
}
