// SPDX-License-Identifier: Apache-2.0

/// The persistent state of a Type 4 tag, as stored in an image.
public struct Type4Contents: Sendable, Hashable {
    /// The kind of the card, with its contents.
    public indirect enum Kind: Sendable, Hashable {
        /// A generic NDEF application: its files by identifier, including the capability container E103.
        case ndef(files: [UInt16: [UInt8]])
        case desfire(DESFireContents)
        case ntag424(NTAG424Contents)
        /// An electronic travel document.
        case emrtd(EMRTDContents)
        /// A payment card, with the data that a dump contains.
        case emv(EMVContents)
        /// An NXP card of which only the activation and the version are known.
        case version(VersionCardContents)
        /// A card of which only the activation is known. It has no applications.
        case unspecified
    }

    /// The tag's activation.
    public var frontEnd: Type4FrontEnd
    /// The kind of the card, with its contents.
    public var kind: Kind

    /// Creates contents.
    public init(frontEnd: Type4FrontEnd, kind: Kind) {
        self.frontEnd = frontEnd
        self.kind = kind
    }

    /// The product's name, such as `DESFire EV1`.
    public var product: String {
        switch kind {
        case .ndef: "generic Type 4"
        case .desfire(let contents): contents.generation.name
        case .ntag424: "NTAG 424 DNA"
        case .emrtd: "eMRTD"
        case .emv: "EMV card"
        case .version(let contents): contents.family.rawValue
        case .unspecified: "generic ISO 14443-4"
        }
    }

    /// The UID, or the PUPI of a Type 4B tag.
    public var identifier: [UInt8] { frontEnd.identifier }
}

extension VirtualType4Tag {
    /// Creates a tag with contents from an image.
    public convenience init(_ contents: Type4Contents) {
        let card: any Card =
            switch contents.kind {
            case .ndef(let files): ApplicationCard([NDEFApplication(files: files)])
            case .desfire(let desfire): DESFireCard(desfire)
            case .ntag424(let ntag424): NTAG424Card(ntag424)
            case .emrtd(let emrtd): EMRTDCard(emrtd)
            case .emv(let emv): EMVCard(emv)
            case .version(let version): VersionCard(version)
            case .unspecified: ApplicationCard([])
            }
        self.init(card: card, frontEnd: contents.frontEnd)
    }

    /// The tag's current persistent state; nil for a card that can't be stored in an image, such as a scripted one.
    public var contents: Type4Contents? {
        let kind: Type4Contents.Kind
        var frontEnd = frontEnd
        switch card {
        case let card as DESFireCard:
            var contents = card.contents
            // A card with an ATS from SET CONFIGURATION is activated with that ATS.
            if case .nfcA(let uid, let atqa, let sak, _) = frontEnd, let ats = contents.configuration.answerToSelect {
                frontEnd = .nfcA(uid: uid, atqa: atqa, sak: sak, ats: ats)
                contents.configuration.answerToSelect = nil
            }
            kind = .desfire(contents)
        case let card as NTAG424Card: kind = .ntag424(card.contents)
        case let card as EMRTDCard: kind = .emrtd(card.contents)
        case let card as EMVCard: kind = .emv(card.contents)
        case let card as VersionCard: kind = .version(card.contents)
        case let card as ApplicationCard where card.applications.isEmpty: kind = .unspecified
        case let card as ApplicationCard:
            guard card.applications.count == 1, let application = card.applications.first as? NDEFApplication else {
                return nil
            }
            kind = .ndef(files: application.files)
        default: return nil
        }
        return Type4Contents(frontEnd: frontEnd, kind: kind)
    }
}
