// SPDX-License-Identifier: Apache-2.0

/// The properties of NXP's Type 2 products, from their data sheets.
struct NXPType2Product: Equatable {
    /// The product's name, as its manufacturer writes it.
    let name: String
    /// The size byte of the capability container that the factory writes.
    let sizeByte: UInt8
    /// The first bytes of the data area as the factory writes them: control TLVs and an empty message.
    let factoryTLVs: [UInt8]
    /// Whether the product has FAST_READ.
    let hasFastRead: Bool
    /// The position and the range of its dynamic lock bits; nil when it has none.
    let dynamicLock: Type2DynamicLock?

    static let empty: [UInt8] = [0x03, 0x00, 0xFE, 0x00]
    /// The lock control TLVs that the factory writes: NTAG213, NTAG212, and NTAG203 with Ultralight C.
    static let lockControl213: [UInt8] = [0xA0, 0x0C, 0x34]
    static let lockControl212: [UInt8] = [0x90, 0x0A, 0x34]
    static let lockControl203: [UInt8] = [0xA0, 0x10, 0x44]

    private static func formatted(_ lockControl: [UInt8]) -> [UInt8] {
        [0x01, 0x03] + lockControl + [0x03, 0x00, 0xFE]
    }

    static let ultralight = small("MIFARE Ultralight", hasFastRead: false)
    static let ultralightC = NXPType2Product(
        name: "MIFARE Ultralight C",
        sizeByte: 0x12,
        factoryTLVs: formatted(lockControl203),
        hasFastRead: false,
        dynamicLock: .grouped
    )
    static let ntag203 = NXPType2Product(
        name: "NTAG203",
        sizeByte: 0x12,
        factoryTLVs: formatted(lockControl203),
        hasFastRead: false,
        dynamicLock: .grouped
    )
    static let ntag213 = NXPType2Product(
        name: "NTAG213",
        sizeByte: 0x12,
        factoryTLVs: formatted(lockControl213),
        hasFastRead: true,
        dynamicLock: .even(page: 0x28, pagesPerBit: 2, endPage: 40, blockLocks: 0x3F)
    )
    static let ntag215 = NXPType2Product(
        name: "NTAG215",
        sizeByte: 0x3E,
        factoryTLVs: empty,
        hasFastRead: true,
        dynamicLock: .even(page: 0x82, pagesPerBit: 16, endPage: 130, blockLocks: 0x0F)
    )
    static let ntag216 = large("NTAG216")
    static let ntagI2C2K = NXPType2Product(
        name: "NTAG I2C 2K",
        sizeByte: 0xEA,
        factoryTLVs: empty,
        hasFastRead: true,
        dynamicLock: .even(page: 256 + 0xE0, pagesPerBit: 32, endPage: 480, blockLocks: 0xFF, hasPassword: false)
    )

    /// A product with 48 bytes, all of them covered by the static lock bits. Those with FAST_READ have a password.
    static func small(_ name: String, hasFastRead: Bool = true) -> NXPType2Product {
        NXPType2Product(
            name: name,
            sizeByte: 0x06,
            factoryTLVs: empty,
            hasFastRead: hasFastRead,
            dynamicLock: hasFastRead ? .small : nil
        )
    }

    /// The page after the last one for data.
    var endPage: Int { dynamicLock?.pages.lowerBound ?? Type2DynamicLock.firstPage }

    /// A product with 128 bytes and dynamic lock bits in page 36.
    static func medium(_ name: String) -> NXPType2Product {
        NXPType2Product(
            name: name,
            sizeByte: 0x10,
            factoryTLVs: formatted(lockControl212),
            hasFastRead: true,
            dynamicLock: .even(page: 0x24, pagesPerBit: 2, endPage: 36, blockLocks: 0x1F)
        )
    }

    /// A product with 888 bytes and dynamic lock bits in page 226.
    static func large(_ name: String, hasPassword: Bool = true) -> NXPType2Product {
        NXPType2Product(
            name: name,
            sizeByte: 0x6D,
            factoryTLVs: empty,
            hasFastRead: true,
            dynamicLock: .even(
                page: 0xE2,
                pagesPerBit: 16,
                endPage: 226,
                blockLocks: 0x7F,
                hasPassword: hasPassword
            )
        )
    }

    /// Identifies the product by its version. Subtype and minor version vary within a product, so size and type decide.
    init?(_ version: Type2Version) {
        guard version.vendor == NFCATarget.nxp else { return nil }
        switch (version.productType, version.majorVersion, version.storageSize) {
        case (0x03, _, 0x0B): self = .small("MIFARE Ultralight EV1 UL11")
        case (0x03, _, 0x0E): self = .medium("MIFARE Ultralight EV1 UL21")
        case (0x04, _, 0x0B): self = .small("NTAG210")
        case (0x04, _, 0x0E): self = .medium("NTAG212")
        case (0x04, _, 0x0F): self = .ntag213
        case (0x04, _, 0x11): self = .ntag215
        case (0x04, _, 0x13) where version.productSubtype != 0x05: self = .ntag216
        case (0x04, _, 0x13):
            self = version.minorVersion >= 2 ? .large("NTAG I2C plus 1K") : .large("NTAG I2C 1K", hasPassword: false)
        case (0x04, _, 0x15):
            self = version.minorVersion >= 2 ? .large("NTAG I2C plus 2K") : .ntagI2C2K
        default: return nil
        }
    }

    /// Returns whether the factory writes capability containers with this size byte.
    static func isUsual(sizeByte: UInt8) -> Bool { inferred(sizeByte: sizeByte, lockControl: lockControl213) != nil }

    private init(
        name: String,
        sizeByte: UInt8,
        factoryTLVs: [UInt8],
        hasFastRead: Bool,
        dynamicLock: Type2DynamicLock?
    ) {
        self.name = name
        self.sizeByte = sizeByte
        self.factoryTLVs = factoryTLVs
        self.hasFastRead = hasFastRead
        self.dynamicLock = dynamicLock
    }

    /// Returns an NXP product with the memory, locks and commands that match the memory content; nil when this is
    /// uncertain. The name may be that of a related product.
    static func inferred(sizeByte: UInt8, lockControl: [UInt8]?) -> NXPType2Product? {
        switch (sizeByte, lockControl) {
        case (0x06, _): .ultralight
        case (0x10, _): .medium("NTAG212")
        case (0x12, lockControl213): .ntag213
        case (0x12, lockControl203): .ntag203
        case (0x3E, _): .ntag215
        case (0x6D, _): .ntag216
        case (0xEA, _): .ntagI2C2K
        default: nil
        }
    }
}
