// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// A virtual electronic travel document: the application of ICAO 9303-10, protected by basic access control and secure
/// messaging; and by PACE with generic mapping if its EF.CardAccess announces that (ICAO 9303-11, 4 and 9.8).
///
/// ```swift
/// let tag = VirtualType4Tag(try EMRTDContents(MachineReadableZone(lines), signer: .test))
/// ```
///
/// An unprotected command ends the secure messaging session. So does a command with an invalid data object or MAC.
///
/// With a ``EMRTDContents/chipKey`` it proves that it is no copy, by chip authentication and active authentication.
///
/// Not modelled: PACE with other mappings, the proof of chip authentication mapping, terminal authentication, and
/// writing.
public struct EMRTDCard: Card {
    /// The name of the application (AID).
    public static let applicationName: [UInt8] = [0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01]
    /// EF.ATR/INFO: declares selection by name, identifier and short identifier, and extended commands and answers.
    static let cardInformation: [UInt8] = [
        0x47, 0x03, 0x94, 0x01, 0x60, 0x7F, 0x66, 0x08, 0x02, 0x02, 0xFF, 0xFF, 0x02, 0x02, 0xFF, 0xFF,
    ]
    /// The maximum number of data bytes in an answer. EF.ATR/INFO declares 65535, including the status.
    static let maximumLength = 65533

    /// The document's contents.
    public let contents: EMRTDContents

    private var givenBytes: ArraySlice<UInt8>
    private var random: SplitMix64

    // Volatile state.
    /// Whether the application is selected. If not, the master file is.
    private var isApplicationSelected = false
    private var currentFile: UInt16?
    private var pendingChallenge: [UInt8]?
    private var messaging: EMRTDSecureMessaging?
    var pace: PACEStep?
    var chosenChipCipher: EMRTDKeys.Cipher?
    var nextKeys: EMRTDKeys?

