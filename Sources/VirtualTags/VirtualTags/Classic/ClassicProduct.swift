// SPDX-License-Identifier: Apache-2.0

/// A MIFARE Classic product, or one that behaves like it (NXP AN10833, MF1S50yyX and MF1S70yyX data sheets).
public enum ClassicProduct: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// MIFARE Classic Mini, MF1S20: 320 bytes in 5 sectors.
    case mini = "MIFARE Classic Mini"
    /// MIFARE Classic 1K, MF1S50: 1024 bytes in 16 sectors.
    case classic1K = "MIFARE Classic 1K"
    /// MIFARE Plus 2K in security level 1: 2048 bytes in 32 sectors.
    case plus2K = "MIFARE Plus 2K"
    /// MIFARE Classic 4K, MF1S70: 4096 bytes in 32 sectors of 4 blocks and 8 of 16.
    case classic4K = "MIFARE Classic 4K"

    public var description: String { rawValue }

    /// Finds the product with a name such as `MIFARE Classic 1K`; nil for an unknown name.
    public init?(named name: String) {
        self.init(rawValue: name)
    }

    /// Finds the product with a memory of this size in bytes; nil when there is none.
    public init?(memorySize: Int) {
        guard let product = Self.allCases.first(where: { $0.memorySize == memorySize }) else { return nil }
        self = product
    }

    /// The number of 16-byte blocks.
    public var blockCount: Int {
        switch self {
        case .mini: 20
        case .classic1K: 64
        case .plus2K: 128
        case .classic4K: 256
        }
    }

    /// The size of the memory, in bytes.
    public var memorySize: Int { blockCount * 16 }

    /// The number of sectors. Each has its own keys and access conditions in its last block.
    public var sectorCount: Int {
        blockCount <= 128 ? blockCount / 4 : 32 + (blockCount - 128) / 16
    }

    /// Returns the last block of a sector, with its keys and access conditions.
    public static func trailer(ofSector sector: Int) -> Int {
        sector < 32 ? sector * 4 + 3 : 128 + (sector - 32) * 16 + 15
    }

    /// Returns the sector whose last block this is; nil for a data block.
    public static func sector(ofTrailer block: Int) -> Int? {
        if block < 128 { return block % 4 == 3 ? block / 4 : nil }
        return block % 16 == 15 ? 32 + (block - 128) / 16 : nil
    }

    /// SAK.
    var sak: UInt8 {
        switch self {
        case .mini: 0x09
        case .classic1K, .plus2K: 0x08
        case .classic4K: 0x18
        }
    }

    /// Returns ATQA for a UID of 4 or 7 bytes.
    func atqa(uidLength: Int) -> UInt16 {
        (self == .classic4K ? 0x0002 : 0x0004) | (uidLength == 7 ? 0x0040 : 0x0000)
    }
}
