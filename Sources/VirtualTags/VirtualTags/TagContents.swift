// SPDX-License-Identifier: Apache-2.0
import TagProducts

/// The persistent state of a tag of any type.
public indirect enum TagContents: Sendable, Hashable {
    case type1(Type1Contents)
    case type2(Type2Contents)
    case type3(VirtualType3Tag.Contents)
    case type4(Type4Contents)
    case type5(Type5Contents)
    case classic(ClassicContents)
    case nfcA(NFCAContents)

    /// Creates the contents from the current state of a virtual tag; nil for a tag that can't be stored in an image.
    public init?(of tag: any VirtualTag) {
        switch tag {
        case let tag as VirtualType1Tag: self = .type1(tag.contents)
        case let tag as VirtualType2Tag: self = .type2(tag.contents)
        case let tag as VirtualType3Tag: self = .type3(tag.contents)
        case let tag as VirtualType4Tag:
            guard let contents = tag.contents else { return nil }
            self = .type4(contents)
        case let tag as VirtualType5Tag: self = .type5(tag.contents)
        case let tag as ClassicTag: self = .classic(tag.contents)
        case let tag as NFCATag: self = .nfcA(tag.contents)
        default: return nil
        }
    }

    /// Creates a virtual tag with these contents.
    public func makeTag() -> any VirtualTag {
        switch self {
        case .type1(let contents): VirtualType1Tag(contents)
        case .type2(let contents): VirtualType2Tag(contents)
        case .type3(let contents): VirtualType3Tag(contents)
        case .type4(let contents): VirtualType4Tag(contents)
        case .type5(let contents): VirtualType5Tag(contents)
        case .classic(let contents): ClassicTag(contents)
        case .nfcA(let contents): NFCATag(contents)
        }
    }

    /// The tag's NFC Forum platform, 1 to 5; nil for other tags, such as a MIFARE Classic.
    public var tagType: Int? {
        switch self {
        case .type1: 1
        case .type2: 2
        case .type3: 3
        case .type4: 4
        case .type5: 5
        case .classic, .nfcA: nil
        }
    }

    /// The product's name as a reader finds it, such as `NTAG215` or `MIFARE DESFire EV1 4K`. If the tag does not
    /// identify its product, this is ``model``.
    public var product: String {
        let name: String? =
            switch self {
            case .type2(let contents): contents.version.flatMap { Type2Product.name(version: $0) }
            case .type3(.standard(let contents)):
                contents.pmm.dropFirst().first.flatMap { CardName.ofFeliCa(icCode: $0) }
            case .type4(let contents):
                switch contents.kind {
                case .desfire(let desfire): CardName.ofNXP(hardware: desfire.version)
                case .version(let card): CardName.ofNXP(hardware: card.version)
                case .mifarePlus(let card): CardName.ofNXP(hardware: card.version)
                default: nil
                }
            case .type5(let contents) where !Type5Product.all.contains(contents.product):
                Type5Family.of(contents.uid)?
                    .name(memorySize: contents.product.blockCount * contents.product.blockSize)
            default: nil
            }
        return name ?? model
    }

    /// The name of the model in this project's images, such as `NTAG215` or `DESFire EV1`.
    public var model: String {
        switch self {
        case .type1(let contents): contents.product.rawValue
        case .type2(let contents): contents.product.name
        case .type3(.liteS): "FeliCa Lite-S"
        case .type3(.standard(let contents)): contents.systems.map(\.code) == [0x12FC] ? "generic Type 3" : "FeliCa"
        case .type4(let contents): contents.product
        case .type5(let contents): contents.product.name
        case .classic(let contents): contents.product.rawValue
        case .nfcA: "generic NFC-A"
        }
    }

    /// The UID, the IDm of a Type 3 tag, or the PUPI of a Type 4B tag.
    public var uid: [UInt8] {
        switch self {
        case .type1(let contents): contents.uid
        case .type2(let contents): contents.uid
        case .type3(.liteS(let contents)): contents.idm
        case .type3(.standard(let contents)): contents.idm
        case .type4(let contents): contents.identifier
        case .type5(let contents): contents.uid
        case .classic(let contents): contents.uid
        case .nfcA(let contents): contents.uid
        }
    }

    /// The contents of a Type 2 tag; nil for other types.
    public var type2: Type2Contents? { if case .type2(let contents) = self { contents } else { nil } }
}