    /// Creates a document without a selection. Its random number generator returns the given bytes first: 8 for a
    /// challenge, then 16 for its part of the session keys; or for PACE 16 for a nonce, then 80 for each of two private
    /// keys. All later bytes are the same in every run.
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
        pace = nil
        chosenChipCipher = nil
        nextKeys = nil
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        let previous = messaging
        messaging = nil
        guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
        guard command.cla == 0x0C else {
            // Command chaining joins the steps of PACE.
            guard command.cla == 0x00 || (command.cla == 0x10 && command.ins == 0x86) else {
                return CardAnswer(status: .unknownClass)
            }
            let length = min(command.expectedLength ?? 0, Self.maximumLength)
            return CardAnswer { () throws(CardStatus) in try execute(command, capacity: length, isOpen: false) }
        }
        guard var session = previous else { return CardAnswer(status: .securityNotSatisfied) }
        return CardAnswer { () throws(CardStatus) in
            let plain = try session.open(command)
            let length = session.capacity(min(command.expectedLength ?? 256, Self.maximumLength))
            let reply = CardAnswer { () throws(CardStatus) in try execute(plain, capacity: length, isOpen: true) }
            let answer = try session.seal(reply, to: command.ins)
            messaging = nextKeys.take().map { EMRTDSecureMessaging(keys: $0, counter: 0) } ?? session
            return CardAnswer(answer)
        }
    }

    /// Executes a command after its protection was removed. `capacity` is the maximum number of data bytes in the
    /// answer. `isOpen` means that the command was sent by secure messaging, so the reader has proved that it knows the
    /// zone.
    private mutating func execute(_ command: CardCommand, capacity: Int, isOpen: Bool) throws(CardStatus) -> CardAnswer
    {
        let (challenge, step, cipher) = (pendingChallenge, pace, chosenChipCipher)
        pendingChallenge = nil
        pace = nil
        chosenChipCipher = nil
        switch command.ins {
        case 0xA4: return try select(command, isOpen: isOpen)
        case 0xB0, 0xB1: return try read(command, capacity: capacity, isOpen: isOpen)
        case 0x84: return try makeChallenge(command)
        case 0x22: return isOpen ? try beginChipAuthentication(command) : try beginPACE(command)
        case 0x86 where isOpen: return try continueChipAuthentication(command, cipher)
        case 0x88 where isOpen: return try signChallenge(command)
        case 0x86:
            let (answer, keys) = try continuePACE(command, after: step)
            if let keys {
                isApplicationSelected = false
                currentFile = nil
                messaging = EMRTDSecureMessaging(keys: keys, counter: 0)
            }
            return answer
        case 0x82 where !isOpen: return try authenticate(command, challenge)
        case 0x82: throw .conditionsNotSatisfied
        default: throw .unknownInstruction
        }
    }

    // MARK: Selection

    /// SELECT: the application by name, the master file, or a file of the selected application (ICAO 9303-10, 3.6.1).
    private mutating func select(_ command: CardCommand, isOpen: Bool) throws(CardStatus) -> CardAnswer {
        guard [0x00, 0x0C].contains(command.p2) else { throw .wrongParameters }
        let answers = command.p2 == 0x00
        switch (command.p1, command.data) {
        case (0x04, Self.applicationName):
            isApplicationSelected = true
            currentFile = nil
            return CardAnswer(answers ? DataObject(0x6F, [DataObject(0x84, command.data)]).bytes : [], status: .success)
        case (0x04, _): throw (5...16).contains(command.data.count) ? .notFound : .wrongLength
        case (0x00, []), (0x00, [0x3F, 0x00]):
            isApplicationSelected = false
            currentFile = nil
            return CardAnswer(status: .success)
        case (0x00, _), (0x02, _):
            guard command.data.count == 2 else { throw .wrongLength }
            let identifier = UInt16(high: command.data[0], low: command.data[1])
            guard isOpen || !isApplicationSelected else { throw .securityNotSatisfied }
            guard let file = file(identifier) else { throw .notFound }
            currentFile = identifier
            let size = UInt16(truncatingIfNeeded: file.count).bigEndianBytes
            let control = [DataObject(0x80, size), DataObject(0x82, [0x01]), DataObject(0x83, command.data)]
            return CardAnswer(answers ? DataObject(0x6F, control).bytes : [], status: .success)
        default: throw .wrongParameters
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
    private mutating func target(_ command: CardCommand, _ isOpen: Bool) throws(CardStatus) -> [UInt8] {
        let isOdd = command.ins & 1 != 0
        var identifier: UInt16?
        if isOdd ? command.parameters == 0 : command.p1 & 0x80 == 0 {
            identifier = currentFile
            guard identifier != nil || (isApplicationSelected && !isOpen) else { throw .noCurrentFile }
        } else if isOdd, command.parameters > 0x1E {
            identifier = command.parameters
        } else {
            let short = UInt16(isOdd ? command.p2 : command.p1 & 0x7F)
            guard (1...30).contains(short) else { throw .wrongParameters }
            identifier = isApplicationSelected || short != 0x01 ? 0x0100 | short : 0x2F01
        }
        guard isOpen || !isApplicationSelected else { throw .securityNotSatisfied }
        guard let identifier, let file = file(identifier) else { throw .notFound }
        currentFile = identifier
        return file
    }

    /// READ BINARY. With the odd instruction, object 54 contains the offset, which can be of any size, and object 53
    /// contains the answer (ICAO 9303-10, 3.6.2).
    private mutating func read(_ command: CardCommand, capacity: Int, isOpen: Bool) throws(CardStatus) -> CardAnswer {
        let file = try target(command, isOpen)
        let isOdd = command.ins & 1 != 0
        guard let expected = command.expectedLength, isOdd || command.data.isEmpty else { throw .wrongLength }
        var offset = command.p1 & 0x80 == 0 ? Int(command.parameters) : Int(command.p2)
        if isOdd {
            guard let objects = DataObject.sequence(command.data), objects.count == 1, objects[0].tag == 0x54,
                (1...4).contains(objects[0].value.count)
            else { throw .wrongData }
            offset = Int(bytes: objects[0].value)
        }
        guard offset < file.count else { throw .wrongOffset }
        // A zero Le requests as many bytes as fit.
        let isUnlimited = command.requestsAll
        guard isUnlimited || expected <= capacity else { throw .wrongLength }
        var room = min(expected, capacity)
        if isOdd { room -= room < 0x82 ? 2 : room < 0x103 ? 3 : 4 }
        guard room > 0 else { throw .wrongLength }
        let data = Array(file[offset...].prefix(room))
        let status: CardStatus = data.count < room && !isUnlimited ? .endOfFile : .success
        return CardAnswer(isOdd ? DataObject(0x53, data).bytes : data, status: status)
    }

    // MARK: Basic access control

    mutating func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in givenBytes.popFirst() ?? UInt8(truncatingIfNeeded: random.next() >> 32) }
    }

    /// GET CHALLENGE (ICAO 9303-11, 4.3.4.1). The challenge is only valid for the next command.
    private mutating func makeChallenge(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.parameters == 0 else { throw .wrongParameters }
        guard command.data.isEmpty, command.expectedLength == 8 || command.requestsAll else { throw .wrongLength }
        guard isApplicationSelected else { throw .conditionsNotSatisfied }
        let challenge = randomBytes(8)
        pendingChallenge = challenge
        return CardAnswer(challenge, status: .success)
    }

    /// EXTERNAL AUTHENTICATE: checks the reader's proof, and answers with its own (ICAO 9303-11, 4.3.1 and 4.3.4.2).
    private mutating func authenticate(_ command: CardCommand, _ challenge: [UInt8]?) throws(CardStatus) -> CardAnswer {
        guard command.parameters == 0 else { throw .wrongParameters }
        guard command.data.count == 40, let expected = command.expectedLength, expected >= 40 else {
            throw .wrongLength
        }
        guard let challenge else { throw .conditionsNotSatisfied }
        let enciphered = Array(command.data[..<32])
        guard let keys = try? EMRTDKeys(accessInformation: contents.zone.accessInformation),
            let code = try? keys.code(enciphered),
            let proof = try? keys.decrypt(enciphered)
        else { throw .executionError }
        guard ConstantTime.areEqual(code, command.data[32...]), ConstantTime.areEqual(proof[8..<16], challenge) else {
            throw .authenticationFailed
        }
        let ownPart = randomBytes(16)
        guard let answer = try? keys.encrypt(challenge + proof[..<8] + ownPart),
            let answerCode = try? keys.code(answer),
            let sessionKeys = try? EMRTDKeys(seed: zip(proof[16...], ownPart).map { $0 ^ $1 })
        else { throw .executionError }
        let counter = UInt64(bytes: challenge[4...] + proof[4..<8])
        messaging = EMRTDSecureMessaging(keys: sessionKeys, counter: counter)
        return CardAnswer(answer + answerCode, status: .success)
    }
}

