// SPDX-License-Identifier: Apache-2.0

/// What is known of Type 5 products by their UIDs, without an exchange.
enum Type5Product {
    /// The block size to expect; the first answer tells for certain.
    static func assumedBlockSize(_ target: NFCVTarget) -> Int {
        // Fujitsu's FRAM tags, MB89R118 and MB89R119, have 8 and 4.
        target.manufacturer == 0x08 ? 8 : 4
    }

    /// The octets of memory for a message, where every tag of that UID has the same.
    static func memorySize(_ target: NFCVTarget) -> Int? {
        guard target.manufacturer == 0x04, target.uid[2] == 0x01 else { return nil }
        switch target.uid[3] >> 3 & 3 {
        // ICODE SLI and SLIX: 28 blocks.
        case 0b00, 0b10: return 112
        // ICODE SLIX2: 80 blocks, of which the last is the counter.
        case 0b01: return 316
        default: return nil
        }
    }

    /// Whether READ MULTIPLE BLOCKS keeps to sectors of 32 blocks: ST's LRIS64K, M24LR04E, M24LR16E and M24LR64, and
    /// ON Semiconductor's N24RF.
    static func readsWithinSectors(_ target: NFCVTarget) -> Bool {
        switch target.manufacturer {
        // The product code is in the upper six bits.
        case 0x02: [0x2C, 0x44, 0x4C, 0x5C, 0x58].contains(target.uid[2] & 0xFC)
        case 0x67: true
        default: false
        }
    }
}
