// SPDX-License-Identifier: Apache-2.0
public import TagLink

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

/// A virtual Type 4 tag: any ``Card`` behind ISO-DEP, over NFC-A or NFC-B.
///
/// ```swift
/// let tag = Type4Tag(card: ApplicationCard([NDEFApplication()]))
/// let desfire = Type4Tag(DESFireContents.ndef(generation: .ev3))
/// ```
///
/// The tag follows ISO/IEC 14443-4: it chains in both directions, asks for more time when the card works for longer
/// than the frame waiting time, repeats its last block after R(NAK), and does not answer damaged blocks. It accepts the
/// bit rates that PPS selects if the ATS offers them; the airtime in a virtual field is always that of 106 kbit/s.
///
/// If a fault plan refuses a command, the answer is 6400 (execution error); for a write it is 6581 (memory failure).
public final class Type4Tag: VirtualTag {
    public let technology: Technology
    /// The tag's activation data.
    public let frontEnd: Type4FrontEnd
    private let silicon: Locked<Type4Silicon>

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - card: answers the messages.
    ///   - frontEnd: the activation data; nil for an NXP Type 4A tag with 256-byte frames and no special options.
    ///   - changesRandomUID: whether a random UID (4 bytes that start with 08) changes at each power-up.
    public init(card: some Card, frontEnd: Type4FrontEnd? = nil, changesRandomUID: Bool = true) {
        let frontEnd = frontEnd ?? .nfcA(uid: Self.defaultUID, ats: [0x05, 0x78, 0x80, 0x70, 0x02])
        self.frontEnd = frontEnd
        switch frontEnd {
        case .nfcA(let uid, _, _, _):
            precondition([4, 7, 10].contains(uid.count), "a UID of NFC-A has 4, 7 or 10 bytes")
            technology = .nfcA
        case .nfcB(let pupi, let data, let info):
            precondition(
                pupi.count == 4 && data.count == 4 && info.count == 3,
                "ATQB has 4 bytes of PUPI, 4 of application data and 3 of protocol information"
            )
            technology = .nfcB
        }
        silicon = Locked(Type4Silicon(frontEnd: frontEnd, card: card, changesRandomUID: changesRandomUID))
    }

    /// The UID of tags that are created without one.
    public static let defaultUID: [UInt8] = [0x04, 0x83, 0x2F, 0x9A, 0x27, 0x2D, 0x80]

    /// The UID or PUPI. For a random UID that changes at each power-up, this is the first one. For a card that was
    /// configured to have random ones, it is the card's own.
    public var identifier: [UInt8] { frontEnd.identifier }

    /// A copy of the card in its current state, including its memory.
    public var card: any Card {
        silicon.withLock { $0.card }
    }

    public func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        silicon.withLock { $0.receive(request, disturbance: disturbance) }
    }

    public func losePower() {
        silicon.withLock { $0.losePower() }
    }
}
