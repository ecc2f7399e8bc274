// SPDX-License-Identifier: Apache-2.0

/// What a tag of any type keeps without power.
public indirect enum TagContents: Sendable, Hashable {
    case type1(Type1Contents)
    case type2(Type2Contents)
    case type3(Type3Tag.Contents)
    case type4(Type4Contents)
    case type5(Type5Contents)
    case classic(ClassicContents)
    case nfcA(NFCAContents)

    /// What a virtual tag holds now; nil for a tag that no image describes.
    public init?(of tag: any VirtualTag) {
        switch tag {
        case let tag as Type1Tag: self = .type1(tag.contents)
        case let tag as Type2Tag: self = .type2(tag.contents)
        case let tag as Type3Tag: self = .type3(tag.contents)
        case let tag as Type4Tag:
            guard let contents = tag.contents else { return nil }
            self = .type4(contents)
        case let tag as Type5Tag: self = .type5(tag.contents)
        case let tag as ClassicTag: self = .classic(tag.contents)
        case let tag as NFCATag: self = .nfcA(tag.contents)
        default: return nil
        }
    }

    /// A virtual tag that holds this.
    public func makeTag() -> any VirtualTag {
        switch self {
        case .type1(let contents): Type1Tag(contents)
        case .type2(let contents): Type2Tag(contents)
        case .type3(let contents): Type3Tag(contents)
        case .type4(let contents): Type4Tag(contents)
        case .type5(let contents): Type5Tag(contents)
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

    /// What a Type 2 tag holds; nil for the other types.
    public var type2: Type2Contents? {
        if case .type2(let contents) = self { contents } else { nil }
    }
}

extension TagContents {
    /// Returns the same contents with everything that the format can't store replaced: missing pages are like those of
    /// a new tag, and the remains of older messages are removed if the format has no place for them.
    func completed(for format: TagImage.Format) -> TagContents {
        switch self {
        case .type2(let contents): return .type2(contents.completed)
        case .type4(var contents):
            guard format == .flipper, case .ndef(let files) = contents.kind else { return self }
            contents.kind = .ndef(files: FlipperTagDump.withoutRemains(files))
            return .type4(contents)
        default: return self
        }
    }

    /// Describes the differences from other contents.
    func differences(from other: TagContents) -> [String] {
        var words: [String] = []
        func compare(_ name: String, _ differs: Bool) {
            if differs { words.append(name) }
        }
        compare("the product", product != other.product)
        compare("the UID", uid != other.uid)
        switch (self, other) {
        case (.type2(let mine), .type2(let others)):
            compare("ATQA and SAK", mine.atqa != others.atqa || mine.sak != others.sak)
            compare("the memory", mine.memory != others.memory)
            compare("the version", mine.version != others.version)
            compare("the signature", mine.signature != others.signature)
            compare("the counters", mine.counters != others.counters || mine.tearingFlags != others.tearingFlags)
            compare("the failed passwords", mine.failedAuthentications != others.failedAuthentications)
        case (.type5(let mine), .type5(let others)):
            compare("the memory", mine.memory != others.memory)
            compare("the locked blocks", mine.lockedBlocks != others.lockedBlocks)
            compare("AFI and DSFID", mine.afi != others.afi || mine.dsfid != others.dsfid)
            let locks = mine.isAFILocked != others.isAFILocked || mine.isDSFIDLocked != others.isDSFIDLocked
            compare("the locks of AFI and DSFID", locks)
            let surveillance = mine.isSurveillanceSet != others.isSurveillanceSet
            compare("the surveillance bit", surveillance || mine.isSurveillanceLocked != others.isSurveillanceLocked)
            compare("the passwords", mine.passwords != others.passwords)
            compare("the signature", mine.signature != others.signature)
            compare("the counter", mine.counter != others.counter)
            compare("what guards its pages", mine.protection != others.protection)
            compare("the settings", mine.settings != others.settings)
        case (.classic(let mine), .classic(let others)):
            compare("ATQA and SAK", mine.atqa != others.atqa || mine.sak != others.sak)
            compare("the memory", mine.memory != others.memory)
            compare("which bytes are unknown", mine.unknownOctets != others.unknownOctets)
            compare("the signature", mine.signature != others.signature)
        case (.type4(let mine), .type4(let others)):
            guard case .desfire(let mine) = mine.kind, case .desfire(let others) = others.kind else { break }
            compare("what SET CONFIGURATION has changed", mine.configuration != others.configuration)
        default:
            break
        }
        return words
    }
}
