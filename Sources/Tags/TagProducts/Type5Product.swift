// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A Type 5 tag product, as its data sheet describes it: memory, identifier and commands. `Type5Family` lists them all.
public struct Type5Product: Sendable, Hashable, CustomStringConvertible {
    /// The abilities of a product beyond the basic commands.
    public struct Features: OptionSet, Sendable, Hashable {
        public let rawValue: UInt16

        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// The command WRITE MULTIPLE BLOCKS.
        public static let writeMultiple = Features(rawValue: 1 << 0)
        /// The extended commands 30 to 3C, with two-byte block numbers.
        public static let extended = Features(rawValue: 1 << 1)
        /// NXP's random numbers and passwords (commands B2 to B5) and INVENTORY READ (A0 and A1). Every product
        /// with this feature has at least the password of EAS and AFI.
        public static let passwords = Features(rawValue: 1 << 2)
        /// NXP's electronic article surveillance (commands A2 to A6).
        public static let surveillance = Features(rawValue: 1 << 3)
        /// NXP's signature (command BD).
        public static let signature = Features(rawValue: 1 << 4)
        /// A 16-bit counter in the last block.
        public static let counter = Features(rawValue: 1 << 5)
        /// The configuration, 64-bit passwords, areas and mailbox of ST25DV.
        public static let configuration = Features(rawValue: 1 << 6)
        /// Only blocks 0 and 1 can be locked, as on ST25DV.
        public static let locksFirstBlocksOnly = Features(rawValue: 1 << 7)
        /// Protected pages, persistent quiet and surveillance identifier of ICODE SLIX2 (commands A7, AB, B6, B7, BB to
        /// BD).
        public static let pages = Features(rawValue: 1 << 8)
        /// The configuration, 32-bit passwords, surveillance, kill and untraceable mode of ST25TV.
        public static let tagConfiguration = Features(rawValue: 1 << 9)
        /// Privacy and destruction of an ICODE, with a password for each (commands B9 and BA).
        public static let privacy = Features(rawValue: 1 << 10)
        /// The read and the write password of an ICODE.
        public static let memoryPasswords = Features(rawValue: 1 << 11)
    }

    /// The product's name, such as `ICODE SLIX`.
    public let name: String
    /// The first bytes of the UID, starting with E0.
    public let uidPrefix: [UInt8]
    /// The number of blocks, including the counter block.
    public let blockCount: Int
    /// The number of bytes in a block.
    public let blockSize: Int
    /// The IC reference of GET SYSTEM INFORMATION.
    public let icReference: UInt8
    /// The product's abilities.
    public let features: Features
    /// The maximum number of blocks in a READ MULTIPLE; nil if only the memory size limits it.
    public let readLimit: Int?
    /// The maximum number of blocks in a WRITE MULTIPLE.
    public let writeLimit: Int
    /// The time for programming a block.
    public let programmingTime: Airtime

    /// Creates a description of a product.
    public init(
        name: String,
        uidPrefix: [UInt8],
        blockCount: Int,
        blockSize: Int = 4,
        icReference: UInt8,
        features: Features,
        readLimit: Int? = nil,
        writeLimit: Int = 4,
        programmingTime: Airtime = .milliseconds(5)
    ) {
        self.name = name
        self.uidPrefix = uidPrefix
        self.blockCount = blockCount
        self.blockSize = blockSize
        self.icReference = icReference
        self.features = features
        self.readLimit = readLimit
        self.writeLimit = writeLimit
        self.programmingTime = programmingTime
    }

    public var description: String { name }

    /// The number of blocks without the counter block.
    public var dataBlockCount: Int { features.contains(.counter) ? blockCount - 1 : blockCount }

    // MARK: Products

    /// ICODE SLIX (SL2S2002): 28 blocks. Bits 36 and 35 of the UID are 10.
    public static let icodeSLIX = icode("ICODE SLIX", 0x01, 0x10, blockCount: 28, [])

    /// ICODE SLIX2 (SL2S2602): 79 blocks and a counter. Bits 36 and 35 of the UID are 01.
    public static let icodeSLIX2 = icode(
        "ICODE SLIX2",
        0x01,
        0x08,
        blockCount: 80,
        [.privacy, .memoryPasswords, .signature, .counter, .pages]
    )

    /// ICODE DNA (SL2S6002): 63 blocks and a counter. Bits 36 and 35 of the UID are 11. Its keys, its authentication (ISO/IEC
    /// 29167-10) and what they protect are not modelled: their frames are not public.
    public static let icodeDNA = Type5Product(
        name: "ICODE DNA",
        uidPrefix: [0xE0, 0x04, 0x01, 0x18],
        blockCount: 64,
        icReference: 0x01,
        features: [.signature, .counter],
        programmingTime: .milliseconds(4)
    )

    /// ICODE SLIX-S (SL2S5302): 40 blocks. Its protection of pages and its surveillance identifier are not modelled.
    public static let icodeSLIXS = icode("ICODE SLIX-S", 0x02, 0x10, blockCount: 40, [.privacy, .memoryPasswords])

