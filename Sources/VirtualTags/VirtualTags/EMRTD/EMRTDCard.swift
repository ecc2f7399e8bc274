// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// A virtual electronic travel document: the application of ICAO 9303-10, protected by basic access control and by
/// secure messaging with triple DES (ICAO 9303-11, 4.3 and 9.8).
///
/// ```swift
/// let tag = VirtualType4Tag(try EMRTDContents(MachineReadableZone(lines), signer: .test))
/// ```
///
/// An unprotected command ends the secure messaging session. So does a command with an invalid data object or MAC.
///
/// Not modelled: PACE, active authentication, chip authentication, terminal authentication, and writing.
public struct EMRTDCard: Card {
    /// The name of the application (AID).
    public static let applicationName: [UInt8] = [0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01]
    /// EF.ATR/INFO: supports selection by name, identifier and short identifier, and extended commands and answers.
    static let cardInformation: [UInt8] = [
        0x47, 0x03, 0x94, 0x01, 0x60, 0x7F, 0x66, 0x08, 0x02, 0x02, 0xFF, 0xFF, 0x02, 0x02, 0xFF, 0xFF,
    ]
    /// The maximum number of data bytes in an answer. EF.ATR/INFO states 65535, including the status.
    static let maximumLength = 65533

    /// The document's contents.
    public let contents: EMRTDContents

    /// The first bytes that the random number generator returns.
    private var givenBytes: ArraySlice<UInt8>
    private var random: SplitMix64

    // Volatile state.
    /// Whether the application is selected. Otherwise the master file is.
    private var isApplicationSelected = false
    private var currentFile: UInt16?
    private var pendingChallenge: [UInt8]?
    private var messaging: EMRTDSecureMessaging?

    /// Creates a document. Nothing is selected.
    ///
    /// - Parameters:
    ///   - contents: the document's contents.
    ///   - randomBytes: the first bytes that its random number generator returns: 8 bytes for a challenge, then 16 for
    ///     its part of the session keys. All later bytes are the same in every run.
    public init(_ contents: EMRTDContents, randomBytes: [UInt8] = []) {
        self.contents = contents
        givenBytes = randomBytes[...]
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

    /// The result of a command, before it is protected.
    struct Reply {
        var data: [UInt8] = []
        var status = CardStatus.success

        static func refusal(_ status: CardStatus) -> Reply { Reply(status: status) }
    }

    /// Executes a command whose protection was removed.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - capacity: the maximum number of data bytes in its answer.
    ///   - isOpen: whether the command came by secure messaging, so that the reader has proved that it knows the zone.
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

    /// SELECT: the application by name, the master file, or a file of the selected application (ICAO 9303-10, 3.6.1).
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
            let size = UInt16(truncatingIfNeeded: file.count).bigEndianBytes
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

    /// Returns the file that READ BINARY addresses: by short identifier, by identifier, or the current file.
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

    /// READ BINARY. With the odd instruction, the offset is in object 54 and can be of any size, and the answer is in
    /// object 53 (ICAO 9303-10, 3.6.2).
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
            offset = Int(bytes: objects[0].value)
        }
        guard offset < file.count else { return .refusal(.wrongOffset) }
        // Le of zeros requests as many bytes as fit.
        let isUnlimited = command.requestsAll
        guard isUnlimited || expected <= capacity else { return .refusal(.wrongLength) }
        var room = min(expected, capacity)
        if isOdd { room -= room < 0x82 ? 2 : room < 0x103 ? 3 : 4 }
        guard room > 0 else { return .refusal(.wrongLength) }
        let data = Array(file[offset...].prefix(room))
        let status: CardStatus = data.count < room && !isUnlimited ? .endOfFile : .success
        return Reply(data: isOdd ? DataObject(0x53, data).bytes : data, status: status)
    }

    // MARK: Basic access control

    /// Returns bytes from the document's random number generator.
    private mutating func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in givenBytes.popFirst() ?? UInt8(truncatingIfNeeded: random.next() >> 32) }
    }

    /// GET CHALLENGE (ICAO 9303-11, 4.3.4.1). The challenge is only valid for the next command.
    private mutating func makeChallenge(_ command: CardCommand) -> Reply {
        guard command.parameters == 0 else { return .refusal(.wrongParameters) }
        guard command.data.isEmpty, command.expectedLength == 8 || command.requestsAll else {
            return .refusal(.wrongLength)
        }
        guard isApplicationSelected else { return .refusal(.conditionsNotSatisfied) }
        let challenge = randomBytes(8)
        pendingChallenge = challenge
        return Reply(data: challenge)
    }

    /// EXTERNAL AUTHENTICATE: checks the reader's proof, and answers with the document's own (ICAO 9303-11, 4.3.1 and
    /// 4.3.4.2).
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
            let ownPart = randomBytes(16)
            let answer = try keys.encrypt(challenge + proof[..<8] + ownPart)
            let seed = zip(proof[16...], ownPart).map { $0 ^ $1 }
            let counter = UInt64(bytes: challenge[4...] + proof[4..<8])
            messaging = EMRTDSecureMessaging(keys: try EMRTDKeys(seed: seed), counter: counter)
            return Reply(data: answer + (try keys.code(answer)))
        } catch {
            return .refusal(.executionError)
        }
    }
}

extension EMRTDCard.Reply {
    /// 6300: the proof is wrong. The status does not reveal why.
    fileprivate static let authenticationFailed = refusal(CardStatus(rawValue: 0x6300))
}