extension TagContents {
    /// Whether the contents include secrets: keys, passwords, a travel document or a payment card.
    ///
    /// Passwords and keys of new products are not secret. Neither are zeros, which dumps have for unreadable data.
    public var holdsSecrets: Bool {
        switch self {
        case .type1, .nfcA: false
        case .type2(let contents): contents.holdsSecrets
        case .type3(.liteS(let contents)): contents.cardKey.contains { $0 != 0 }
        case .type3(.standard(let contents)): contents.systems.contains(where: \.holdsSecrets)
        case .type4(let contents): contents.holdsSecrets
        case .type5(let contents): contents.holdsSecrets
        case .classic(let contents): contents.holdsSecrets
        }
    }
}

extension ClassicContents {
    /// Whether a sector has a key that is not public.
    fileprivate var holdsSecrets: Bool {
        keyRanges.contains { range in
            range.upperBound <= memory.count && !ClassicProduct.publicKeys.contains(Array(memory[range]))
        }
    }
}

extension Type2Contents {
    /// Whether a page of the password or the keys is neither zero nor a new tag's.
    fileprivate var holdsSecrets: Bool {
        secretPages.contains { page in
            guard memory.count >= 4 * page + 4 else { return false }
            let now = Array(memory[4 * page..<4 * page + 4])
            return now.contains { $0 != 0 } && now != product.factoryConfiguration[page]
        }
    }
}

extension Type4Contents {
    fileprivate var holdsSecrets: Bool {
        switch kind {
        case .ndef, .version, .unspecified: false
        case .desfire(let contents):
            ([contents.masterKey] + contents.applications.flatMap(\.keys)).contains { !$0.isZero }
        case .ntag424(let contents): contents.keys.contains { !$0.isZero }
        case .mifarePlus(let contents): contents.keys.values.contains { $0.bytes.contains { $0 != 0xFF } }
        // A travel document has a person's data, a payment card its number, an application its keys.
        case .emrtd, .emv, .applications: true
        }
    }
}

extension FeliCaSystem {
    fileprivate var holdsSecrets: Bool {
        ([key ?? []] + nodeKeys.values).contains { $0.contains { $0 != 0 } }
    }
}

extension DESFireKey {
    /// Whether the key is that of a new card. The version is ignored.
    fileprivate var isZero: Bool { bytes == Self.zero(kind, version: version).bytes }
}

extension Type5Contents {
    fileprivate var holdsSecrets: Bool {
        let delivered = Type5Contents(blank: product).passwords
        return passwords.contains { $0.value != 0 && $0.value != delivered[$0.key] }
            || settings.passwords.contains { $0.contains { $0 != 0 } }
    }
}

