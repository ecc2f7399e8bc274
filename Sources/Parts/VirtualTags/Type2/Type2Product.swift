// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A product of the MIFARE Ultralight and NTAG families, as its data sheet describes it: what a ``Type2Tag`` is.
///
/// All products are answers to the same commands over pages of four octets; the table in ``all`` says which has what.
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
        /// 3DES authentication, with AUTH0 and AUTH1 in pages 42 and 43 and the key behind them.
        package static let tripleDES = Features(rawValue: 1 << 8)
        /// VCSL.
        package static let virtualCardSelect = Features(rawValue: 1 << 9)
        /// SECTOR SELECT.
        package static let sectors = Features(rawValue: 1 << 10)
        /// UID and counter in ASCII laid over the pages.
        package static let mirror = Features(rawValue: 1 << 11)
        /// Commands that the product does not have are not answered. Others refuse them.
        package static let ignoresUnknownCommands = Features(rawValue: 1 << 12)
    }

    /// When new lock bits take effect.
    enum LockActivation: Sendable {
        case atOnce
        case nextActivation
    }

    /// The product's name, such as `NTAG213` or `MIFARE Ultralight EV1 UL11`.
    public let name: String

    /// How many pages the memory has, those that can't be read included.
    public let pageCount: Int

    /// The pages for data, from 4 on. Pages of the second sector count from 256.
    public let userPages: ClosedRange<Int>

    /// The answer to GET_VERSION, or nil when the product does not have the command.
    public let version: [UInt8]?

    /// The size octet of the capability container that the product is delivered with: octets of the data area / 8.
    public let capabilitySize: UInt8

    /// What the data pages begin with when the product is delivered: TLVs.
    let factoryData: [UInt8]
    package let features: Features
    let lockActivation: LockActivation
    /// The lock bits outside of page 2.
    package let dynamicLock: LockField?
    /// The first of the configuration pages.
    package let configurationPage: Int?
    /// Octets of the configuration and other pages behind the data, at delivery.
    package let factoryConfiguration: [Int: [UInt8]]
    /// How many pages READ reaches; later ones are write-only.
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

    /// The product of this name, whatever its case, spaces and hyphens.
    ///
    /// - Parameter name: a name as in ``name``, or a short form of it without `MIFARE` or `MIFARE Ultralight EV1`, such as
    ///   `Ultralight C` or `UL21`.
    public init?(named name: String) {
        let wanted = Self.normalized(name)
        let forms = [wanted, "mifare" + wanted, "mifareultralightev1" + wanted]
        guard let product = Self.all.first(where: { forms.contains(Self.normalized($0.name)) }) else { return nil }
        self = product
    }

    /// Lower case letters and digits only.
    private static func normalized(_ name: String) -> String {
        name.lowercased().filter { ("a"..."z").contains($0) || ("0"..."9").contains($0) }
    }

    public var description: String { name }

    public static func == (lhs: Type2Product, rhs: Type2Product) -> Bool { lhs.name == rhs.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Lock bits of a tag, where they are, what each locks and what freezes it.
package struct LockField: Sendable {
    /// One bit that makes pages read-only.
    struct Lock: Sendable {
        /// The bit's number, from the least significant bit of the field's first octet.
        var bit: Int
        /// The pages that it locks, the second sector's from 256.
        var pages: ClosedRange<Int>
        /// The block-lock bit that freezes it.
        var frozenBy: Int
    }

    /// The page that holds the bits.
    package var page: Int
    /// The octet in the page where they begin.
    var offset: Int
    /// How many octets they take.
    var octets: Int
    var locks: [Lock]
    /// What the page's last octet reads as, or nil when it is an ordinary one.
    var lastOctet: UInt8?

    /// Bits that exist.
    private var known: UInt32 {
        locks.reduce(0) { $0 | 1 << $1.bit | 1 << $1.frozenBy }
    }

    /// The bits as they are in a memory.
    func bits(in memory: [UInt8]) -> UInt32 {
        let start = page * 4 + offset
        guard start + octets <= memory.count else { return 0 }
        return UInt32(octets: memory[start..<(start + octets)].reversed())
    }

    /// The bits after a write: bits can only be set, and not those that are frozen.
    func bits(_ old: UInt32, afterWriting new: UInt32) -> UInt32 {
        let frozen = locks.reduce(UInt32(0)) {
            old >> $1.frozenBy & 1 == 1 ? $0 | 1 << $1.bit : $0
        }
        return old | (new & known & ~frozen)
    }

    /// Whether bits lock a page.
    func locks(_ page: Int, bits: UInt32) -> Bool {
        bits != 0 && locks.contains { bits >> $0.bit & 1 == 1 && $0.pages.contains(page) }
    }
}

extension LockField {
    /// The static lock octets of page 2, which all Type 2 tags have (NFC Forum T2T 1.2, 4.2): from the low bit BLCC,
    /// BL4-9, BL10-15, LCC, L4..L15.
    static let statically = LockField(
        page: 2,
        offset: 2,
        octets: 2,
        locks: (3...15).map { Lock(bit: $0, pages: $0...$0, frozenBy: $0 == 3 ? 0 : $0 < 10 ? 1 : 2) }
    )

    /// The dynamic lock octets of NTAG21x and Ultralight EV1: two octets of lock bits, then one of block-lock bits, each
    /// of which freezes two (NTAG213/215/216 data sheet, 8.5.3).
    ///
    /// - Parameters:
    ///   - page: the page that holds them, right after the data pages.
    ///   - pagesPerBit: how many pages a bit locks.
    ///   - lastPage: the last page that is locked.
    ///   - lastOctet: what the page's last octet reads as.
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

    /// The lock octets of page 40 of Ultralight C and NTAG203: four pages a bit with two block-lock bits among them, then
    /// bits for the pages behind (MF0ICU2 data sheet, 7.5.3).
    ///
    /// - Parameter tail: the pages that bits 4 and on of the second octet lock, each frozen by the bit four below.
    static func ultralightC(tail: [ClosedRange<Int>]) -> LockField {
        let data: [Lock] = (0..<6).map { index in
            let start = 16 + index * 4
            return Lock(bit: index < 3 ? 1 + index : 2 + index, pages: start...(start + 3), frozenBy: index < 3 ? 0 : 4)
        }
        let behind = tail.enumerated().map { Lock(bit: 12 + $0, pages: $1, frozenBy: 8 + $0) }
        return LockField(page: 40, offset: 0, octets: 2, locks: data + behind)
    }
}