extension CardStatus {
    /// The proof is wrong. The status does not reveal why.
    static let authenticationFailed = CardStatus(rawValue: 0x6300)
    fileprivate static let missingObject = CardStatus(rawValue: 0x6987)
    fileprivate static let incorrectObject = CardStatus(rawValue: 0x6988)
}

/// The card's side of secure messaging (ICAO 9303-11, 9.8).
///
/// If a command is refused, the status is sent without protection, and the session ends.
struct EMRTDSecureMessaging: Sendable {
    let keys: EMRTDKeys
    /// The send sequence counter, which counts commands and answers.
    var counter: UInt64

    private var block: Int { keys.cipher.blockLength }

    /// Checks a protected command and removes the protection. Its data objects are 87 or 85, 97, and 8E, in this order.
    mutating func open(_ command: CardCommand) throws(CardStatus) -> CardCommand {
        guard let objects = DataObject.sequence(command.data) else { throw .incorrectObject }
        guard let code = objects.last, code.tag == 0x8E else { throw .missingObject }
        // The MAC's object must take exactly 10 bytes. Otherwise it would be unclear which bytes the MAC covers.
        guard command.data.suffix(10).starts(with: [0x8E, 0x08]) else { throw .incorrectObject }
        var rest = objects.dropLast()[...]
        var plain = command
        plain.cla = 0x00
        plain.data = []
        plain.expectedLength = nil
        var enciphered: DataObject?
        if let object = rest.first, object.tag == (command.ins & 1 == 0 ? 0x87 : 0x85) {
            enciphered = object
            rest = rest.dropFirst()
        }
        if let object = rest.first, object.tag == 0x97 {
            plain.expectedLength = try Self.expectedLength(object.value)
            plain.isExtended = object.value.count == 2
            rest = rest.dropFirst()
        }
        guard rest.isEmpty else { throw .incorrectObject }

        counter &+= 1
        let header = [command.cla, command.ins, command.p1, command.p2].paddedWithMark(to: block)
        guard ConstantTime.areEqual(try self.code(header + command.data.dropLast(10)), code.value) else {
            throw .incorrectObject
        }
        if let enciphered { plain.data = try decipher(enciphered) }
        return plain
    }

