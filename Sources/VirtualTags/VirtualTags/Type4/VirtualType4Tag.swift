// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 4 tag: any ``Card`` behind ISO-DEP, over NFC-A or NFC-B.
///
/// ```swift
/// let tag = VirtualType4Tag(card: ApplicationCard([NDEFApplication()]))
/// let desfire = VirtualType4Tag(DESFireContents.ndef(generation: .ev3))
/// ```
///
/// The tag follows ISO/IEC 14443-4: it chains in both directions, requests more time when the card works longer than
/// the frame waiting time, repeats its last block after R(NAK), and ignores damaged blocks. It accepts the bit rates
/// that PPS selects if the ATS offers them, but airtime in a virtual field is always that of 106 kbit/s.
///
/// If a fault plan refuses a command, the answer is 6400 (execution error), or 6581 (memory failure) for a write.
public final class VirtualType4Tag: ChipTag {
    public let technology: Technology
    /// The tag's activation data.
    public let frontEnd: Type4FrontEnd
    let chip: Locked<Type4Chip>

    /// Creates a tag. By default, it has the activation data of an NXP Type 4A tag with 256-byte frames and no special
    /// options. A random UID (4 bytes that start with 08) can change at each power-up.
    public init(card: any Card, frontEnd: Type4FrontEnd? = nil, changesRandomUID: Bool = true) {
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
        chip = Locked(Type4Chip(frontEnd: frontEnd, card: card, changesRandomUID: changesRandomUID))
    }

    /// The UID of tags that are created without one.
    public static let defaultUID: [UInt8] = [0x04, 0x83, 0x2F, 0x9A, 0x27, 0x2D, 0x80]

    /// The UID or PUPI. For a random UID that changes at each power-up, this is the first UID. For a card that was
    /// configured to use random UIDs, this is its permanent UID.
    public var identifier: [UInt8] { frontEnd.identifier }

    /// Also returns true for a random UID of the current or the previous power-up.
    public func answers(to identifier: [UInt8]) -> Bool {
        identifier == self.identifier || chip.withLock { $0.randomIdentifiers.contains(identifier) }
    }

    /// A copy of the card in its current state, including its memory.
    public var card: any Card { chip.withLock { $0.card } }

    /// Lets the card execute a message, for a reader's chip that handles ISO-DEP itself. Returns the answer.
    package func process(_ message: [UInt8]) -> [UInt8] {
        chip.withLock { $0.card.process(message, tear: nil).bytes }
    }
}

extension Type4FrontEnd {
    /// Returns NFC-A activation data with a random UID: 4 bytes that start with 08, without a manufacturer (ISO/IEC
    /// 14443-3, 6.5.4). This UID changes at each power-up.
    public static func randomUID(using generator: inout some RandomNumberGenerator) -> Type4FrontEnd {
        let uid = [0x08] + (0..<3).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return .nfcA(uid: uid, atqa: 0x0004, ats: [0x05, 0x78, 0x80, 0x70, 0x02])
    }
}

extension VirtualType4Tag {
    /// Creates a tag with a scripted card and a random UID, so that no reader takes it for a known manufacturer's card.
    public convenience init(card: ScriptedCard) {
        var generator = SystemRandomNumberGenerator()
        self.init(card: card, frontEnd: .randomUID(using: &generator))
    }
}

