// SPDX-License-Identifier: Apache-2.0

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

    /// The NFC Forum platform of the tag, 1 to 5; nil for a tag of none of them, such as a MIFARE Classic.
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

    /// The product's name, such as `NTAG215`.
    public var product: String {
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
    /// Whether the contents include something that only the owner should read: keys, passwords, a travel document or a
    /// payment card.
    ///
    /// Passwords and keys of new products are not secret. Neither are zeros, because dumps have zeros in place of data
    /// that a reader can't read.
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
    /// Whether a sector has a key other than FFFFFFFFFFFF, the key of a new tag.
    fileprivate var holdsSecrets: Bool {
        keyRanges.contains { range in
            let key = memory[range.clamped(to: memory.indices)]
            return key.contains { $0 != 0 } && key.contains { $0 != 0xFF }
        }
    }
}

extension Type2Contents {
    /// Whether a password or a key differs from that of a new tag.
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
        // The data of a person, or the number of a payment card.
        case .emrtd, .emv: true
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