    private static func expectedLength(_ value: [UInt8]) throws(CardStatus) -> Int {
        guard (1...2).contains(value.count) else { throw .incorrectObject }
        let length = Int(bytes: value)
        return length == 0 ? 1 << (8 * value.count) : length
    }

    private func decipher(_ object: DataObject) throws(CardStatus) -> [UInt8] {
        var value = object.value[...]
        if object.tag == 0x87, value.popFirst() != 0x01 { throw .incorrectObject }
        guard !value.isEmpty, value.count.isMultiple(of: block) else { throw .incorrectObject }
        guard let padded = try? keys.decrypt(Array(value), counter: counter) else { throw .executionError }
        guard let data = padded.withoutMark, padded.count - data.count <= block else { throw .incorrectObject }
        return data
    }

    /// Protects the data and the status of an answer. For an odd instruction, object 85 contains the data, otherwise
    /// object 87. The status is sent both in the protected part and after it.
    mutating func seal(_ answer: CardAnswer, to instruction: UInt8) throws(CardStatus) -> [UInt8] {
        let data = Array(answer.bytes.dropLast(2))
        let status = Array(answer.bytes.suffix(2))
        counter &+= 1
        var objects: [UInt8] = []
        if !data.isEmpty {
            guard let enciphered = try? keys.encrypt(data.paddedWithMark(to: block), counter: counter) else {
                throw .executionError
            }
            let isEven = instruction & 1 == 0
            objects += DataObject(isEven ? 0x87 : 0x85, (isEven ? [0x01] : []) + enciphered).bytes
        }
        objects += DataObject(0x99, status).bytes
        return objects + DataObject(0x8E, try code(objects)).bytes + status
    }

    private func code(_ data: [UInt8]) throws(CardStatus) -> [UInt8] {
        guard let code = try? keys.code(data, counter: counter) else { throw .executionError }
        return code
    }

    /// Returns the maximum number of data bytes in a protected answer of `length` bytes, excluding the status.
    func capacity(_ length: Int) -> Int {
        // Object 99 takes 4 bytes, object 8E takes 10, and the head of object 87 up to 4. The padding takes the rest.
        let head = length > 256 ? 5 : 4
        return max(0, (length - 14 - head) / block * block - 1)
    }
}

extension Type4FrontEnd {
    /// The activation of a travel document over NFC-A, with a random UID that changes at each power-up. The ATS allows
    /// frames of 256 bytes and declares extended lengths (ISO/IEC 14443-3, 6.5.4).
    public static let randomEMRTD = Type4FrontEnd.emrtd(uid: [0x08, 0x5A, 0x1C, 0xE7])

    /// Returns the activation of a travel document over NFC-A. A UID of 4 bytes that starts with 08 is random.
    public static func emrtd(uid: [UInt8]) -> Type4FrontEnd {
        // The historical bytes declare the same capabilities as EF.ATR/INFO.
        let ats: [UInt8] = [0x0A, 0x78, 0x77, 0x90, 0x02, 0x80, 0x73, 0x94, 0x01, 0x60]
        return .nfcA(uid: uid, atqa: uid.count == 4 ? 0x0008 : 0x0048, ats: ats)
    }

    /// Returns the activation of a travel document over NFC-B: family E1, the CRC_B of the application's name, and a
    /// single application (ISO/IEC 14443-3, 7.9.3).
    public static func emrtd(pupi: [UInt8]) -> Type4FrontEnd {
        .nfcB(pupi: pupi, applicationData: [0xE1, 0xF3, 0x5E, 0x11], protocolInfo: [0x77, 0x81, 0x95])
    }
}

extension VirtualType4Tag {
    /// Creates an electronic travel document; by default over NFC-A with a random UID.
    public convenience init(_ contents: EMRTDContents, frontEnd: Type4FrontEnd = .randomEMRTD) {
        self.init(card: EMRTDCard(contents), frontEnd: frontEnd)
    }
}
