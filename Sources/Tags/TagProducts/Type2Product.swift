// SPDX-License-Identifier: Apache-2.0

/// A product of the MIFARE Ultralight and NTAG families, as its data sheet describes it: identification, memory, locks,
/// password and commands. The reader and the virtual tags share this table.
///
/// All products use the same commands over pages of four bytes.
public struct Type2Product: Sendable, Hashable, CustomStringConvertible {
    /// Commands and registers that not every product has.
    package struct Features: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let compatibilityWrite = Features(rawValue: 1)
        package static let version = Features(rawValue: 1 << 1)
        package static let fastRead = Features(rawValue: 1 << 2)
        package static let signature = Features(rawValue: 1 << 3)
        /// PWD_AUTH, with AUTH0, ACCESS, PWD and PACK in the configuration pages.
        package static let password = Features(rawValue: 1 << 4)
        /// A 24-bit counter of readings, which ACCESS switches on.
        package static let readingCounter = Features(rawValue: 1 << 5)
        /// Three 24-bit counters, INCR_CNT and CHECK_TEARING_EVENT.
        package static let counters = Features(rawValue: 1 << 6)
        /// A 16-bit counter in page 41.
        package static let pageCounter = Features(rawValue: 1 << 7)
        /// 3DES authentication, with AUTH0 and AUTH1 in pages 42 and 43, followed by the key.
        package static let tripleDES = Features(rawValue: 1 << 8)
        /// The command VCSL.
        package static let virtualCardSelect = Features(rawValue: 1 << 9)
        /// The command SECTOR SELECT.
        package static let sectors = Features(rawValue: 1 << 10)
        /// The tag shows UID and counter as ASCII text within its pages.
        package static let mirror = Features(rawValue: 1 << 11)
        /// The tag ignores unknown commands. Other products answer with a NAK.
        package static let ignoresUnknownCommands = Features(rawValue: 1 << 12)
        /// AES authentication, with AUTH0 and ACCESS as for a password, AUTH_LIM, and the first of ``aesPages``.
        package static let aes = Features(rawValue: 1 << 13)
        /// The mirror, which the topmost bit of the configuration switches on, is the SUN message: UID, counter and CMAC.
        package static let sun = Features(rawValue: 1 << 14)
    }

    /// The product's name, such as `NTAG213` or `MIFARE Ultralight EV1 UL11`.
    public let name: String
    /// The names in Flipper's files that differ from `name`; empty if none do. Files are written with the first name.
    var otherFlipperNames: [String] = []
    /// The number of pages, including those that can't be read.
    public let pageCount: Int
    /// The pages for data, starting at 4. Pages in the second sector are numbered from 256.
    public let userPages: ClosedRange<Int>
    /// The answer to GET_VERSION; nil if the product lacks the command.
    public internal(set) var version: [UInt8]? = nil
    /// The size byte of a new tag's capability container: data area in bytes, divided by 8.
    public let capabilitySize: UInt8
    /// The value of the lock control TLV that describes ``dynamicLock``; nil when no TLV is needed.
    package var lockControl: [UInt8]? = nil
    var isDeliveredWithLockControl = true
    package let features: Features
    /// Whether new lock bits take effect only at the next activation.
    package var locksAtActivation = false
    /// The lock bits outside page 2.
    package var dynamicLock: LockField? = nil
    /// The first of the configuration pages. AUTH0 is its last byte.
    package var configurationPage: Int? = nil
    /// The contents of the pages after the data on a new tag, such as the configuration, by page number.
    package var factoryConfiguration: [Int: [UInt8]] = [:]

    /// The product's names in Flipper's files. Files are written with the first name.
    package var flipperNames: [String] { otherFlipperNames.isEmpty ? [name] : otherFlipperNames }

    /// The number of pages that READ reaches. The later pages, which contain keys, are write-only.
    package var readablePageCount: Int { (aesPages ?? keyPages)?.lowerBound ?? pageCount }

    /// The pages with the key that protects the memory; nil for a product without one.
    package var keyPages: Range<Int>? {
        features.contains(.tripleDES) ? 44..<48 : features.contains(.aes) ? aesPages?.prefix(4) : nil
    }

    /// The pages of two AES keys: of the authentication, where the product has one, then the UID retrieval key of
    /// Ultralight AES or the key of the SUN message. Three pages before them is their lock byte.
    package var aesPages: Range<Int>? {
        guard !features.isDisjoint(with: [.aes, .sun]), let page = configurationPage else { return nil }
        return page + 7..<page + 15
    }

    /// The first bytes of a new tag's data pages: TLVs.
    package var factoryData: [UInt8] { Self.emptyMessage(after: isDeliveredWithLockControl ? lockControl : nil) }

    public var description: String { name }

    public static func == (lhs: Type2Product, rhs: Type2Product) -> Bool { lhs.name == rhs.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Type2Product {
    /// Finds a product by name. Case, spaces and hyphens don't matter, and `u` stands for `µ`.
    ///
    /// - Parameter name: a name as in ``name``, or without `MIFARE` or `MIFARE Ultralight EV1`, such as `Ultralight C`
    ///   or `UL21`.
    public init?(named name: String) {
        let wanted = ProductName(name)
        let product = Self.all.first { wanted.names($0.name, withoutFamilies: ["mifare", "mifareultralightev1"]) }
        guard let product else { return nil }
        self = product
    }

    /// Identifies the product by its answer to GET_VERSION.
    ///
    /// Subtype and minor version vary within a product. They matter only where products share type and size: subtype 05
    /// is an NTAG I2C, and minor version 2 or later is an NTAG I2C plus.
    ///
    /// - Parameter version: the eight bytes.
    /// - Returns: nil if no product has this version, or one whose memory is not known.
    package init?(version: [UInt8]) {
        guard version.count == 8, version[1] == 0x04 else { return nil }
        if let relative = Relative.of(version) {
            guard let product = relative.product else { return nil }
            self = product
            return
        }
        let sameSize = Self.all.filter {
            $0.version?[2] == version[2] && $0.version?[6] == version[6] && $0.version.flatMap(Relative.of) == nil
        }
        let sameSubtype = sameSize.filter { ($0.version?[3] == 0x05) == (version[3] == 0x05) }
        let products = sameSubtype.isEmpty ? sameSize : sameSubtype
        guard let product = products.last(where: { $0.version?[5] ?? 0 <= version[5] }) ?? products.first else {
            return nil
        }
        self = product
    }

    /// Returns the name of the product with an answer to GET_VERSION, even if its memory is not known; nil for an
    /// unknown product.
    package static func name(version: [UInt8]) -> String? {
        Relative.of(version)?.name ?? Type2Product(version: version)?.name
    }

    /// Finds a product whose locks match a tag's memory. The tag may be a related product with another name.
    ///
    /// - Parameters:
    ///   - size: the size byte of the capability container.
    ///   - lockControl: the value of the lock control TLV; nil when the tag has none.
    /// - Returns: nil if no product has this size, or if several do and no lock control TLV matches.
    package init?(capabilitySize size: UInt8, lockControl: [UInt8]?) {
        let sameSize = Self.all.filter { $0.capabilitySize == size }
        let isCertain = Set(sameSize.map(\.lockControl)).count == 1
        guard let product = sameSize.first(where: { isCertain || $0.lockControl == lockControl }) else { return nil }
        self = product
    }

    /// The TLVs of an empty message, preceded by the product's lock control TLV if needed.
    package var emptyMessage: [UInt8] { Self.emptyMessage(after: lockControl) }

    private static func emptyMessage(after lockControl: [UInt8]?) -> [UInt8] {
        lockControl.map { [0x01, 0x03] + $0 + [0x03, 0x00, 0xFE] } ?? [0x03, 0x00, 0xFE, 0x00]
    }

    /// The page with the dynamic lock bytes; nil if the product has none.
    public var dynamicLockPage: Int? { dynamicLock?.page }

    /// The first configuration page; nil if the product has none. The password is in the configuration pages.
    public var firstConfigurationPage: Int? { configurationPage ?? (features.contains(.tripleDES) ? 42 : nil) }
}

/// A product with the type and the size of another. The subtype or the major version tells them apart (versions:
/// Proxmark3, `cmdhfmfu.c`, and NXP AN10833).
private struct Relative {
    var name: String
    var type: UInt8
    var subtypes: [UInt8]
    var majors: [UInt8]
    var sizes: [UInt8]
    /// The product with the same memory and locks; nil if they differ or are not known.
    var product: Type2Product?

    static func of(_ version: [UInt8]) -> Relative? {
        guard version.count == 8, version[1] == 0x04 else { return nil }
        return all.first {
            $0.type == version[2] && $0.subtypes.contains(version[3]) && $0.majors.contains(version[4])
                && $0.sizes.contains(version[6])
        }
    }

    private static let all: [Relative] = [
        Relative(name: "MIFARE Ultralight Nano", type: 3, subtypes: [1, 2], majors: [2, 3], sizes: [0x0B]),
        Relative(
            name: "MIFARE Ultralight AES",
            type: 3,
            subtypes: [1, 2, 3],
            majors: [4],
            sizes: [0x0F],
            product: .ultralightAES
        ),
        Relative(name: "NTAG 210µ", type: 4, subtypes: [1, 2], majors: [2], sizes: [0x0B]),
        Relative(name: "NTAG213F", type: 4, subtypes: [4], majors: [1], sizes: [0x0F], product: .ntag213),
        Relative(name: "NTAG216F", type: 4, subtypes: [4], majors: [1], sizes: [0x13], product: .ntag216),
        Relative(name: "NTAG 213 TT", type: 4, subtypes: [2], majors: [3], sizes: [0x0F], product: .ntag213),
        Relative(name: "NTAG 223 DNA", type: 4, subtypes: [2], majors: [4], sizes: [0x0F], product: .ntag223),
        Relative(name: "NTAG 223 DNA StatusDetect", type: 4, subtypes: [8], majors: [4], sizes: [0x0F]),
        Relative(name: "NTAG 224 DNA", type: 4, subtypes: [2], majors: [5], sizes: [0x10], product: .ntag224),
        Relative(name: "NTAG 224 DNA StatusDetect", type: 4, subtypes: [8], majors: [5], sizes: [0x10]),
    ]
}

// MARK: The products

extension Type2Product {
    /// All products with a virtual tag. A file that gives only the memory size means the first product of that size. Of
    /// the same type and size, later minor versions are listed later.
    public static let all: [Type2Product] = [
        ultralight, ultralightC, ultralightEV1UL11, ultralightEV1UL21, ultralightAES,
        ntag203, ntag210, ntag212, ntag213, ntag215, ntag216, ntag223, ntag224,
        ntagI2C1K, ntagI2C2K, ntagI2CPlus1K, ntagI2CPlus2K,
    ]

    /// MIFARE Ultralight, MF0ICU1: 48 bytes.
    ///
    /// It ignores unknown commands. nfcpy and Proxmark use this to distinguish it from its successors.
    public static let ultralight = Type2Product(
        name: "MIFARE Ultralight",
        otherFlipperNames: ["Mifare Ultralight"],
        pageCount: 16,
        userPages: 4...15,
        capabilitySize: 0x06,
        features: [.compatibilityWrite, .ignoresUnknownCommands]
    )

    /// MIFARE Ultralight C, MF0ICU2: 144 bytes and 3DES authentication.
    public static let ultralightC = Type2Product(
        name: "MIFARE Ultralight C",
        otherFlipperNames: ["Mifare Ultralight C"],
        pageCount: 48,
        userPages: 4...39,
        capabilitySize: 0x12,
        lockControl: [0xA0, 0x10, 0x44],
        isDeliveredWithLockControl: false,
        features: [.compatibilityWrite, .pageCounter, .tripleDES],
        locksAtActivation: true,
        dynamicLock: .ultralightC(tail: [41...41, 42...42, 43...43, 44...47]),
        factoryConfiguration: [
            42: [0x30, 0, 0, 0],
            // The transport key: the bytes of "BREAKMEIFYOUCAN!".
            44: Array("BREA".utf8), 45: Array("KMEI".utf8), 46: Array("FYOU".utf8), 47: Array("CAN!".utf8),
        ]
    )

    /// MIFARE Ultralight EV1, MF0UL11: 48 bytes, password and three counters.
    public static let ultralightEV1UL11 = ultralightEV1("UL11", size: 0x0B, lastPage: 15, capability: 0x06)

    /// MIFARE Ultralight EV1, MF0UL21: 128 bytes, password and three counters.
    public static let ultralightEV1UL21 = ultralightEV1("UL21", size: 0x0E, lastPage: 35, capability: 0x10)

    /// MIFARE Ultralight AES, MF0AES20: 144 bytes and AES authentication.
    ///
    /// Its counters, its signature, random UIDs and secure messaging are not modelled. Only parts of the data sheet were
    /// available; that its lock bits are those of NTAG213 is a guess.
    public static let ultralightAES = Type2Product(
        name: "MIFARE Ultralight AES",
        pageCount: 60,
        userPages: 4...39,
        version: [0x00, 0x04, 0x03, 0x01, 0x04, 0x00, 0x0F, 0x03],
        capabilitySize: 0x12,
        lockControl: [0xA0, 0x0C, 0x34],
        isDeliveredWithLockControl: false,
        features: [.version, .fastRead, .aes],
        dynamicLock: .ntag(lastPage: 39, pagesPerBit: 2, lastByte: 0xBD),
        configurationPage: 41,
        factoryConfiguration: [41: [0x00, 0x00, 0x00, 0x3C], 42: [0x00, 0x05, 0x00, 0x00]]
    )

    /// NTAG203: 144 bytes.
    public static let ntag203 = Type2Product(
        name: "NTAG203",
        pageCount: 42,
        userPages: 4...39,
        capabilitySize: 0x12,
        lockControl: [0xA0, 0x10, 0x44],
        features: [.compatibilityWrite, .pageCounter],
        locksAtActivation: true,
        dynamicLock: .ultralightC(tail: [41...41])
    )

    /// NTAG210: 48 bytes and a password.
    public static let ntag210 = ntag21x("NTAG210", subtype: 0x01, size: 0x0B, lastPage: 15, capability: 0x06)

    /// NTAG212: 128 bytes and a password.
    public static let ntag212 = ntag21x(
        "NTAG212",
        subtype: 0x01,
        size: 0x0E,
        lastPage: 35,
        capability: 0x10,
        pagesPerBit: 2,
        lockControl: [0x90, 0x0A, 0x34]
    )

    /// NTAG213: 144 bytes, a password, and a counter of readings.
    public static let ntag213 = ntag21x(
        "NTAG213",
        subtype: 0x02,
        size: 0x0F,
        lastPage: 39,
        capability: 0x12,
        pagesPerBit: 2,
        lockControl: [0xA0, 0x0C, 0x34]
    )

    /// NTAG215: 504 bytes. Its capability container declares only 496 of them.
    public static let ntag215 = ntag21x(
        "NTAG215",
        subtype: 0x02,
        size: 0x11,
        lastPage: 129,
        capability: 0x3E,
        pagesPerBit: 16
    )

    /// NTAG216: 888 bytes. Its capability container declares only 872 of them.
    public static let ntag216 = ntag21x(
        "NTAG216",
        subtype: 0x02,
        size: 0x13,
        lastPage: 225,
        capability: 0x6D,
        pagesPerBit: 16
    )

    /// NTAG 223 DNA, NT2H2331G0: 144 bytes, a password, a counter of readings, and a SUN message.
    ///
    /// Of the data sheets of NTAG 223 and 224 DNA, only parts were available (Proxmark3, `ntag22x_suncmac_recovery.py`;
    /// NXP AN12998). That ACCESS, AUTH_LIM and the lock bits are those of NTAG213 and Ultralight AES is a guess. The
    /// signature is not modelled.
    public static let ntag223 = ntag22x(
        "NTAG 223 DNA",
        version: [0x00, 0x04, 0x04, 0x02, 0x04, 0x00, 0x0F, 0x03],
        lastPage: 39,
        pagesPerBit: 2,
        lockControl: [0xA0, 0x0C, 0x34],
        security: .password
    )

    /// NTAG 224 DNA, NT2H2421G0: 208 bytes, AES authentication, a counter of readings, and a SUN message.
    public static let ntag224 = ntag22x(
        "NTAG 224 DNA",
        version: [0x00, 0x04, 0x04, 0x02, 0x05, 0x00, 0x10, 0x03],
        lastPage: 55,
        pagesPerBit: 4,
        lockControl: [0xE0, 0x0A, 0x44],
        security: .aes
    )

    /// NTAG I2C 1K, NT3H1101: 888 bytes.
    public static let ntagI2C1K = ntagI2C("NTAG I2C 1K", minor: 0x01, size: 0x13, pageCount: 234)

    /// NTAG I2C 2K, NT3H1201: 1904 bytes in two sectors.
    ///
    /// Only the first pages of the data sheet were available, so two details are guesses. A lock bit covers 32 pages. A
    /// READ that runs past a sector's last page returns zeros there; a READ that starts after that page is refused.
    public static let ntagI2C2K = ntagI2C(
        "NTAG I2C 2K",
        minor: 0x01,
        size: 0x15,
        pageCount: 490,
        lastPage: 479,
        capability: 0xEA,
        pagesPerBit: 32
    )

    /// NTAG I2C plus 1K, NT3H2111: 888 bytes. Its password is not modelled.
    public static let ntagI2CPlus1K = ntagI2C(
        "NTAG I2C plus 1K",
        flipperNames: ["NTAG I2C Plus 1K"],
        minor: 0x02,
        size: 0x13,
        pageCount: 234,
        configurationPage: 227
    )

    /// NTAG I2C plus 2K, NT3H2211: 888 bytes in the first sector, which its capability container declares, and 1024 in
    /// the second. Its password is not modelled.
    public static let ntagI2CPlus2K = ntagI2C(
        "NTAG I2C plus 2K",
        flipperNames: ["NTAG I2C Plus 2K"],
        minor: 0x02,
        size: 0x15,
        pageCount: 512,
        configurationPage: 227
    )

    private static func ntag21x(
        _ name: String,
        subtype: UInt8,
        size: UInt8,
        lastPage: Int,
        capability: UInt8,
        pagesPerBit: Int? = nil,
        lockControl: [UInt8]? = nil
    ) -> Type2Product {
        let counts = subtype == 0x02
        return withPassword(
            name,
            version: [0x00, 0x04, 0x04, subtype, 0x01, 0x00, size, 0x03],
            lastPage: lastPage,
            capability: capability,
            pagesPerBit: pagesPerBit,
            lockControl: lockControl,
            features: counts ? [.mirror, .readingCounter] : [.mirror],
            configuration: [[counts ? 0x04 : 0x00, 0, 0, 0xFF], [0, 0, 0, 0]]
        )
    }

    private static func ntag22x(
        _ name: String,
        version: [UInt8],
        lastPage: Int,
        pagesPerBit: Int,
        lockControl: [UInt8],
        security: Features
    ) -> Type2Product {
        let first = lastPage + 2
        var factory = [first: [0x00, 0x00, 0x00, UInt8(first + 19)]]
        if security.contains(.password) { factory[first + 2] = [0xFF, 0xFF, 0xFF, 0xFF] }
        return Type2Product(
            name: name,
            pageCount: first + 19,
            userPages: 4...lastPage,
            version: version,
            capabilitySize: UInt8((lastPage - 3) / 2),
            lockControl: lockControl,
            features: security.union([.version, .fastRead, .mirror, .readingCounter, .sun]),
            dynamicLock: .ntag(lastPage: lastPage, pagesPerBit: pagesPerBit, lastByte: 0xBD),
            configurationPage: first,
            factoryConfiguration: factory
        )
    }

    private static func ultralightEV1(
        _ model: String,
        size: UInt8,
        lastPage: Int,
        capability: UInt8
    ) -> Type2Product {
        withPassword(
            "MIFARE Ultralight EV1 \(model)",
            flipperNames: ["Mifare Ultralight \(model.dropFirst(2))", "Mifare Ultralight EV1 \(model.dropFirst(2))"],
            version: [0x00, 0x04, 0x03, 0x01, 0x01, 0x00, size, 0x03],
            lastPage: lastPage,
            capability: capability,
            pagesPerBit: lastPage > 15 ? 2 : nil,
            lockControl: lastPage > 15 ? [0x90, 0x0A, 0x34] : nil,
            isDeliveredWithLockControl: false,
            features: [.counters, .virtualCardSelect],
            configuration: [[0x00, 0, 0, 0xFF], [0x00, 0x05, 0, 0]]
        )
    }

    /// Creates a product with data pages, an optional dynamic lock page, and four configuration pages.
    private static func withPassword(
        _ name: String,
        flipperNames: [String] = [],
        version: [UInt8],
        lastPage: Int,
        capability: UInt8,
        pagesPerBit: Int?,
        lockControl: [UInt8]?,
        isDeliveredWithLockControl: Bool = true,
        features: Features,
        configuration: [[UInt8]]
    ) -> Type2Product {
        let first = lastPage + (pagesPerBit == nil ? 1 : 2)
        return Type2Product(
            name: name,
            otherFlipperNames: flipperNames,
            pageCount: first + 4,
            userPages: 4...lastPage,
            version: version,
            capabilitySize: capability,
            lockControl: lockControl,
            isDeliveredWithLockControl: isDeliveredWithLockControl,
            features: features.union([.compatibilityWrite, .version, .fastRead, .signature, .password]),
            dynamicLock: pagesPerBit.map { .ntag(lastPage: lastPage, pagesPerBit: $0, lastByte: 0xBD) },
            configurationPage: first,
            factoryConfiguration: [
                first: configuration[0], first + 1: configuration[1], first + 2: [0xFF, 0xFF, 0xFF, 0xFF],
            ]
        )
    }

    private static func ntagI2C(
        _ name: String,
        flipperNames: [String] = [],
        minor: UInt8,
        size: UInt8,
        pageCount: Int,
        lastPage: Int = 225,
        capability: UInt8 = 0x6D,
        pagesPerBit: Int = 16,
        configurationPage: Int? = nil
    ) -> Type2Product {
        // The configuration registers are the last two pages, or on NTAG I2C plus the ones after the password.
        let registers = configurationPage.map { $0 + 5 } ?? pageCount - 2
        var factory: [Int: [UInt8]] = [registers: [0x01, 0x00, 0xF8, 0x48], registers + 1: [0x08, 0x01, 0x00, 0x00]]
        // AUTH0: no page needs the password.
        if let configurationPage { factory[configurationPage] = [0x00, 0x00, 0x00, 0xFF] }
        return Type2Product(
            name: name,
            otherFlipperNames: flipperNames,
            pageCount: pageCount,
            userPages: 4...lastPage,
            version: [0x00, 0x04, 0x04, 0x05, 0x02, minor, size, 0x03],
            capabilitySize: capability,
            features: [.version, .fastRead, .sectors],
            dynamicLock: .ntag(lastPage: lastPage, pagesPerBit: pagesPerBit, lastByte: 0x00),
            configurationPage: configurationPage,
            factoryConfiguration: factory
        )
    }
}

// MARK: Lock bits

/// The position of a tag's lock bits, the pages that each bit locks, and the block-lock bit that freezes it.
package struct LockField: Sendable {
    /// One bit that makes pages read-only.
    package struct Lock: Sendable {
        /// The bit's number, counted from the least significant bit of the field's first byte.
        package var bit: Int
        /// The pages that this bit locks. Pages in the second sector are numbered from 256.
        package var pages: ClosedRange<Int>
        /// The block-lock bit that freezes this lock bit.
        package var frozenBy: Int
    }

    /// The page with the bits.
    package var page: Int
    /// The index of the first lock byte in the page.
    package var offset: Int
    /// The number of lock bytes.
    package var bytes: Int
    package var locks: [Lock]
    /// The fixed value that the page's last byte reads as; nil for an ordinary byte.
    package var lastByte: UInt8?

    /// The static lock bytes of page 2, on all Type 2 tags (NFC Forum T2T 1.2, 4.2). From the least significant bit:
    /// BLCC, BL4-9, BL10-15, LCC, L4..L15.
    package static let statically = LockField(
        page: 2,
        offset: 2,
        bytes: 2,
        locks: (3...15).map { Lock(bit: $0, pages: $0...$0, frozenBy: $0 == 3 ? 0 : $0 < 10 ? 1 : 2) }
    )

    /// The dynamic lock bytes of NTAG21x and Ultralight EV1, in the page after the data: two bytes of lock bits, then
    /// one byte of block-lock bits. Each block-lock bit freezes two lock bits (NTAG213/215/216 data sheet, 8.5.3).
    ///
    /// - Parameters:
    ///   - lastPage: the last page that can be locked.
    ///   - pagesPerBit: the number of pages per lock bit.
    ///   - lastByte: the fixed value that the page's last byte reads as.
    static func ntag(lastPage: Int, pagesPerBit: Int, lastByte: UInt8) -> LockField {
        let starts = stride(from: 16, through: lastPage, by: pagesPerBit)
        return LockField(
            page: lastPage + 1,
            offset: 0,
            bytes: 3,
            locks: starts.enumerated().map { index, start in
                Lock(bit: index, pages: start...min(start + pagesPerBit - 1, lastPage), frozenBy: 16 + index / 2)
            },
            lastByte: lastByte
        )
    }

    /// The lock bytes in page 40 of Ultralight C and NTAG203: one bit for every four pages, among them two block-lock
    /// bits; then bits for the pages after the data (MF0ICU2 data sheet, 7.5.3).
    ///
    /// - Parameter tail: the pages locked by the bits from 4 on in the second byte. Each bit is frozen by the bit four
    ///   positions lower.
    static func ultralightC(tail: [ClosedRange<Int>]) -> LockField {
        let data: [Lock] = (0..<6).map { index in
            let start = 16 + index * 4
            return Lock(bit: index < 3 ? 1 + index : 2 + index, pages: start...(start + 3), frozenBy: index < 3 ? 0 : 4)
        }
        let tailLocks = tail.enumerated().map { Lock(bit: 12 + $0, pages: $1, frozenBy: 8 + $0) }
        return LockField(page: 40, offset: 0, bytes: 2, locks: data + tailLocks)
    }
}
