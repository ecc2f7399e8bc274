// SPDX-License-Identifier: Apache-2.0

/// A product that is a MIFARE Classic, or behaves as one (NXP AN10833, MF1S50yyX and MF1S70yyX data sheets).
public enum ClassicProduct: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// MIFARE Classic Mini, MF1S20: 320 octets in 5 sectors.
    case mini = "MIFARE Classic Mini"
    /// MIFARE Classic 1K, MF1S50: 1024 octets in 16 sectors.
    case classic1K = "MIFARE Classic 1K"
    /// MIFARE Plus 2K in security level 1: 2048 octets in 32 sectors.
    case plus2K = "MIFARE Plus 2K"
    /// MIFARE Classic 4K, MF1S70: 4096 octets in 32 sectors of 4 blocks and 8 of 16.
    case classic4K = "MIFARE Classic 4K"

    public var description: String { rawValue }

    /// The product with a name such as `MIFARE Classic 1K`, or nil.
    public init?(named name: String) {
        self.init(rawValue: name)
    }

    /// The product of a size in octets, or nil.
    public init?(memorySize: Int) {
        guard let product = Self.allCases.first(where: { $0.memorySize == memorySize }) else { return nil }
        self = product
    }

    /// How many blocks of 16 octets there are.
    public var blockCount: Int {
        switch self {
        case .mini: 20
        case .classic1K: 64
        case .plus2K: 128
        case .classic4K: 256
        }
    }

    /// How many octets of memory there are.
    public var memorySize: Int { blockCount * 16 }

    /// How many sectors there are, each with keys and access conditions of its own in its last block.
    public var sectorCount: Int {
        blockCount <= 128 ? blockCount / 4 : 32 + (blockCount - 128) / 16
    }

    /// The last block of a sector, which holds its keys and access conditions.
    public static func trailer(ofSector sector: Int) -> Int {
        sector < 32 ? sector * 4 + 3 : 128 + (sector - 32) * 16 + 15
    }

    /// The sector whose last block this is, or nil for a block of data.
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

    /// ATQA with a UID of 4 or 7 octets.
    func atqa(uidLength: Int) -> UInt16 {
        (self == .classic4K ? 0x0002 : 0x0004) | (uidLength == 7 ? 0x0040 : 0x0000)
    }
}
