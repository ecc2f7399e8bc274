// SPDX-License-Identifier: Apache-2.0

/// Everything that a Type 5 tag keeps without power: what an image of the tag holds.
public struct Type5Contents: Sendable, Hashable {
    /// What the tag is.
    public var product: Type5Product
    /// The UID, most significant octet (E0) first; it goes the other way round on the air.
    public var uid: [UInt8]
    /// The blocks one after the other, without a counter's.
    public var memory: [UInt8]
    /// The blocks that are locked for good.
    public var lockedBlocks: Set<Int> = []
    /// The data storage format identifier.
    public var dsfid: UInt8 = 0
    /// The application family identifier.
    public var afi: UInt8 = 0
    /// Whether the data storage format identifier is locked.
    public var isDSFIDLocked = false
    /// Whether the application family identifier is locked.
    public var isAFILocked = false
    /// Whether the surveillance bit is set.
    public var isSurveillanceSet = true
    /// Whether the surveillance bit is locked.
    public var isSurveillanceLocked = false
    /// The passwords of ICODE SLIX and SLIX2 by their identifiers: 01 read, 02 write, 04 privacy, 08 destroy, 10
    /// surveillance and application family.
    public var passwords: [UInt8: UInt32]
    /// The 32 octets that READ SIGNATURE answers; those of a virtual tag are zero unless given.
    public var signature: [UInt8]
    /// The counter of ICODE SLIX2, or the event counter of ST25TV.
    public var counter: UInt16 = 0
    /// What guards an ICODE.
    public var protection = ICODEProtection()
    /// The registers, passwords and modes of an ST25TV or ST25DV.
    public var settings: ST25Settings

    /// Creates a tag that is formatted for NDEF and empty.
    ///
    /// - Parameters:
    ///   - product: what the tag is.
    ///   - uid: the UID, 8 octets; one of the product's form when nil.
    public init(blank product: Type5Product, uid: [UInt8]? = nil) {
        self.product = product
        self.uid = uid ?? Self.defaultUID(product)
        memory = Array(repeating: 0, count: product.dataBlockCount * product.blockSize)
        passwords =
            product.features.contains(.counter)
            ? [0x01: 0, 0x02: 0, 0x04: 0x0F0F_0F0F, 0x08: 0x0F0F_0F0F, 0x10: 0] : [0x10: 0]
        signature = Array(repeating: 0, count: 32)
        settings = ST25Settings(product)
        let container = Self.capabilityContainer(product)
        let formatted = container + [0x03, 0x00, 0xFE]
        memory.replaceSubrange(0..<min(formatted.count, memory.count), with: formatted.prefix(memory.count))
    }

    /// A UID of the product's form, the same every time.
    public static func defaultUID(_ product: Type5Product) -> [UInt8] {
        product.uidPrefix + [0x00, 0x00, 0x00, 0x11, 0x22, 0x33, 0x44].suffix(8 - product.uidPrefix.count)
    }

    /// The capability container of the whole memory (NFC Forum T5T 1.0, 4.3.1). READ MULTIPLE is supported; beyond 256
    /// blocks addresses have two octets, and beyond 2040 octets the size has two.
    static func capabilityContainer(_ product: Type5Product) -> [UInt8] {
        let octets = product.dataBlockCount * product.blockSize
        let magic: UInt8 = product.blockCount > 256 ? 0xE2 : 0xE1
        let size = (octets - 4) / 8
        if magic == 0xE1, size <= 0xFF { return [magic, 0x40, UInt8(size), 0x01] }
        let large = (octets - 8) / 8
        return [magic, 0x40, 0x00, 0x01, 0x00, 0x00, UInt8(truncatingIfNeeded: large >> 8), UInt8(large & 0xFF)]
    }
}
