// SPDX-License-Identifier: Apache-2.0

/// A product of the MIFARE Ultralight and NTAG families, as described by its data sheet. A ``VirtualType2Tag`` is of one
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

    /// Finds a product by name. Case, spaces and hyphens don't matter, and `u` stands for `µ`.
    ///
    /// - Parameter name: a name as in ``name``; or a short form without `MIFARE` or `MIFARE Ultralight EV1`, such as
    ///   `Ultralight C` or `UL21`.
    public init?(named name: String) {
        let wanted = ProductName(name)
        let product = Self.all.first { wanted.names($0.name, withoutFamilies: ["mifare", "mifareultralightev1"]) }
        guard let product else { return nil }
        self = product
    }

    public var description: String { name }

    public static func == (lhs: Type2Product, rhs: Type2Product) -> Bool { lhs.name == rhs.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
