// SPDX-License-Identifier: Apache-2.0

/// Facts about Type 5 products by their UID, without an exchange.
enum Type5ProductFacts {
    /// The ICODE products whose UIDs begin with E0 04 01.
    enum ICODE {
        case sli, slix2, slix, dna
    }

    /// Returns the ICODE product of a UID; nil for all other tags.
    static func icode(_ target: NFCVTarget) -> ICODE? {
        guard target.manufacturer == 0x04, target.uid[2] == 0x01 else { return nil }
        // Bits 36 and 35 of the UID (NXP SL2S2602 data sheet, 9.3).
        return switch target.uid[3] >> 3 & 3 {
        case 0b00: .sli
        case 0b01: .slix2
        case 0b10: .slix
        default: .dna
        }
    }

    /// Returns whether the tag has NXP's READ SIGNATURE.
    static func hasSignature(_ target: NFCVTarget) -> Bool {
        switch icode(target) {
        case .slix2, .dna: true
        default: false
        }
    }

    /// Returns the block with a counter; nil when the tag has none (SL2S2602 data sheet).
    static func counterBlock(_ target: NFCVTarget) -> UInt8? { icode(target) == .slix2 ? 79 : nil }

    /// Returns the expected block size. The first answer determines the real one.
    static func assumedBlockSize(_ target: NFCVTarget) -> Int {
        // Fujitsu's FRAM tags: MB89R118 has 8, MB89R119 has 4.
        target.manufacturer == 0x08 ? 8 : 4
    }

    /// Returns the bytes of memory for a message, if it is the same for every tag with that UID range.
    static func memorySize(_ target: NFCVTarget) -> Int? {
        switch icode(target) {
        // 28 blocks.
        case .sli, .slix: 112
        // 80 blocks; the last one is the counter.
        case .slix2: 316
        case .dna, nil: nil
        }
    }

    /// Returns whether READ MULTIPLE BLOCKS can't cross sectors of 32 blocks, as on ST's LRIS64K, M24LR04E, M24LR16E
    /// and M24LR64, and on ON Semiconductor's N24RF.
    static func readsWithinSectors(_ target: NFCVTarget) -> Bool {
        switch target.manufacturer {
        // The high six bits are the product code.
        case 0x02: [0x2C, 0x44, 0x4C, 0x5C, 0x58].contains(target.uid[2] & 0xFC)
        case 0x67: true
        default: false
        }
    }
}