/// A product of any type with a virtual model. It creates the contents of a new tag.
///
/// ```swift
/// let contents = TagProduct(named: "ICODE SLIX2")?.blank()
/// let tag = contents?.makeTag()
/// ```
public struct TagProduct: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Sendable, Hashable {
        case type1(Type1Product)
        case type2(Type2Product)
        case feliCaLiteS
        case genericType3
        case genericType4A
        case genericType4B
        case desfire(DESFireContents.Size)
        case ntag424
        case mifarePlus(ClassicProduct)
        /// A card with one of the applications of ``StoredApplications``, by its name.
        case application(String)
        case type5(Type5Product)
        case genericType5
        case classic(ClassicProduct)
    }

    /// The product's name, such as `NTAG215`.
    public let name: String
    private let kind: Kind

    public var description: String { name }

    /// Every product, in the order of the tag types.
    public static let all: [TagProduct] =
        Type1Product.allCases.map { TagProduct(name: $0.rawValue, kind: .type1($0)) }
        + Type2Product.all.map { TagProduct(name: $0.name, kind: .type2($0)) }
        + [
            TagProduct(name: "FeliCa Lite-S", kind: .feliCaLiteS),
            TagProduct(name: "generic Type 3", kind: .genericType3),
            TagProduct(name: "generic Type 4", kind: .genericType4A),
            TagProduct(name: "generic Type 4B", kind: .genericType4B),
            TagProduct(name: "MIFARE DESFire EV1 2K", kind: .desfire(.kilobytes2)),
            TagProduct(name: "MIFARE DESFire EV1 4K", kind: .desfire(.kilobytes4)),
            TagProduct(name: "MIFARE DESFire EV1 8K", kind: .desfire(.kilobytes8)),
            TagProduct(name: "NTAG 424 DNA", kind: .ntag424),
            TagProduct(name: "MIFARE Plus EV1 2K SL3", kind: .mifarePlus(.plus2K)),
            TagProduct(name: "MIFARE Plus EV1 4K SL3", kind: .mifarePlus(.classic4K)),
            TagProduct(name: "OATH card", kind: .application("oath")),
            TagProduct(name: "PIV card", kind: .application("piv")),
            TagProduct(name: "EMV test card", kind: .application("emv")),
        ]
        + Type5Product.all.map { TagProduct(name: $0.name, kind: .type5($0)) }
        + [TagProduct(name: "generic Type 5", kind: .genericType5)]
        + ClassicProduct.allCases.map { TagProduct(name: $0.rawValue, kind: .classic($0)) }

    private init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// Finds a product by its ``name``, ignoring case, spaces and hyphens, with `u` for `µ`. Short forms without
    /// `MIFARE`, `MIFARE Ultralight EV1` or `ICODE` are also accepted, such as `Ultralight C`, `UL21`, `Classic 1K` or
    /// `SLIX`.
    public init?(named name: String) {
        let wanted = ProductName(name)
        let families = ["mifare", "mifareultralightev1", "icode"]
        guard let product = Self.all.first(where: { wanted.names($0.name, withoutFamilies: families) }) else {
            return nil
        }
        self = product
    }

    /// The NFC Forum platform, 1 to 5; nil for other products, such as a MIFARE Classic.
    public var tagType: Int? {
        switch kind {
        case .type1: 1
        case .type2: 2
        case .feliCaLiteS, .genericType3: 3
        case .genericType4A, .genericType4B, .desfire, .ntag424: 4
        case .type5, .genericType5: 5
        case .classic, .mifarePlus, .application: nil
        }
    }

    /// The possible lengths of the UID in bytes. For a Type 3 tag, the UID is the IDm; for a Type 4B tag, the PUPI.
    public var identifierLengths: [Int] {
        switch kind {
        case .type1, .type2, .desfire, .ntag424, .mifarePlus, .application: [7]
        case .genericType4A: [4, 7, 10]
        case .genericType4B: [4]
        case .feliCaLiteS, .genericType3, .type5, .genericType5: [8]
        case .classic: [4, 7]
        }
    }

    /// The possible sizes in bytes, including the message's overhead; nil if the product has only one size.
    public var sizes: ClosedRange<Int>? {
        switch kind {
        case .genericType3: 16...0x1_0000
        case .genericType4A, .genericType4B: 5...0x7FFF
        case .genericType5: 16...0x2000
        default: nil
        }
    }

    private static let defaultSize = 1024

    /// Creates the contents of a new tag. If it supports NDEF, it is formatted and has an empty message. The UID
    /// defaults to a random one that fits the product. The size must be within ``sizes``; it is rounded up to whole
    /// blocks and defaults to 1024.
    public func blank(uid: [UInt8]? = nil, size: Int? = nil) -> TagContents {
        var generator = SystemRandomNumberGenerator()
        let uid = uid ?? identifier(using: &generator)
        precondition(identifierLengths.contains(uid.count), "the UID must have a length that the product supports")
        let size = size ?? Self.defaultSize
        switch kind {
        case .type1(let product): return .type1(Type1Contents(blank: product, uid: uid))
        case .type2(let product): return .type2(Type2Contents(blank: product, uid: uid))
        case .feliCaLiteS: return .type3(.liteS(FeliCaLiteSContents(idm: uid)))
        case .genericType3:
            let system = FeliCaSystem(ndefBlocks: (size + 15) / 16, maximumRead: 12, maximumWrite: 8)
            return .type3(.standard(FeliCaStandardContents(idm: uid, systems: [system])))
        case .genericType4A:
            return Self.generic(.nfcA(uid: uid, ats: [0x05, 0x78, 0x80, 0x70, 0x02]), size: size)
        case .genericType4B: return Self.generic(.nfcB(pupi: uid), size: size)
        case .desfire(let size):
            return Self.card(uid, ats: [0x06, 0x75, 0x77, 0x81, 0x02, 0x80], .desfire(.ndef(uid: uid, size: size)))
        case .ntag424:
            return Self.card(uid, ats: [0x06, 0x77, 0x77, 0x71, 0x02, 0x80], .ntag424(NTAG424Contents(uid: uid)))
        case .mifarePlus(let size):
            let ats: [UInt8] = [0x0C, 0x75, 0x77, 0x80, 0x02, 0xC1, 0x05, 0x21, 0x30, 0x00, 0x77, 0xC1]
            let frontEnd = Type4FrontEnd.nfcA(uid: uid, atqa: size.atqa(uidLength: uid.count), ats: ats)
            return .type4(Type4Contents(frontEnd: frontEnd, kind: .mifarePlus(.init(blank: size, uid: uid))))
        case .application(let name):
            // The historical bytes declare chains of commands and extended length (ISO/IEC 7816-4, 12.1.1).
            let ats: [UInt8] = [0x0A, 0x78, 0x80, 0x70, 0x02, 0x80, 0x73, 0x80, 0x01, 0xC0]
            return Self.card(uid, ats: ats, .applications(StoredApplications(new: name)))
        case .type5(let product): return .type5(Type5Contents(blank: product, uid: uid))
        case .genericType5:
            return .type5(Type5Contents(blank: .generic(blockCount: (size + 3) / 4), uid: uid))
        case .classic(let product): return .classic(ClassicContents(blank: product, uid: uid))
        }
    }

    private static func generic(_ frontEnd: Type4FrontEnd, size: Int) -> TagContents {
        .type4(Type4Contents(frontEnd: frontEnd, kind: .ndef(files: NDEFApplication(size: size).files)))
    }

    private static func card(_ uid: [UInt8], ats: [UInt8], _ kind: Type4Contents.Kind) -> TagContents {
        .type4(Type4Contents(frontEnd: .nfcA(uid: uid, ats: ats), kind: kind))
    }

    package func identifier(using generator: inout some RandomNumberGenerator) -> [UInt8] {
        func random(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
        switch kind {
        case .type1: return random(7)
        case .type2, .genericType4A, .desfire, .ntag424, .mifarePlus, .application:
            return Type2Contents.randomUID(using: &generator)
        // Manufacturer 02FE is for NFC Forum tags without a known product.
        case .feliCaLiteS, .genericType3: return [0x02, 0xFE] + random(6)
        case .genericType4B: return random(4)
        case .type5(let product): return product.uidPrefix + random(8 - product.uidPrefix.count)
        case .genericType5: return [0xE0] + random(7)
        // The UID must start neither with the cascade tag nor with the mark of a random UID (ISO/IEC 14443-3, 6.5.4).
        case .classic: return [0x10] + random(3)
        }
    }
}
