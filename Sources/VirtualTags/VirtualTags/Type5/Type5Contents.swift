// SPDX-License-Identifier: Apache-2.0
public import CardCryptography
import TagLink

/// The persistent state of a Type 5 tag, as in an image of the tag.
public struct Type5Contents: Sendable, Hashable {
    /// The product.
    public var product: Type5Product
    /// The UID, most significant byte (E0) first. On the air the order is reversed.
    public var uid: [UInt8]
    /// The blocks, without a counter's block.
    public var memory: [UInt8]
    /// The locked blocks. This can't be undone.
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
    /// The passwords of ICODE SLIX and SLIX2 by identifier: 01 read, 02 write, 04 privacy, 08 destroy, 10 surveillance
    /// and application family.
    @Hidden public var passwords: [UInt8: UInt32]
    /// The answer to READ SIGNATURE, 32 bytes; zeros unless it was given.
    public var signature: [UInt8]
    /// The counter of ICODE SLIX2, or the event counter of ST25TV.
    public var counter: UInt16 = 0
    /// The protection of an ICODE.
    public var protection = ICODEProtection()
    /// The registers, passwords and modes of an ST25TV or ST25DV.
    public var settings: ST25Settings

    /// Creates a new tag with an empty NDEF format.
    ///
    /// - Parameters:
    ///   - product: the product.
    ///   - uid: the UID, 8 bytes; nil for a default one with the product's prefix.
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

    /// Returns a UID with the product's prefix, always the same.
    public static func defaultUID(_ product: Type5Product) -> [UInt8] {
        product.uidPrefix + [0x00, 0x00, 0x00, 0x11, 0x22, 0x33, 0x44].suffix(8 - product.uidPrefix.count)
    }

    /// Returns the capability container for the whole memory (NFC Forum T5T 1.0, 4.3.1). READ MULTIPLE is supported.
    /// With more than 256 blocks, addresses have two bytes; with more than 2040 bytes, the size has two.
    static func capabilityContainer(_ product: Type5Product) -> [UInt8] {
        let bytes = product.dataBlockCount * product.blockSize
        let magic: UInt8 = product.blockCount > 256 ? 0xE2 : 0xE1
        let size = (bytes - 4) / 8
        if magic == 0xE1, size <= 0xFF { return [magic, 0x40, UInt8(size), 0x01] }
        let large = (bytes - 8) / 8
        return [magic, 0x40, 0x00, 0x01, 0x00, 0x00, UInt8(truncatingIfNeeded: large >> 8), UInt8(large & 0xFF)]
    }

    /// The last block of a product with a counter: the counter, least significant byte first, and whether counting is
    /// protected in the last byte. Empty for other products.
    package var counterBlock: [UInt8] {
        guard product.features.contains(.counter) else { return [] }
        return counter.littleEndianBytes + [0x00, protection.isCounterProtected ? 0x01 : 0x00]
    }

    /// Reads the counter and its protection from the last block of a whole memory.
    package mutating func readCounterBlock(_ memory: [UInt8]) {
        guard product.features.contains(.counter), memory.count >= 4 else { return }
        counter = UInt16(memory.littleEndian(at: memory.count - 4, count: 2))
        protection.isCounterProtected = memory[memory.count - 1] & 0x01 != 0
    }

    /// Returns the locked blocks of other programs' files: one byte per block, not zero when it is locked.
    package static func blocks(lockedBy flags: ArraySlice<UInt8>) -> Set<Int> {
        Set(zip(0..., flags).compactMap { block, flag in flag == 0 ? nil : block })
    }
}