    /// ICODE SLIX-L (SL2S5002): 8 blocks.
    public static let icodeSLIXL = icode("ICODE SLIX-L", 0x03, 0x10, blockCount: 8, .privacy)

    /// ST25TV512: 16 blocks.
    public static let st25tv512 = st25("ST25TV512", 0x23, blockCount: 16, .tagConfiguration)

    /// ST25TV02K: 64 blocks.
    public static let st25tv02K = st25("ST25TV02K", 0x23, blockCount: 64, .tagConfiguration)

    /// ST25DV04K: 128 blocks.
    public static let st25dv04K = st25("ST25DV04K", 0x24, blockCount: 128, dynamic)

    /// ST25DV16K: 512 blocks. Commands with one-byte block numbers reach only the first 256.
    public static let st25dv16K = st25("ST25DV16K", 0x26, blockCount: 512, dynamic)

    /// ST25DV64K: 2048 blocks. Commands with one-byte block numbers reach only the first 256.
    public static let st25dv64K = st25("ST25DV64K", 0x26, blockCount: 2048, dynamic)

    private static let dynamic: Features = [.writeMultiple, .extended, .configuration, .locksFirstBlocksOnly]

    /// A product of NXP, by the third byte of its UID and bits of the fourth.
    private static func icode(
        _ name: String,
        _ code: UInt8,
        _ variant: UInt8,
        blockCount: Int,
        _ features: Features
    ) -> Type5Product {
        Type5Product(
            name: name,
            uidPrefix: [0xE0, 0x04, code, variant],
            blockCount: blockCount,
            icReference: code,
            features: features.union([.passwords, .surveillance]),
            programmingTime: .milliseconds(4)
        )
    }

    /// A product of ST, by the third byte of its UID.
    private static func st25(_ name: String, _ code: UInt8, blockCount: Int, _ features: Features) -> Type5Product {
        let prefix: [UInt8] = [0xE0, 0x02, code]
        return Type5Product(
            name: name,
            uidPrefix: prefix,
            blockCount: blockCount,
            icReference: code,
            features: features
        )
    }

    /// Describes a tag that follows ISO/IEC 15693-3 and has no vendor features.
    ///
    /// - Parameters:
    ///   - blockCount: the number of blocks. A tag with more than 256 has the extended commands.
    ///   - blockSize: the number of bytes in a block, 1 to 32.
    ///   - readLimit: the maximum number of blocks in a READ MULTIPLE.
    ///   - icReference: the IC reference of GET SYSTEM INFORMATION.
    public static func generic(
        blockCount: Int,
        blockSize: Int = 4,
        readLimit: Int? = nil,
        icReference: UInt8 = 0x00
    ) -> Type5Product {
        Type5Product(
            name: "generic Type 5",
            uidPrefix: [0xE0],
            blockCount: blockCount,
            blockSize: blockSize,
            icReference: icReference,
            features: blockCount > 256 ? [.writeMultiple, .extended] : [.writeMultiple],
            readLimit: readLimit,
            writeLimit: 32
        )
    }

    /// All named products.
    public static let all: [Type5Product] = Type5Family.all.flatMap(\.products)
}

