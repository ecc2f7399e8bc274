// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A MIFARE Classic or a product that behaves like one (NXP AN10833, MF1S50yyX and MF1S70yyX data sheets).
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

    package static let publicKeys: [[UInt8]] = [
        newKey, directoryKey, ndefKey, [0, 0, 0, 0, 0, 0], [0xB0, 0xB1, 0xB2, 0xB3, 0xB4, 0xB5],
    ]
    private static let newKey: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    package static let directoryKey: [UInt8] = [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5]
    package static let ndefKey: [UInt8] = [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7]

    /// Finds a product by name, such as `MIFARE Classic 1K`; nil for an unknown name.
    public init?(named name: String) { self.init(rawValue: name) }

    /// Finds a product by its memory size in bytes; nil for an unknown size.
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

    /// The number of sectors. The last block of each sector contains its keys and access conditions.
    public var sectorCount: Int { blockCount <= 128 ? blockCount / 4 : 32 + (blockCount - 128) / 16 }

    /// Returns the number of a sector's last block, which contains its keys and access conditions.
    public static func trailer(ofSector sector: Int) -> Int {
        sector < 32 ? sector * 4 + 3 : 128 + (sector - 32) * 16 + 15
    }

    /// Returns the sector of a block.
    public static func sector(of block: Int) -> Int { block < 128 ? block / 4 : 32 + (block - 128) / 16 }

    /// Returns the numbers of a sector's blocks.
    public static func blocks(ofSector sector: Int) -> ClosedRange<Int> {
        let trailer = trailer(ofSector: sector)
        return trailer - (sector < 32 ? 3 : 15)...trailer
    }

    /// Returns the sector whose last block this is; nil for a data block.
    public static func sector(ofTrailer block: Int) -> Int? {
        if block < 128 { return block % 4 == 3 ? block / 4 : nil }
        return block % 16 == 15 ? 32 + (block - 128) / 16 : nil
    }

    package var sak: UInt8 {
        switch self {
        case .mini: 0x09
        case .classic1K, .plus2K: 0x08
        case .classic4K: 0x18
        }
    }

    package func atqa(uidLength: Int) -> UInt16 {
        (self == .classic4K ? 0x0002 : 0x0004) | (uidLength == 7 ? 0x0040 : 0x0000)
    }
}

/// The access conditions of a sector, bytes 6 to 8 of its last block (MF1S50yyX data sheet, 8.7).
package struct ClassicAccess: Sendable, Hashable {
    /// Which keys may do something.
    package struct Keys: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let a = Keys(rawValue: 1)
        package static let b = Keys(rawValue: 2)
        package static let both: Keys = [.a, .b]
    }

    /// What may be done with a block of data, and with the last block of a sector. Key A can never be read.
    package enum Right: Int, Sendable, CaseIterable {
        case read, write, increment
        /// Also transfer and restore.
        case decrement
        case writeKeyA, readAccess, writeAccess, readKeyB, writeKeyB

        package static let ofData: [Right] = [.read, .write, .increment, .decrement]
    }

    /// C1, C2 and C3 as a number for each of the three groups of data blocks, and for the last block.
    package var conditions: [UInt8]

    package init(conditions: [UInt8]) { self.conditions = conditions }

    /// Reads the three bytes; nil if a bit and its inverse don't match. A card refuses every access to such a sector.
    package init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 3 else { return nil }
        let rows = [bytes[1] >> 4, bytes[2], bytes[2] >> 4]
        conditions = (0..<4).map { group in rows.reduce(0) { $0 << 1 | ($1 >> group & 1) } }
        guard self.bytes == bytes else { return nil }
    }

    /// The three bytes, with their inverse bits.
    package var bytes: [UInt8] {
        let (one, two, three) = (bits(2), bits(1), bits(0))
        return [(~two & 0x0F) << 4 | ~one & 0x0F, one << 4 | ~three & 0x0F, three << 4 | two]
    }

    private func bits(_ bit: Int) -> UInt8 {
        conditions.enumerated().reduce(0) { $0 | ($1.element >> bit & 1) << $1.offset }
    }

    /// The group of a block: 0 to 2, or 3 for the last block of a sector.
    package static func group(of block: Int) -> Int { block < 128 ? block % 4 : min(3, block % 16 / 5) }

    /// The keys that have a right, in the order of the conditions' number (data sheet, tables 7 and 8).
    private static let data: [[Keys]] = [
        [.both, .both, .both, .both], [.both, [], [], .both], [.both, [], [], []], [.b, .b, [], []],
        [.both, .b, [], []], [.b, [], [], []], [.both, .b, .b, .both], [[], [], [], []],
    ]
    private static let trailer: [[Keys]] = [
        [.a, .a, [], .a, .a], [.a, .a, .a, .a, .a], [[], .a, [], .a, []], [.b, .both, .b, [], .b],
        [.b, .both, [], [], .b], [[], .both, .b, [], []], [[], .both, [], [], []], [[], .both, [], [], []],
    ]

    /// The keys that have a right in a block of data, or in the last block of the sector.
    package func keys(for right: Right, ofBlock block: Int = 3) -> Keys {
        guard right.rawValue < 4 else { return Self.trailer[Int(conditions[3])][right.rawValue - 4] }
        let keys = Self.data[Int(conditions[Self.group(of: block)])][right.rawValue]
        return isKeyBReadable ? keys.subtracting(.b) : keys
    }

    /// Whether key B can be read with key A. It is no key then: a card that was opened with it refuses every access.
    package var isKeyBReadable: Bool { !keys(for: .readKeyB).isEmpty }

    /// New cards: both keys do everything, and key A changes the keys (MF1S50yyX data sheet, 8.6.3).
    package static let transport = ClassicAccess(conditions: [0, 0, 0, 1])
    /// Both keys read and write; key B changes the keys.
    package static let readWrite = ClassicAccess(conditions: [0, 0, 0, 3])
    /// Both keys read; key B writes and changes the keys.
    package static let writeWithB = ClassicAccess(conditions: [4, 4, 4, 3])
    /// Both keys read, and nothing can ever be changed.
    package static let readOnly = ClassicAccess(conditions: [2, 2, 2, 6])
}

/// A block with a value of 32 bits, which is stored three times, and an address for a backup (MF1S50yyX data sheet, 8.6.2.1).
package struct ClassicValue: Sendable, Hashable {
    package var amount: Int32
    package var address: UInt8

    package init(_ amount: Int32, address: UInt8) { (self.amount, self.address) = (amount, address) }

    /// Reads a block; nil if it does not have this form.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(Int32(truncatingIfNeeded: bytes.littleEndian(at: 0, count: 4)), address: bytes[12])
        guard self.bytes == bytes else { return nil }
    }

    package var bytes: [UInt8] {
        let value = [UInt8](littleEndian: Int(UInt32(bitPattern: amount)), count: 4)
        return value + value.map(~) + value + [address, ~address, address, ~address]
    }
}