/// The activation data of a Type 4 tag, for NFC-A or NFC-B.
public indirect enum Type4FrontEnd: Sendable, Hashable {
    /// A Type 4A tag with a UID of 4, 7 or 10 bytes. The low byte of ATQA is sent first. Bit 5 of SAK means ISO/IEC
    /// 14443-4. The ATS is the whole answer to RATS with its length byte, without the checksum.
    case nfcA(uid: [UInt8], atqa: UInt16 = 0x0344, sak: UInt8 = 0x20, ats: [UInt8])
    /// A Type 4B tag with a PUPI of 4 bytes, and 4 bytes of application data and 3 of protocol information in ATQB.
    case nfcB(pupi: [UInt8], applicationData: [UInt8] = [0, 0, 0, 0], protocolInfo: [UInt8] = [0x00, 0x81, 0x71])

    /// Frame sizes, waiting time and options, as declared during activation.
    struct Parameters: Sendable {
        /// FSC, the largest frame that the card accepts.
        var frameSize: Int
        /// FWI, the code of the frame waiting time, 0 to 15; 15 is reserved and means 4.
        var waitingTimeInteger: UInt8
        var supportsCID: Bool
        /// The divisor codes that PPS may select, reader to card and card to reader. Code 0 is always included.
        var receiveDivisors: Set<UInt8> = [0]
        var sendDivisors: Set<UInt8> = [0]
        var needsSameDivisor = false

        var waitingTime: Airtime {
            Airtime(carrierPeriods: 4096 << (waitingTimeInteger == 15 ? 4 : Int64(waitingTimeInteger)))
        }
    }

    package var identifier: [UInt8] {
        switch self {
        case .nfcA(let uid, _, _, _): uid
        case .nfcB(let pupi, _, _): pupi
        }
    }

    /// The parameters from the activation data (ISO/IEC 14443-4, 5.2; 14443-3, 7.9.4).
    var parameters: Parameters {
        switch self {
        case .nfcA(_, _, _, let ats): Self.parameters(ats: ats)
        case .nfcB(_, _, let info): Self.parameters(protocolInfo: info)
        }
    }

    static func parameters(ats: [UInt8]) -> Parameters {
        // The defaults without a format byte: 32 bytes, FWI 4, CIDs supported (ISO/IEC 14443-4, 5.2.3 to 5.2.6).
        var parameters = Parameters(frameSize: 32, waitingTimeInteger: 4, supportsCID: true)
        var interface = ats.dropFirst(2)
        guard ats.count > 1 else { return parameters }
        let format = ats[1]
        parameters.frameSize = frameSize(format & 0x0F)
        if format & 0x10 != 0, let ta = interface.popFirst() {
            for bit in UInt8(0)..<3 {
                if ta & (1 << bit) != 0 { parameters.receiveDivisors.insert(bit + 1) }
                if ta & (0x10 << bit) != 0 { parameters.sendDivisors.insert(bit + 1) }
            }
            parameters.needsSameDivisor = ta & 0x80 != 0
        }
        if format & 0x20 != 0, let tb = interface.popFirst() {
            parameters.waitingTimeInteger = tb >> 4
        }
        if format & 0x40 != 0, let tc = interface.popFirst() {
            parameters.supportsCID = tc & 0x02 != 0
        }
        return parameters
    }

    private static func parameters(protocolInfo: [UInt8]) -> Parameters {
        guard protocolInfo.count >= 3 else {
            return Parameters(frameSize: 32, waitingTimeInteger: 4, supportsCID: false)
        }
        return Parameters(
            frameSize: frameSize(protocolInfo[1] >> 4),
            waitingTimeInteger: protocolInfo[2] >> 4,
            supportsCID: protocolInfo[2] & 0x01 != 0
        )
    }

    /// Returns the frame size for the code FSDI or FSCI.
    static func frameSize(_ code: UInt8) -> Int {
        NFCBListener.frameSizes[min(Int(code), NFCBListener.frameSizes.count - 1)]
    }
}

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
        case mifarePlus(MIFAREPlusContents)
        /// An NXP card known only by its activation and version.
        case version(VersionCardContents)
        /// A card of ISO/IEC 7816 with applications whose data an image holds.
        case applications(StoredApplications)
        /// A card known only by its activation. It has no applications.
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
        case .mifarePlus: "MIFARE Plus EV1"
        case .version(let contents): contents.family.rawValue
        case .applications: "ISO 7816 card"
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
            case .mifarePlus(let plus): MIFAREPlusCard(plus)
            case .version(let version): VersionCard(version)
            case .applications(let applications): applications.card
            case .unspecified: ApplicationCard([])
            }
        self.init(card: card, frontEnd: contents.frontEnd)
    }

    /// The tag's current persistent state; nil for a card that can't be stored in an image, such as a scripted card.
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
        case let card as MIFAREPlusCard: kind = .mifarePlus(card.contents)
        case let card as VersionCard: kind = .version(card.contents)
        case let card as ApplicationCard where card.applications.isEmpty: kind = .unspecified
        case let card as ApplicationCard:
            if let applications = StoredApplications(of: card) {
                kind = .applications(applications)
            } else if card.applications.count == 1, let application = card.applications.first as? NDEFApplication {
                kind = .ndef(files: application.files)
            } else {
                return nil
            }
        default: return nil
        }
        return Type4Contents(frontEnd: frontEnd, kind: kind)
    }
}
