// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A product of the MIFARE Ultralight and NTAG families, as described by its data sheet. A ``Type2Tag`` is of one
/// product.
///
/// All products use the same commands over pages of four bytes. The table in ``all`` lists the differences.
public struct Type2Product: Sendable, Hashable, CustomStringConvertible {
    /// Commands and registers that not every product has.
    package struct Features: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let compatibilityWrite = Features(rawValue: 1)
        package static let version = Features(rawValue: 1 << 1)
        package static let fastRead = Features(rawValue: 1 << 2)
        package static let signature = Features(rawValue: 1 << 3)
        /// PWD_AUTH, and AUTH0, ACCESS, PWD and PACK in the configuration pages.
        package static let password = Features(rawValue: 1 << 4)
        /// One 24-bit counter of readings, switched on in ACCESS.
        package static let readingCounter = Features(rawValue: 1 << 5)
        /// Three 24-bit counters, INCR_CNT and CHECK_TEARING_EVENT.
        package static let counters = Features(rawValue: 1 << 6)
        /// A 16-bit counter in page 41.
        package static let pageCounter = Features(rawValue: 1 << 7)
        /// 3DES authentication, with AUTH0 and AUTH1 in pages 42 and 43, followed by the key.
        package static let tripleDES = Features(rawValue: 1 << 8)
        /// VCSL.
        package static let virtualCardSelect = Features(rawValue: 1 << 9)
        /// SECTOR SELECT.
        package static let sectors = Features(rawValue: 1 << 10)
        /// UID and counter as ASCII text in the pages.
        package static let mirror = Features(rawValue: 1 << 11)
        /// Unknown commands are not answered. Other products refuse them.
        package static let ignoresUnknownCommands = Features(rawValue: 1 << 12)
    }

    /// When new lock bits take effect.
    enum LockActivation: Sendable {
        case atOnce
        case nextActivation
    }

    /// The product's name, such as `NTAG213` or `MIFARE Ultralight EV1 UL11`.
    public let name: String

    /// The number of pages, including those that can't be read.
    public let pageCount: Int

    /// The pages for data, starting at 4. Pages of the second sector count from 256.
    public let userPages: ClosedRange<Int>

    /// The answer to GET_VERSION; nil when the product does not have the command.
    public let version: [UInt8]?

    /// The size byte of a new tag's capability container: bytes of the data area / 8.
    public let capabilitySize: UInt8

    /// The first bytes of a new tag's data pages: TLVs.
    let factoryData: [UInt8]
    package let features: Features
    let lockActivation: LockActivation
    /// The lock bits outside of page 2.
    package let dynamicLock: LockField?
    /// The first of the configuration pages.
    package let configurationPage: Int?
    /// The bytes of the configuration and other pages after the data, on a new tag.
    package let factoryConfiguration: [Int: [UInt8]]
    /// The number of pages that READ reaches. Later pages can only be written.
    let readablePages: Int

    init(
        _ name: String,
        pageCount: Int,
        readablePages: Int? = nil,
        userPages: ClosedRange<Int>,
        version: [UInt8]? = nil,
        capabilitySize: UInt8,
        factoryData: [UInt8] = [0x03, 0x00, 0xFE, 0x00],
        features: Features,
        lockActivation: LockActivation = .atOnce,
        dynamicLock: LockField? = nil,
        configurationPage: Int? = nil,
        factoryConfiguration: [Int: [UInt8]] = [:]
    ) {
        self.name = name
        self.pageCount = pageCount
        self.readablePages = readablePages ?? pageCount
        self.userPages = userPages
        self.version = version
        self.capabilitySize = capabilitySize
        self.factoryData = factoryData
        self.features = features
        self.lockActivation = lockActivation
        self.dynamicLock = dynamicLock
        self.configurationPage = configurationPage
        self.factoryConfiguration = factoryConfiguration
    }

    /// Finds a product by name. Case, spaces and hyphens don't matter.
    ///
    /// - Parameter name: a name as in ``name``; or a short form without `MIFARE` or `MIFARE Ultralight EV1`, such as
    ///   `Ultralight C` or `UL21`.
    public init?(named name: String) {
        let wanted = Self.normalized(name)
        let forms = [wanted, "mifare" + wanted, "mifareultralightev1" + wanted]
        guard let product = Self.all.first(where: { forms.contains(Self.normalized($0.name)) }) else { return nil }
        self = product
    }

    /// Returns only the letters, in lower case, and the digits.
    private static func normalized(_ name: String) -> String {
        name.lowercased().filter { ("a"..."z").contains($0) || ("0"..."9").contains($0) }
    }

    public var description: String { name }

    public static func == (lhs: Type2Product, rhs: Type2Product) -> Bool { lhs.name == rhs.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// The lock bits of a tag: where they are, which pages each one locks, and which bit freezes it.
package struct LockField: Sendable {
    /// One bit that makes pages read-only.
    struct Lock: Sendable {
        /// The bit's number, counted from the least significant bit of the field's first byte.
        var bit: Int
        /// The pages that it locks. Pages of the second sector count from 256.
        var pages: ClosedRange<Int>
        /// The block-lock bit that freezes it.
        var frozenBy: Int
    }

    /// The page with the bits.
    package var page: Int
    /// The index of their first byte in the page.
    var offset: Int
    /// The number of bytes.
    var octets: Int
    var locks: [Lock]
    /// The value that is read for the page's last byte; nil if it is an ordinary byte.
    var lastOctet: UInt8?

    /// The existing bits.
    private var known: UInt32 {
        locks.reduce(0) { $0 | 1 << $1.bit | 1 << $1.frozenBy }
    }

    /// Returns the bits in a memory.
    func bits(in memory: [UInt8]) -> UInt32 {
        let start = page * 4 + offset
        guard start + octets <= memory.count else { return 0 }
        return UInt32(octets: memory[start..<(start + octets)].reversed())
    }

    /// Returns the bits after a write. Bits can only be set, and frozen ones don't change.
    func bits(_ old: UInt32, afterWriting new: UInt32) -> UInt32 {
        let frozen = locks.reduce(UInt32(0)) {
            old >> $1.frozenBy & 1 == 1 ? $0 | 1 << $1.bit : $0
        }
        return old | (new & known & ~frozen)
    }

    /// Returns whether the bits lock a page.
    func locks(_ page: Int, bits: UInt32) -> Bool {
        bits != 0 && locks.contains { bits >> $0.bit & 1 == 1 && $0.pages.contains(page) }
    }
}

extension LockField {
    /// The static lock bytes of page 2, on all Type 2 tags (NFC Forum T2T 1.2, 4.2). From the least significant bit:
    /// BLCC, BL4-9, BL10-15, LCC, L4..L15.
    static let statically = LockField(
        page: 2,
        offset: 2,
        octets: 2,
        locks: (3...15).map { Lock(bit: $0, pages: $0...$0, frozenBy: $0 == 3 ? 0 : $0 < 10 ? 1 : 2) }
    )

    /// The dynamic lock bytes of NTAG21x and Ultralight EV1: two bytes of lock bits, then one of block-lock bits. Each
    /// of those freezes two lock bits (NTAG213/215/216 data sheet, 8.5.3).
    ///
    /// - Parameters:
    ///   - page: the page of the lock bytes, right after the data pages.
    ///   - pagesPerBit: the number of pages per lock bit.
    ///   - lastPage: the last page that can be locked.
    ///   - lastOctet: the value that is read for the page's last byte.
    static func ntag(page: Int, pagesPerBit: Int, lastPage: Int, lastOctet: UInt8) -> LockField {
        let starts = stride(from: 16, through: lastPage, by: pagesPerBit)
        return LockField(
            page: page,
            offset: 0,
            octets: 3,
            locks: starts.enumerated().map { index, start in
                Lock(bit: index, pages: start...min(start + pagesPerBit - 1, lastPage), frozenBy: 16 + index / 2)
            },
            lastOctet: lastOctet
        )
    }

    /// The lock bytes of page 40 of Ultralight C and NTAG203: one bit for four pages, with two block-lock bits among
    /// them; then bits for the pages after the data (MF0ICU2 data sheet, 7.5.3).
    ///
    /// - Parameter tail: the pages that the bits from 4 on in the second byte lock. Each is frozen by the bit four
    ///   below.
    static func ultralightC(tail: [ClosedRange<Int>]) -> LockField {
        let data: [Lock] = (0..<6).map { index in
            let start = 16 + index * 4
            return Lock(bit: index < 3 ? 1 + index : 2 + index, pages: start...(start + 3), frozenBy: index < 3 ? 0 : 4)
        }
        let behind = tail.enumerated().map { Lock(bit: 12 + $0, pages: $1, frozenBy: 8 + $0) }
        return LockField(page: 40, offset: 0, octets: 2, locks: data + behind)
    }
}
