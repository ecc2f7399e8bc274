// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
public import VirtualTags

/// An electronic travel document: the application of ICAO 9303-10 behind basic access control and secure messaging with
/// triple DES (ICAO 9303-11, 4.3 and 9.8).
///
/// ```swift
/// let tag = Type4Tag(try EMRTDContents(MachineReadableZone(lines), signer: .test))
/// ```
///
/// A plain command ends a session of secure messaging, and so does one whose data objects or code are wrong.
///
/// Not modelled: PACE, active authentication and chip authentication, terminal authentication, writing.
public struct EMRTDCard: Card {
    /// The name of the application.
    public static let applicationName: [UInt8] = [0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01]
    /// EF.ATR/INFO: files are selected by name, identifier or short identifier; commands and answers may be extended.
    static let cardInformation: [UInt8] = [
        0x47, 0x03, 0x94, 0x01, 0x60, 0x7F, 0x66, 0x08, 0x02, 0x02, 0xFF, 0xFF, 0x02, 0x02, 0xFF, 0xFF,
    ]
    /// How many octets of data an answer has at most: EF.ATR/INFO says 65535 with the status.
    static let maximumLength = 65533

    /// What the document holds.
    public let contents: EMRTDContents

    /// What the document's generator of random numbers gives first.
    private var givenOctets: ArraySlice<UInt8>
    private var random: SplitMix64

    // Volatile state.
    /// Whether the application is selected, or the master file.
    private var isApplicationSelected = false
    private var currentFile: UInt16?
    private var pendingChallenge: [UInt8]?
    private var messaging: EMRTDSecureMessaging?

    /// Creates a document; nothing is selected.
    ///
    /// - Parameters:
    ///   - contents: what it holds.
    ///   - randomOctets: what its generator of random numbers gives first: 8 octets for a challenge, 16 for its part of
    ///     the session's keys. What follows is the same in every run.
    public init(_ contents: EMRTDContents, randomOctets: [UInt8] = []) {
        self.contents = contents
        givenOctets = randomOctets[...]
        random = SplitMix64(seed: contents.zone.accessInformation.reduce(0) { $0 &* 31 &+ UInt64($1) })
    }

    public mutating func losePower() {
        isApplicationSelected = false
        currentFile = nil
        pendingChallenge = nil
        messaging = nil
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        var session = messaging
        messaging = nil
        guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
        guard command.cla == 0x0C else {
            guard command.cla == 0x00 else { return CardAnswer(status: .unknownClass) }
            let length = min(command.expectedLength ?? 0, Self.maximumLength)
            let reply = carryOut(command, capacity: length, isOpen: false)
            return CardAnswer(reply.data, status: reply.status)
        }
        guard session != nil else { return CardAnswer(status: .securityNotSatisfied) }
        do {
            guard let plain = try session?.open(command) else { return CardAnswer(status: .securityNotSatisfied) }
            let length = min(command.expectedLength ?? 256, Self.maximumLength)
            let reply = carryOut(plain, capacity: EMRTDSecureMessaging.capacity(length), isOpen: true)
            let answer = try session?.seal(reply.data, reply.status, to: command.ins)
            messaging = session
            return CardAnswer(answer ?? [])
        } catch {
            return CardAnswer(status: error.status)
        }
    }

    /// What a command gives, before it is protected.
    struct Reply {
        var data: [UInt8] = []
        var status = CardStatus.success

        static func refusal(_ status: CardStatus) -> Reply { Reply(status: status) }
    }

    /// Carries out a command without its protection.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - capacity: how many octets of data its answer has room for.
    ///   - isOpen: whether it came by secure messaging, and the reader has shown that it knows the zone.
    private mutating func carryOut(_ command: CardCommand, capacity: Int, isOpen: Bool) -> Reply {
        let challenge = pendingChallenge
        pendingChallenge = nil
        switch command.ins {
        case 0xA4: return select(command, isOpen: isOpen)
        case 0xB0, 0xB1: return read(command, capacity: capacity, isOpen: isOpen)
        case 0x84: return makeChallenge(command)
        case 0x82 where !isOpen: return authenticate(command, challenge)
        case 0x82: return .refusal(.conditionsNotSatisfied)
        default: return .refusal(.unknownInstruction)
        }
    }

    // MARK: Selection

    /// SELECT of the application by its name, of the master file, or of a file of the selected one (ICAO 9303-10, 3.6.1).
    private mutating func select(_ command: CardCommand, isOpen: Bool) -> Reply {
        guard [0x00, 0x0C].contains(command.p2) else { return .refusal(.wrongParameters) }
        let answers = command.p2 == 0x00
        switch (command.p1, command.data) {
        case (0x04, Self.applicationName):
            isApplicationSelected = true
            currentFile = nil
            return Reply(data: answers ? DataObject(0x6F, [DataObject(0x84, command.data)]).bytes : [])
        case (0x04, _):
            return .refusal((5...16).contains(command.data.count) ? .notFound : .wrongLength)
        case (0x00, []), (0x00, [0x3F, 0x00]):
            isApplicationSelected = false
            currentFile = nil
            return Reply()
        case (0x00, _), (0x02, _):
            guard command.data.count == 2 else { return .refusal(.wrongLength) }
            let identifier = UInt16(high: command.data[0], low: command.data[1])
            guard isOpen || !isApplicationSelected else { return .refusal(.securityNotSatisfied) }
            guard let file = file(identifier) else { return .refusal(.notFound) }
            currentFile = identifier
            let size = UInt16(truncatingIfNeeded: file.count).bigEndianOctets
            let control = [DataObject(0x80, size), DataObject(0x82, [0x01]), DataObject(0x83, command.data)]
            return Reply(data: answers ? DataObject(0x6F, control).bytes : [])
        default:
            return .refusal(.wrongParameters)
        }
    }

