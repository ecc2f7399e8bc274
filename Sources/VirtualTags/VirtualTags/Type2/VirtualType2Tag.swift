// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 2 tag: a MIFARE Ultralight or NTAG product that answers raw frames from its memory.
///
/// ```swift
/// let tag = VirtualType2Tag(.ntag215, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
/// ```
///
/// Commands, refusals, locks, counters and passwords follow the product's data sheet. ``contents`` reads the memory at
/// any time between two exchanges.
public final class VirtualType2Tag: ChipTag {
    /// The product.
    public let product: Type2Product
    let chip: Locked<Type2Chip>

    /// Creates a tag with the given contents. The UID must have 4, 7 or 10 bytes.
    public init(_ contents: Type2Contents) {
        precondition([4, 7, 10].contains(contents.uid.count), "a UID of NFC-A has 4, 7 or 10 bytes")
        product = contents.product
        chip = Locked(Type2Chip(contents))
    }

    /// Creates a new tag that is formatted for NDEF but empty, by default with a random UID.
    public convenience init(_ product: Type2Product, uid: [UInt8]? = nil) {
        var generator = SystemRandomNumberGenerator()
        self.init(Type2Contents(blank: product, uid: uid ?? Type2Contents.randomUID(using: &generator)))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] { chip.withLock { $0.contents.uid } }

    /// The current persistent state of the tag.
    public var contents: Type2Contents { chip.withLock { $0.contents } }
}

/// The persistent state of a Type 2 tag, as in an image of the tag.
public struct Type2Contents: Sendable, Hashable {
    /// The product.
    public var product: Type2Product
    /// The UID that the tag answers with: 4, 7 or 10 bytes. Pages 0 and 1 of the memory also contain it.
    public var uid: [UInt8]
    /// All pages, four bytes each, starting at page 0; the second sector follows the 256 pages of the first. Missing
    /// pages at the end get the values of a new tag.
    public var memory: [UInt8]
    /// ATQA. The low byte is sent first.
    public var atqa: UInt16 = 0x0044
    /// SAK.
    public var sak: UInt8 = 0x00
    /// The answer to GET_VERSION.
    public var version: [UInt8]?
    /// The answer to READ_SIG, 32 bytes; zeros by default.
    public var signature: [UInt8]
    /// The three 24-bit counters. NTAG213, 215, 216, 223 DNA and 224 DNA use the last one.
    public var counters: [UInt32]
    /// The answers to CHECK_TEARING_EVENT: BD for an intact counter.
    public var tearingFlags: [UInt8]
    /// The number of wrong passwords in a row.
    public var failedAuthentications = 0

    /// Creates a new tag that is formatted for NDEF but empty. The UID has 7 bytes; its check bytes are computed.
    public init(blank product: Type2Product, uid: [UInt8]) {
        self.product = product
        self.uid = uid
        version = product.version
        signature = Array(repeating: 0, count: 32)
        counters = [0, 0, 0]
        tearingFlags = [0xBD, 0xBD, 0xBD]
        memory = Self.factoryMemory(product)
        let head = Self.manufacturerBytes(uid, product)
        memory.replaceSubrange(0..<head.count, with: head)
    }

    /// Returns an NXP UID with random bytes. The fourth byte is never 88, because the second part of the UID would then
    /// begin with the cascade tag (ISO/IEC 14443-3, 6.5.4).
    public static func randomUID(using generator: inout some RandomNumberGenerator) -> [UInt8] {
        var uid = [0x04] + (0..<6).map { _ in UInt8.random(in: 0...255, using: &generator) }
        if uid[3] == 0x88 { uid[3] = 0x08 }
        return uid
    }

    /// Returns the first nine bytes of the memory, with the UID and its check bytes (ISO/IEC 14443-3, 6.5.4).
    ///
    /// On NTAG I2C, SAK and ATQA replace the check bytes (NT3H2111/NT3H2211 data sheet, 8.3.5).
    private static func manufacturerBytes(_ uid: [UInt8], _ product: Type2Product) -> [UInt8] {
        if product.features.contains(.sectors), uid.count == 7 { return uid + [0x00, 0x44, 0x00] }
        guard uid.count == 7 else { return Array((uid + [uid.reduce(0, ^)]).prefix(9)) }
        let first = Array(uid[0..<3])
        let second = Array(uid[3..<7])
        return first + [first.reduce(0x88, ^)] + second + [second.reduce(0, ^)]
    }