/// Products whose UIDs start the same way. The family is all that a reader knows from the UID alone.
package struct Type5Family: Sendable {
    /// The product's name. If products of several sizes share a UID range, the name lists them all. Nil if the UID does
    /// not identify the product.
    package let name: String?
    /// The manufacturer code in the UID, followed by the values of the next UID byte.
    let manufacturer: UInt8
    let codes: ClosedRange<UInt8>
    /// The relevant bits of the UID byte after that, and their value.
    var variant: (mask: UInt8, bits: UInt8) = (0, 0)
    /// The expected block size. The first answer shows the actual size.
    package var blockSize = 4
    /// Whether READ MULTIPLE BLOCKS can't cross sectors of 32 blocks.
    package var readsWithinSectors = false
    /// For a product without a virtual tag: the memory in bytes, and whether it has a signature.
    var memory: Int? = nil
    var isSigned = false
    /// The products with a virtual tag.
    package var products: [Type5Product] = []
    /// For products of several sizes without a virtual tag: each name, and the largest memory in bytes that it means.
    var sizes: [(largest: Int, name: String)] = []

    /// The memory for a message in bytes; nil unless it is the same for every tag of the family.
    package var memorySize: Int? {
        icode.map { $0.dataBlockCount * $0.blockSize } ?? memory
    }

    /// Whether the tag has NXP's READ SIGNATURE.
    package var hasSignature: Bool { isSigned || icode?.features.contains(.signature) == true }

    /// The block with a counter; nil when the tag has none.
    package var counterBlock: UInt8? {
        icode.flatMap { $0.features.contains(.counter) ? UInt8($0.blockCount - 1) : nil }
    }

    /// Whether the memory size must be known for the product's name.
    package var needsSize: Bool { products.count > 1 || !sizes.isEmpty }

    /// Returns the product's name for a memory size in bytes, counter included; the family's name if that does not
    /// decide.
    package func name(memorySize: Int?) -> String? {
        guard let memorySize else { return name }
        return products.first { $0.blockCount * $0.blockSize == memorySize }?.name
            ?? sizes.first { memorySize <= $0.largest }?.name ?? name
    }

    /// The ICODE, if the family has only one product.
    private var icode: Type5Product? { manufacturer == 0x04 && sizes.isEmpty ? products.first : nil }

    /// Finds the family of a UID, which starts with E0; nil for an unknown family.
    package static func of(_ uid: [UInt8]) -> Type5Family? {
        guard uid.count == 8 else { return nil }
        return all.first {
            $0.manufacturer == uid[1] && $0.codes.contains(uid[2]) && uid[3] & $0.variant.mask == $0.variant.bits
        }
    }

    static let all: [Type5Family] = [
        // Bits 39 to 36 of the UID, 0100, on a tag with 75 blocks and a counter (Proxmark3 pull request 3279).
        icode("ICODE 3", 0x01, (0x78, 0x20), memory: 300, isSigned: true),
        // Bits 36 and 35 of the UID (NXP SL2S2602 data sheet, 9.3). ICODE SLI has 28 blocks.
        icode("ICODE SLI", 0x01, (0x18, 0x00), memory: 112),
        icode("ICODE SLIX", 0x01, (0x18, 0x10), products: [.icodeSLIX]),
        icode("ICODE SLIX2", 0x01, (0x18, 0x08), products: [.icodeSLIX2]),
        // ICODE DNA has 64 blocks, NTAG 5 at least 128 (Proxmark3 pull request 1882; NTP5210 and NTP53x2 data sheets).
        icode(
            "ICODE DNA/NTAG 5",
            0x01,
            (0x18, 0x18),
            isSigned: true,
            products: [.icodeDNA],
            sizes: [(256, "ICODE DNA"), (.max, "NTAG 5")]
        ),
        icode("ICODE SLI-S", 0x02, (0x10, 0x00)),
        icode("ICODE SLIX-S", 0x02, (0x10, 0x10), products: [.icodeSLIXS]),
        icode("ICODE SLI-L", 0x03, (0x10, 0x00)),
        icode("ICODE SLIX-L", 0x03, (0x10, 0x10), products: [.icodeSLIXL]),
        Type5Family(name: "ST25TV512C/02KC", manufacturer: 0x02, codes: 0x08...0x08),
        Type5Family(name: "ST25TV512/02K", manufacturer: 0x02, codes: 0x23...0x23, products: [.st25tv512, .st25tv02K]),
        Type5Family(name: "ST25DV04K", manufacturer: 0x02, codes: 0x24...0x25, products: [.st25dv04K]),
        Type5Family(name: "ST25DV16K/64K", manufacturer: 0x02, codes: 0x26...0x27, products: [.st25dv16K, .st25dv64K]),
        Type5Family(
            name: "ST25TV16K/64K",
            manufacturer: 0x02,
            codes: 0x48...0x48,
            sizes: [(2048, "ST25TV16K"), (8192, "ST25TV64K")]
        ),
        // The high six bits are the product code.
        Type5Family(name: "M24LR64", manufacturer: 0x02, codes: 0x2C...0x2F, readsWithinSectors: true),
        Type5Family(name: "LRIS64K", manufacturer: 0x02, codes: 0x44...0x47, readsWithinSectors: true),
        Type5Family(name: "M24LR16E", manufacturer: 0x02, codes: 0x4C...0x4F, readsWithinSectors: true),
        Type5Family(name: "M24LR04E", manufacturer: 0x02, codes: 0x58...0x5B, readsWithinSectors: true),
        Type5Family(name: "M24LR64E", manufacturer: 0x02, codes: 0x5C...0x5F, readsWithinSectors: true),
        // ON Semiconductor's N24RF.
        Type5Family(name: nil, manufacturer: 0x67, codes: 0x00...0xFF, readsWithinSectors: true),
        // Fujitsu's FRAM tags: most have blocks of 8 bytes, MB89R119 of 4.
        Type5Family(name: "MB89R118C", manufacturer: 0x08, codes: 0x01...0x01, blockSize: 8),
        Type5Family(name: "MB89R119B", manufacturer: 0x08, codes: 0x02...0x02, blockSize: 8),
        Type5Family(name: nil, manufacturer: 0x08, codes: 0x00...0xFF, blockSize: 8),
    ]

    private static func icode(
        _ name: String,
        _ code: UInt8,
        _ variant: (mask: UInt8, bits: UInt8),
        memory: Int? = nil,
        isSigned: Bool = false,
        products: [Type5Product] = [],
        sizes: [(largest: Int, name: String)] = []
    ) -> Type5Family {
        Type5Family(
            name: name,
            manufacturer: 0x04,
            codes: code...code,
            variant: variant,
            memory: memory,
            isSigned: isSigned,
            products: products,
            sizes: sizes
        )
    }
}
