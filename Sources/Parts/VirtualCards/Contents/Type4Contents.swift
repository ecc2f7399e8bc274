// SPDX-License-Identifier: Apache-2.0
import TagLink
public import VirtualTags

/// Everything that a Type 4 tag keeps without power: what an image of the tag holds.
public struct Type4Contents: Sendable, Hashable {
    /// What the card is, and what it holds.
    public indirect enum Kind: Sendable, Hashable {
        /// A generic NDEF application: its files by their identifiers, the capability container E103 among them.
        case ndef(files: [UInt16: [UInt8]])
        case desfire(DESFireContents)
        case ntag424(NTAG424Contents)
        /// An electronic travel document.
        case emrtd(EMRTDContents)
        /// A payment card, as far as a dump has it.
        case emv(EMVContents)
        /// A card of NXP's of which no more is known than its activation and its version.
        case version(VersionCardContents)
        /// A card of which no more is known than its activation: it has no application.
        case unspecified
    }

    /// How the tag presents itself while it is activated.
    public var frontEnd: Type4FrontEnd
    /// What the card is, and what it holds.
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

extension Type4Tag {
    /// Creates a tag from what an image holds.
    public convenience init(_ contents: Type4Contents) {
        switch contents.kind {
        case .ndef(let files):
            self.init(card: ApplicationCard([NDEFApplication(files: files)]), frontEnd: contents.frontEnd)
        case .desfire(let desfire):
            self.init(card: DESFireCard(desfire), frontEnd: contents.frontEnd)
        case .ntag424(let ntag424):
            self.init(card: NTAG424Card(ntag424), frontEnd: contents.frontEnd)
        case .emrtd(let emrtd):
            self.init(card: EMRTDCard(emrtd), frontEnd: contents.frontEnd)
        case .emv(let emv):
            self.init(card: EMVCard(emv), frontEnd: contents.frontEnd)
        case .version(let version):
            self.init(card: VersionCard(version), frontEnd: contents.frontEnd)
        case .unspecified:
            self.init(card: ApplicationCard([]), frontEnd: contents.frontEnd)
        }
    }

    /// What the tag keeps without power, as it is now; nil for a card that no image describes, such as a scripted one.
    public var contents: Type4Contents? {
        let kind: Type4Contents.Kind
        var frontEnd = frontEnd
        switch card {
        case let card as DESFireCard:
            var contents = card.contents
            // An ATS that the card was given is the one that it is activated with.
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
