// SPDX-License-Identifier: Apache-2.0

/// A product of the MIFARE Ultralight and NTAG families, as its data sheet describes it: what a ``Type2Tag`` is.
///
/// All products are answers to the same commands over pages of four octets; the table in ``all`` says which has what.
public struct Type2Product: Sendable, Hashable, CustomStringConvertible {
    /// Commands and registers that not every product has.
    struct Features: OptionSet, Sendable {
        let rawValue: Int
        static let compatibilityWrite = Features(rawValue: 1)
        static let version = Features(rawValue: 1 << 1)
        static let fastRead = Features(rawValue: 1 << 2)
        static let signature = Features(rawValue: 1 << 3)
        /// PWD_AUTH, and AUTH0, ACCESS, PWD and PACK in the configuration pages.
        static let password = Features(rawValue: 1 << 4)
        /// One 24-bit counter of readings, switched on in ACCESS.
        static let readingCounter = Features(rawValue: 1 << 5)
        /// Three 24-bit counters, INCR_CNT and CHECK_TEARING_EVENT.
        static let counters = Features(rawValue: 1 << 6)
        /// A 16-bit counter in page 41.
        static let pageCounter = Features(rawValue: 1 << 7)
        /// 3DES authentication, with AUTH0 and AUTH1 in pages 42 and 43 and the key behind them.
        static let tripleDES = Features(rawValue: 1 << 8)
        /// VCSL.
        static let virtualCardSelect = Features(rawValue: 1 << 9)
        /// SECTOR SELECT.
        static let sectors = Features(rawValue: 1 << 10)
        /// UID and counter in ASCII laid over the pages.
        static let mirror = Features(rawValue: 1 << 11)
        /// Commands that the product does not have are not answered. Others refuse them.
        static let ignoresUnknownCommands = Features(rawValue: 1 << 12)
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
    let features: Features
    let lockActivation: LockActivation
    /// The lock bits outside of page 2.
    let dynamicLock: LockField?
    /// The first of the configuration pages.
    let configurationPage: Int?
    /// Octets of the configuration and other pages behind the data, at delivery.
    let factoryConfiguration: [Int: [UInt8]]
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