    static func factoryMemory(_ product: Type2Product) -> [UInt8] {
        var memory = [UInt8](repeating: 0, count: product.pageCount * 4)
        // Byte 1 of page 2, called "internal" in the data sheet, reads as 48.
        memory[9] = 0x48
        memory.replaceSubrange(12..<16, with: [0xE1, 0x10, product.capabilitySize, 0x00])
        memory.replaceSubrange(16..<(16 + product.factoryData.count), with: product.factoryData)
        for (page, bytes) in product.factoryConfiguration {
            memory.replaceSubrange((page * 4)..<(page * 4 + 4), with: bytes)
        }
        if let lock = product.dynamicLock, let last = lock.lastByte {
            memory[lock.page * 4 + 3] = last
        }
        return memory
    }
}

extension Type2Contents {
    /// These contents with a full memory. Missing pages at the end get the values of a new tag.
    package var completed: Type2Contents { Type2Chip(self).contents }

    /// The pages that static and dynamic lock bits make read-only, starting at 3. Pages in the second sector are
    /// numbered from 256.
    public var lockedPages: [Int] {
        let memory = completed.memory
        let fields = [LockField.statically] + (product.dynamicLock.map { [$0] } ?? [])
        let bits = fields.map { $0.bits(in: memory) }
        return (3..<product.pageCount).filter { page in
            zip(fields, bits).contains { $0.locks(page, bits: $1) }
        }
    }

    /// The first page that needs the password; nil if no page needs it.
    public var firstProtectedPage: Int? {
        let start = Type2Chip(self).latched.protectionStart
        return start < product.pageCount ? start : nil
    }

    /// Whether reading the pages from ``firstProtectedPage`` on needs the password or the key too, not only writing.
    public var protectsReading: Bool { Type2Chip(self).latched.protectsReading }

    /// The ACCESS byte of the configuration (NTAG213/215/216 data sheet, 8.5.7): PROT in bit 7, CFGLCK in bit 6,
    /// NFC_CNT_EN in bit 4, NFC_CNT_PWD_PROT in bit 3, and AUTHLIM in bits 2 to 0. Nil for a product without a password.
    public var access: UInt8? {
        product.features.contains(.password) ? Type2Chip(self).configurationAccess : nil
    }

    /// The numbers of the product's counters, as sent by readers: all three, the third, or none.
    public var countersOfProduct: [Int] {
        if product.features.contains(.counters) { return [0, 1, 2] }
        return product.features.contains(.readingCounter) ? [2] : []
    }
}

// Printing these contents must not show the password and keys, which are in the middle of the memory.

extension Type2Contents: CustomReflectable, CustomStringConvertible {
    /// The parts to print, with zeros instead of the password and the keys.
    public var customMirror: Mirror {
        let places = secretPages.map { 4 * $0..<4 * $0 + 4 }
        return Mirror(
            self,
            children: [
                "product": product, "uid": uid, "memory": memory.concealing(places), "atqa": atqa, "sak": sak,
                "version": version as Any, "signature": signature, "counters": counters,
                "tearingFlags": tearingFlags, "failedAuthentications": failedAuthentications,
            ],
            displayStyle: .struct
        )
    }

    /// The product, the UID and the size.
    public var description: String { "\(product), UID \(uid.hexText()), \(memory.count) bytes" }
}

extension Type2Contents {
    /// The pages with the password (PWD and PACK) and the keys.
    package var secretPages: [Int] {
        var pages: [Int] = []
        if product.features.contains(.password), let start = product.configurationPage {
            pages += [start + 2, start + 3]
        }
        if product.features.contains(.tripleDES) { pages += 44...47 }
        pages += product.aesPages.map(Array.init) ?? []
        return pages
    }
}