    private func file(_ identifier: UInt16) -> [UInt8]? {
        if isApplicationSelected { return contents.files[identifier] }
        return switch identifier {
        case 0x011C: contents.cardAccess
        case 0x2F01: Self.cardInformation
        default: nil
        }
    }

    // MARK: Reading

    /// The file that READ BINARY means: by a short identifier or an identifier, or the current one.
    private mutating func target(_ command: CardCommand, _ isOpen: Bool) -> (file: [UInt8], refusal: CardStatus?) {
        let isOdd = command.ins & 1 != 0
        var identifier: UInt16?
        if isOdd ? command.parameters == 0 : command.p1 & 0x80 == 0 {
            identifier = currentFile
            guard identifier != nil || (isApplicationSelected && !isOpen) else { return ([], .noCurrentFile) }
        } else if isOdd, command.parameters > 0x1E {
            identifier = command.parameters
        } else {
            let short = UInt16(isOdd ? command.p2 : command.p1 & 0x7F)
            guard (1...30).contains(short) else { return ([], .wrongParameters) }
            identifier = isApplicationSelected || short != 0x01 ? 0x0100 | short : 0x2F01
        }
        guard isOpen || !isApplicationSelected else { return ([], .securityNotSatisfied) }
        guard let identifier, let file = file(identifier) else { return ([], .notFound) }
        currentFile = identifier
        return (file, nil)
    }

    /// READ BINARY. The odd instruction takes an offset of any size in object 54, and answers with object 53
    /// (ICAO 9303-10, 3.6.2).
    private mutating func read(_ command: CardCommand, capacity: Int, isOpen: Bool) -> Reply {
        let (file, refusal) = target(command, isOpen)
        if let refusal { return .refusal(refusal) }
        let isOdd = command.ins & 1 != 0
        guard let expected = command.expectedLength, isOdd || command.data.isEmpty else {
            return .refusal(.wrongLength)
        }
        var offset = command.p1 & 0x80 == 0 ? Int(command.parameters) : Int(command.p2)
        if isOdd {
            guard let objects = DataObject.sequence(command.data), objects.count == 1, objects[0].tag == 0x54,
                (1...4).contains(objects[0].value.count)
            else { return .refusal(.wrongData) }
            offset = Int(octets: objects[0].value)
        }
        guard offset < file.count else { return .refusal(.wrongOffset) }
        // 256 and 65536 are written as zeros, and mean as much as there is room for.
        let isUnlimited = [256, 65536].contains(expected)
        guard isUnlimited || expected <= capacity else { return .refusal(.wrongLength) }
        var room = min(expected, capacity)
        if isOdd { room -= room < 0x82 ? 2 : room < 0x103 ? 3 : 4 }
        guard room > 0 else { return .refusal(.wrongLength) }
        let data = Array(file[offset...].prefix(room))
        let status: CardStatus = data.count < room && !isUnlimited ? .endOfFile : .success
        return Reply(data: isOdd ? DataObject(0x53, data).bytes : data, status: status)
    }

    // MARK: Basic access control

    /// Octets from the document's generator of random numbers.
    private mutating func randomOctets(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in givenOctets.popFirst() ?? UInt8(truncatingIfNeeded: random.next() >> 32) }
    }

    /// GET CHALLENGE (ICAO 9303-11, 4.3.4.1). The challenge is good for the next command.
    private mutating func makeChallenge(_ command: CardCommand) -> Reply {
        guard command.parameters == 0 else { return .refusal(.wrongParameters) }
        guard command.data.isEmpty, [8, 256].contains(command.expectedLength) else { return .refusal(.wrongLength) }
        guard isApplicationSelected else { return .refusal(.conditionsNotSatisfied) }
        let challenge = randomOctets(8)
        pendingChallenge = challenge
        return Reply(data: challenge)
    }

    /// EXTERNAL AUTHENTICATE with a proof for a proof (ICAO 9303-11, 4.3.1 and 4.3.4.2).
    private mutating func authenticate(_ command: CardCommand, _ challenge: [UInt8]?) -> Reply {
        guard command.parameters == 0 else { return .refusal(.wrongParameters) }
        guard command.data.count == 40, let expected = command.expectedLength, expected >= 40 else {
            return .refusal(.wrongLength)
        }
        guard let challenge else { return .refusal(.conditionsNotSatisfied) }
        do {
            let keys = try EMRTDKeys(contents.zone)
            let enciphered = Array(command.data[..<32])
            guard ConstantTime.areEqual(try keys.code(enciphered), command.data[32...]) else {
                return .authenticationFailed
            }
            let proof = try keys.decrypt(enciphered)
            guard ConstantTime.areEqual(proof[8..<16], challenge) else { return .authenticationFailed }
            let ownPart = randomOctets(16)
            let answer = try keys.encrypt(challenge + proof[..<8] + ownPart)
            let seed = zip(proof[16...], ownPart).map { $0 ^ $1 }
            let counter = UInt64(octets: challenge[4...] + proof[4..<8])
            messaging = EMRTDSecureMessaging(keys: try EMRTDKeys(seed: seed), counter: counter)
            return Reply(data: answer + (try keys.code(answer)))
        } catch {
            return .refusal(.executionError)
        }
    }
}

extension EMRTDCard.Reply {
    /// 6300: the proof is wrong, and nothing is told about why.
    fileprivate static let authenticationFailed = refusal(CardStatus(rawValue: 0x6300))
}
