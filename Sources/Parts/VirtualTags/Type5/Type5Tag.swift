// SPDX-License-Identifier: Apache-2.0
public import CardCryptography
public import TagLink

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
    @Hidden public var passwords: [UInt8: UInt32]
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

    /// The last block of a product with a counter: the counter, least significant byte first, and in its last byte whether
    /// counting is protected. Empty for other products.
    package var counterBlock: [UInt8] {
        guard product.features.contains(.counter) else { return [] }
        return counter.littleEndianOctets + [0x00, protection.isCounterProtected ? 0x01 : 0x00]
    }

    /// Takes over the counter and its protection from a whole memory whose last block they are.
    package mutating func readCounterBlock(_ memory: [UInt8]) {
        guard product.features.contains(.counter), memory.count >= 4 else { return }
        counter = UInt16(memory.littleEndian(at: memory.count - 4, count: 2))
        protection.isCounterProtected = memory[memory.count - 1] & 0x01 != 0
    }

    /// The blocks that other programs' files call locked: one octet each, which is not zero.
    package static func blocks(lockedBy flags: ArraySlice<UInt8>) -> Set<Int> {
        Set(zip(0..., flags).compactMap { block, flag in flag == 0 ? nil : block })
    }
}

/// What an ST25TV or ST25DV keeps without power besides its memory: registers, passwords, modes (DS12074 and DS10925).
public struct ST25Settings: Sendable, Hashable {
    /// The static configuration, by the pointers of READ CONFIGURATION: 00 to 07 of ST25TV, 00 to 0F of ST25DV. The lock
    /// of the container, the counter and the tamper loop are kept elsewhere.
    public var registers: [UInt8]
    /// The four passwords: of ST25TV 4 octets each for kill and untraceable mode, area 1, area 2, and configuration; of
    /// ST25DV 8 octets each for configuration and three for areas.
    @Hidden public var passwords: [[UInt8]]
    /// ST25TV: whether the kill password is locked.
    public var isKillLocked = false
    /// ST25TV: whether the tag was killed: it never answers again.
    public var isKilled = false
    /// ST25TV: whether the tag is untraceable: it answers GET RANDOM NUMBER and PRESENT PASSWORD alone.
    public var isUntraceable = false
    /// ST25TV: whether the surveillance bit is set.
    public var isSurveillanceSet = false
    /// ST25TV: whether the surveillance bit, identifier and telegram are locked.
    public var isSurveillanceLocked = false
    /// ST25TV: the identifier for surveillance.
    public var surveillanceIdentifier: UInt16 = 0
    /// ST25TV: the 32 octets of the surveillance telegram.
    public var telegram: [UInt8]
    /// ST25TV: how much of the telegram is sent: 32 octets, or half as many for each step from 0 to 3.
    public var telegramLength: UInt8 = 0
    /// ST25TV02K: whether the tamper loop is closed, which is to say whole.
    public var isTamperLoopClosed = true
    /// ST25DV: whether the chip has a supply besides the field, as it has beside a running host. The mailbox needs it.
    public var isSupplied = true

    /// Creates the state of a product as it is delivered.
    public init(_ product: Type5Product) {
        telegram = Array(repeating: 0, count: 32)
        let end = UInt8(truncatingIfNeeded: product.blockCount * product.blockSize / 32 - 1)
        if product.features.contains(.configuration) {
            registers = [0x88, 0x03, 0x01, 0, 0, end, 0, end, 0, end, 0, 0, 0, 0, 0x07, 0]
            passwords = Array(repeating: Array(repeating: 0, count: 8), count: 4)
        } else {
            registers = Array(repeating: 0, count: 8)
            passwords = Array(repeating: Array(repeating: 0, count: 4), count: 4)
        }
    }
}

/// A virtual Type 5 tag: an ICODE, ST25TV or ST25DV, or a generic one, answering raw frames of ISO/IEC 15693.
///
/// ```swift
/// let tag = Type5Tag(.icodeSLIX2)
/// let large = Type5Tag(Type5Contents(blank: .st25dv64K, uid: [0xE0, 0x02, 0x26, 0, 1, 2, 3, 4]))
/// ```
///
/// A frame without octets and checksum is the end of a frame alone: it opens the next slot of an inventory, and fetches
/// the answer to a write whose option flag was set. What a product does not have is refused with error code 01, a length
/// that is wrong with 02. A fault plan's refusal is answered with its code as the error code.
///
/// Passwords, protected pages, privacy and destruction of ICODE SLIX2 are modelled; so are areas, passwords, kill and
/// untraceable mode of ST25TV, and areas, passwords and the mailbox of ST25DV, whose host is played by
/// ``putMessage(_:)`` and ``takeMessage()``.
public final class Type5Tag: VirtualTag {
    /// What the tag is.
    public let product: Type5Product
    private let silicon: Locked<Type5Silicon>

    /// Creates a tag with the given contents.
    ///
    /// - Parameter contents: the contents. A UID that has not 8 octets is a mistake of the caller, as is more memory
    ///   than the product has.
    public init(_ contents: Type5Contents) {
        let product = contents.product
        precondition(contents.uid.count == 8, "a UID of NFC-V has 8 bytes")
        precondition((1...32).contains(product.blockSize), "a block has 1 to 32 bytes")
        precondition((1...0x1_0000).contains(product.blockCount), "a tag has 1 to 65536 blocks")
        precondition(
            contents.memory.count <= product.dataBlockCount * product.blockSize,
            "the memory is larger than the product's"
        )
        let settings = contents.settings
        let delivered = ST25Settings(product)
        precondition(
            settings.registers.count == delivered.registers.count
                && settings.passwords.map(\.count) == delivered.passwords.map(\.count)
                && settings.telegram.count == 32,
            "the registers, passwords and telegram are not those of the product"
        )
        self.product = product
        silicon = Locked(Type5Silicon(contents))
    }

    /// Creates a tag that is formatted for NDEF and empty.
    ///
    /// - Parameters:
    ///   - product: what the tag is.
    ///   - uid: the UID, E0 first; one of the product's form when nil.
    public convenience init(_ product: Type5Product, uid: [UInt8]? = nil) {
        self.init(Type5Contents(blank: product, uid: uid))
    }

    public var technology: Technology { .nfcV }

    public var identifier: [UInt8] {
        silicon.withLock { $0.contents.uid }
    }

    /// What the tag keeps without power, as it is now.
    public var contents: Type5Contents {
        silicon.withLock { $0.contents }
    }

    /// Puts a message into the mailbox of an ST25DV, as its host does over I2C.
    ///
    /// - Parameter message: 1 to 256 octets.
    /// - Returns: whether it was taken: not while the reader has the mailbox off, or another message waits to be read.
    public func putMessage(_ message: [UInt8]) -> Bool {
        silicon.withLock { $0.mailbox.put(message, from: .host) }
    }

    /// Takes the message that a reader put into the mailbox of an ST25DV, as its host does over I2C.
    ///
    /// - Returns: the message, or nil when none waits for the host.
    public func takeMessage() -> [UInt8]? {
        silicon.withLock { silicon in
            guard silicon.mailbox.holdsMessageForHost else { return nil }
            return silicon.mailbox.read(0..<silicon.mailbox.message.count, by: .host)
        }
    }

    public func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        silicon.withLock { $0.receive(request, disturbance: disturbance) }
    }

    public func losePower() {
        silicon.withLock { $0.losePower() }
    }
}
