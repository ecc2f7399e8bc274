// SPDX-License-Identifier: Apache-2.0
public import CardCryptography
public import TagLink

/// A virtual Type 5 tag: an ICODE, ST25TV, ST25DV or generic tag. It answers raw frames of ISO/IEC 15693.
///
/// ```swift
/// let tag = VirtualType5Tag(.icodeSLIX2)
/// let large = VirtualType5Tag(Type5Contents(blank: .st25dv64K, uid: [0xE0, 0x02, 0x26, 0, 1, 2, 3, 4]))
/// ```
///
/// A frame without content is only an EOF. It starts the next slot of an inventory, or fetches the answer to a write
/// with the option flag. The tag refuses an unsupported command with error code 01, and a wrong length with 02. If a
/// fault plan refuses a command, its code is the error code.
///
/// Modelled are passwords, privacy and destruction of the ICODE products, and the protected pages of SLIX2; areas,
/// passwords, kill and untraceable mode of ST25TV; and areas, passwords and the mailbox of ST25DV. To act as the host of
/// an ST25DV, use ``putMessage(_:)`` and ``takeMessage()``.
public final class VirtualType5Tag: ChipTag {
    /// The product.
    public let product: Type5Product
    let chip: Locked<Type5Chip>

    /// Creates a tag with the given contents. The UID must have 8 bytes, and the memory must fit into the product.
    public init(_ contents: Type5Contents) {
        let product = contents.product
        precondition(contents.uid.count == 8, "a UID of NFC-V has 8 bytes")
        precondition((1...32).contains(product.blockSize), "a block has 1 to 32 bytes")
        precondition((0...0x1_0000).contains(product.blockCount), "a tag has at most 65536 blocks")
        precondition(!product.features.contains(.counter) || product.blockSize == 4, "a counter has a block of 4 bytes")
        precondition(
            contents.memory.count <= product.dataBlockCount * product.blockSize,
            "the memory must not be larger than the product's"
        )
        let settings = contents.settings
        let delivered = ST25Settings(product)
        precondition(
            settings.registers.count == delivered.registers.count
                && settings.passwords.map(\.count) == delivered.passwords.map(\.count)
                && settings.telegram.count == 32,
            "the registers, passwords and telegram must fit the product"
        )
        self.product = product
        chip = Locked(Type5Chip(contents))
    }

    /// Creates a new tag that is formatted for NDEF but empty. The UID defaults to ``Type5Contents/defaultUID(_:)``.
    public convenience init(_ product: Type5Product, uid: [UInt8]? = nil) {
        self.init(Type5Contents(blank: product, uid: uid))
    }

    public var technology: Technology { .nfcV }

    public var identifier: [UInt8] { chip.withLock { $0.contents.uid } }

    /// The current persistent state of the tag.
    public var contents: Type5Contents { chip.withLock { $0.contents } }

    /// Puts a message of 1 to 256 bytes into the mailbox of an ST25DV, as its host would over I2C. Returns false while
    /// the mailbox is off, or while an earlier message is still unread.
    public func putMessage(_ message: [UInt8]) -> Bool {
        chip.withLock { $0.mailbox.put(message, from: .host) }
    }

    /// Takes the message that a reader put into the mailbox of an ST25DV, as its host would over I2C; nil for none.
    public func takeMessage() -> [UInt8]? {
        chip.withLock { chip in
            guard chip.mailbox.holdsMessageForHost else { return nil }
            return chip.mailbox.read(0..<chip.mailbox.message.count, by: .host)
        }
    }
}

/// The persistent state of a Type 5 tag, as in an image of the tag.
public struct Type5Contents: Sendable, Hashable {
    /// The product.
    public var product: Type5Product
    /// The UID, most significant byte (E0) first. Frames contain the reverse order.
    public var uid: [UInt8]
    /// All blocks except a counter's block; empty if an image does not have them.
    public var memory: [UInt8]
    /// The locked blocks. Locking can't be undone.
    public var lockedBlocks: Set<Int> = []
    /// The blocks that a dump does not have, because the tag refused to read them. The memory has zeros there.
    public var unreadBlocks: Set<Int> = []
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
    /// The passwords of an ICODE by identifier: 01 read, 02 write, 04 privacy, 08 destroy, 10 surveillance
    /// and application family.
    @Hidden public var passwords: [UInt8: UInt32]
    /// The answer to READ SIGNATURE, 32 bytes; zeros by default.
    public var signature: [UInt8]
    /// The counter of ICODE SLIX2, or the event counter of ST25TV.
    public var counter: UInt16 = 0
    /// The protection of an ICODE.
    public var protection = ICODEProtection()
    /// The registers, passwords and modes of an ST25TV or ST25DV.
    public var settings: ST25Settings

    /// Creates a new tag that is formatted for NDEF but empty. The UID defaults to ``defaultUID(_:)``.
    public init(blank product: Type5Product, uid: [UInt8]? = nil) {
        self.product = product
        self.uid = uid ?? Self.defaultUID(product)
        memory = Array(repeating: 0, count: product.dataBlockCount * product.blockSize)
        passwords = Self.deliveredPasswords(product)
        signature = Array(repeating: 0, count: 32)
        settings = ST25Settings(product)
        let container = Self.capabilityContainer(product)
        let formatted = container + [0x03, 0x00, 0xFE]
        memory.replaceSubrange(0..<min(formatted.count, memory.count), with: formatted.prefix(memory.count))
    }

    private static func deliveredPasswords(_ product: Type5Product) -> [UInt8: UInt32] {
        var passwords: [UInt8: UInt32] = [0x10: 0]
        if product.features.contains(.privacy) { (passwords[0x04], passwords[0x08]) = (0x0F0F_0F0F, 0x0F0F_0F0F) }
        if product.features.contains(.memoryPasswords) { (passwords[0x01], passwords[0x02]) = (0, 0) }
        return passwords
    }

    /// Returns a fixed UID with the product's prefix.
    public static func defaultUID(_ product: Type5Product) -> [UInt8] {
        product.uidPrefix + [0x00, 0x00, 0x00, 0x11, 0x22, 0x33, 0x44].suffix(8 - product.uidPrefix.count)
    }

    /// Returns the capability container for the whole memory (NFC Forum T5T 1.0, 4.3.1), with READ MULTIPLE. Addresses
    /// have two bytes if there are more than 256 blocks; the size has two if it exceeds 2040 bytes.
    static func capabilityContainer(_ product: Type5Product) -> [UInt8] {
        let bytes = product.dataBlockCount * product.blockSize
        let magic: UInt8 = product.blockCount > 256 ? 0xE2 : 0xE1
        let size = (bytes - 4) / 8
        if magic == 0xE1, size <= 0xFF { return [magic, 0x40, UInt8(size), 0x01] }
        let large = (bytes - 8) / 8
        return [magic, 0x40, 0x00, 0x01, 0x00, 0x00, UInt8(truncatingIfNeeded: large >> 8), UInt8(large & 0xFF)]
    }

    /// The last block of a product with a counter: the counter, least significant byte first, and in the last byte
    /// whether counting is protected. Empty for other products.
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

    /// Returns the locked blocks from a dump's flags: one byte per block, nonzero for a locked block.
    package static func blocks(lockedBy flags: ArraySlice<UInt8>) -> Set<Int> {
        Set(zip(0..., flags).compactMap { block, flag in flag == 0 ? nil : block })
    }
}

/// The persistent protection state of an ICODE SLIX or SLIX2 (SL2S2002 data sheet, 9.4; SL2S2602, 9.5).
public struct ICODEProtection: Sendable, Hashable {
    /// The protection of the two pages of SLIX2 by the read and the write password, as set with PROTECT PAGE.
    public struct Condition: OptionSet, Sendable, Hashable {
        public var rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The lower page needs the read password.
        public static let readLow = Condition(rawValue: 0x01)
        /// Writing to the lower page needs the write password.
        public static let writeLow = Condition(rawValue: 0x02)
        /// The higher page needs the read password.
        public static let readHigh = Condition(rawValue: 0x10)
        /// Writing to the higher page needs the write password.
        public static let writeHigh = Condition(rawValue: 0x20)
    }

    /// The first block of the higher page.
    public var pointer: UInt8 = 0
    /// The protection of the two pages.
    public var condition: Condition = []
    /// Whether the pointer and the condition are locked.
    public var isConditionLocked = false
    /// The identifiers of the locked passwords.
    public var lockedPasswords: Set<UInt8> = []
    /// Whether access needs both the read and the write password, as one 64-bit password.
    public var needsBothPasswords = false
    /// Whether the surveillance commands need a password.
    public var isSurveillanceProtected = false
    /// Whether changing the application family needs a password.
    public var isFamilyProtected = false
    /// The identifier for selective surveillance.
    public var surveillanceIdentifier: UInt16 = 0
    /// Whether counting needs the read password.
    public var isCounterProtected = false
    /// Whether the tag is in privacy mode, in which it only answers GET RANDOM NUMBER and SET PASSWORD.
    public var isPrivate = false
    /// Whether the tag is destroyed, so that it never answers again.
    public var isDestroyed = false
    /// Whether the tag stays quiet after a loss of power.
    public var isPersistentlyQuiet = false
    /// Whether the tag accepts every password. No real ICODE does, but an emulated ICODE may.
    public var acceptsEveryPassword = false

    /// Creates the state of a new tag.
    public init() {}
}

/// The persistent state of an ST25TV or ST25DV apart from its memory: registers, passwords and modes (DS12074 and
/// DS10925).
public struct ST25Settings: Sendable, Hashable {
    /// The static configuration, indexed by the pointers of READ CONFIGURATION: 00 to 07 on ST25TV, 00 to 0F on ST25DV.
    /// The lock of the container, the counter and the tamper loop are stored elsewhere.
    public var registers: [UInt8]
    /// The four passwords. ST25TV: 4 bytes each, for kill and untraceable mode, area 1, area 2, and configuration.
    /// ST25DV: 8 bytes each, for configuration and three areas.
    @Hidden public var passwords: [[UInt8]]
    /// ST25TV: whether the kill password is locked.
    public var isKillLocked = false
    /// ST25TV: whether the tag was killed. A killed tag never answers again.
    public var isKilled = false
    /// ST25TV: whether the tag is untraceable. An untraceable tag only answers GET RANDOM NUMBER and PRESENT PASSWORD.
    public var isUntraceable = false
    /// ST25TV: whether the surveillance bit is set.
    public var isSurveillanceSet = false
    /// ST25TV: whether the surveillance bit, identifier and telegram are locked.
    public var isSurveillanceLocked = false
    /// ST25TV: the identifier for surveillance.
    public var surveillanceIdentifier: UInt16 = 0
    /// ST25TV: the 32 bytes of the surveillance telegram.
    public var telegram: [UInt8]
    /// ST25TV: how much of the telegram is sent: 32 bytes for 0, halved by each step up to 3.
    public var telegramLength: UInt8 = 0
    /// ST25TV02K: whether the tamper loop is closed, that is, intact.
    public var isTamperLoopClosed = true
    /// ST25DV: whether the chip has a supply besides the field, such as a running host. The mailbox needs this supply.
    public var isSupplied = true

    /// Creates the state of a new tag of a product.
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
