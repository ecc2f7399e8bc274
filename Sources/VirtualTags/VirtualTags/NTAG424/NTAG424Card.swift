// SPDX-License-Identifier: Apache-2.0
import TagLink

/// An NTAG 424 DNA as a Type 4 tag: ISO/IEC 7816-4 commands, and native commands in APDUs of class 90.
///
/// Authentication, secure messaging with AES, keys, file settings and secure dynamic messaging follow the data sheet.
/// The ciphers are those of the system's OpenSSL. Without it, the tag behaves as if its keys were unknown: everything
/// that is not free is refused, and nothing is inserted into messages.
///
/// Challenges and random padding are derived from the UID and the read counter, so the same commands get the same
/// answers in every run.
///
/// Not modelled: SET CONFIGURATION and with it LRP, the failed authentication counter, and tamper evidence.
public struct NTAG424Card: Card {
    /// The name of the application. It can be selected by this name or by its identifier E110.
    public static let applicationName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
    /// The name that selects the tag itself, outside of the application.
    static let tagName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00]
    /// The number of bytes that the memory programs at a time, and the time for this.
    static let programmingUnit = 32
    static let programmingTime = Airtime.milliseconds(2)

    /// What the next frame of a native command continues.
    enum Pending: Sendable {
        case nothing
        /// The rest of GET VERSION.
        case frames([[UInt8]])
        /// The reader's proof. A session that was active before continues with it.
        case proof(CardAuthentication, after: EV2Messaging?)

        var isNothing: Bool { if case .nothing = self { true } else { false } }
    }

    /// A kind of reading, and the file's index. Repeated reading with the same values is not counted again.
    struct Reading: Sendable, Hashable {
        var instruction: UInt8
        var file: Int
    }

    /// The tag's persistent state.
    public internal(set) var contents: NTAG424Contents
    var random: SplitMix64

    // Volatile state.
    var isSelected = false
    private var currentFile: Int?
    /// The reading that the last command belonged to.
    private var reading: Reading?
    var authenticatedKey: UInt8?
    var session: (any SecureMessaging)?
    var pending = Pending.nothing
    /// What remains of the memory of the current command after a power cut.
    var tear: TornWrite?

    /// Creates a tag.
    ///
    /// - Parameter contents: its state.
    public init(_ contents: NTAG424Contents = NTAG424Contents()) {
        self.contents = contents
        random = SplitMix64(identifier: contents.uid)
    }

    public mutating func losePower() {
        isSelected = false
        forgetSelection()
    }

    private mutating func forgetSelection() {
        currentFile = nil
        reading = nil
        pending = .nothing
        forgetAuthentication()
    }

    mutating func forgetAuthentication() {
        authenticatedKey = nil
        session = nil
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        self.tear = tear
        defer { self.tear = nil }
        guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
        if (command.cla, command.ins) != (0x00, 0xB0), (command.cla, command.ins) != (0x90, 0xAD) { reading = nil }
        switch command.cla {
        case 0x00:
            pending = .nothing
            switch command.ins {
            case 0xA4: return selectISO(command)
            case 0xB0: return readBinary(command)
            case 0xD6: return updateBinary(command)
            default: return CardAnswer(status: .unknownInstruction)
            }
        case 0x90:
            guard command.parameters == 0 else { return CardAnswer(status: .wrongParameters) }
            let reply = native(command.ins, command.data)
            let units = (reply.programmed + Self.programmingUnit - 1) / Self.programmingUnit
            return CardAnswer(
                reply.data + [0x91, reply.status.rawValue],
                workTime: Self.programmingTime * units,
                isWrite: units > 0
            )
        default:
            return CardAnswer(status: .unknownClass)
        }
    }

    // MARK: ISO/IEC 7816-4

    /// SELECT by name, by identifier, or without data: then the tag itself is meant (10.9.1).
    private mutating func selectISO(_ command: CardCommand) -> CardAnswer {
        guard command.p2 & 0xF3 == 0 else { return CardAnswer(status: .wrongParameters) }
        if command.p1 == 0x04 {
            guard [Self.applicationName, Self.tagName].contains(command.data) else {
                return CardAnswer(status: .notFound)
            }
            forgetSelection()
            isSelected = command.data == Self.applicationName
            return CardAnswer(status: .success)
        }
        let meansTag = command.data.isEmpty && [0x00, 0x03].contains(command.p1)
        guard command.p1 <= 0x02 || meansTag else { return CardAnswer(status: .wrongParameters) }
        guard command.data.count == 2 || meansTag else { return CardAnswer(status: .wrongLength) }
        let identifier = meansTag ? 0x3F00 : UInt16(high: command.data[0], low: command.data[1])
        if command.p1 != 0x02, identifier == 0x3F00 || identifier == 0xE110 {
            forgetSelection()
            isSelected = identifier == 0xE110
            return CardAnswer(status: .success)
        }
        guard command.p1 != 0x01, isSelected,
            let index = contents.files.firstIndex(where: { $0.isoIdentifier == identifier })
        else { return CardAnswer(status: .notFound) }
        currentFile = index
        return CardAnswer(status: .success)
    }

    /// Returns the file and offset in P1 and P2. Short identifiers are the lower five bits of E103 to E105; 0 is the
    /// current file.
    private mutating func target(_ command: CardCommand) -> (file: Int, offset: Int)? {
        guard isSelected else { return nil }
        guard command.p1 & 0x80 != 0 else { return currentFile.map { ($0, Int(command.parameters)) } }
        let short = UInt16(command.p1 & 0x1F)
        guard short != 0 else { return currentFile.map { ($0, Int(command.p2)) } }
        guard let index = contents.files.firstIndex(where: { $0.isoIdentifier & 0x1F == short }) else { return nil }
        currentFile = index
        return (index, Int(command.p2))
    }

    /// READ BINARY, for everybody: after an authentication it is refused. A number beyond the end of the file reads up to
    /// the end (10.9.2).
    private mutating func readBinary(_ command: CardCommand) -> CardAnswer {
        guard command.data.isEmpty, let expected = command.expectedLength, !command.isExtended else {
            return CardAnswer(status: .wrongLength)
        }
        guard let (index, offset) = target(command) else { return missing(command) }
        let file = contents.files[index]
        guard session == nil, allowsReading(file) else { return CardAnswer(status: .securityNotSatisfied) }
        guard offset < file.data.count else { return CardAnswer(status: .wrongParameters) }
        guard let data = visibleData(index, command.ins) else { return CardAnswer(status: .securityNotSatisfied) }
        let count = min(expected, data.count - offset)
        return CardAnswer(Array(data[offset..<(offset + count)]), status: .success)
    }

    private mutating func updateBinary(_ command: CardCommand) -> CardAnswer {
        guard !command.data.isEmpty, command.data.count <= 255 else { return CardAnswer(status: .wrongLength) }
        guard let (index, offset) = target(command) else { return missing(command) }
        let file = contents.files[index]
        guard session == nil, allows(file, .write, .readWrite) else {
            return CardAnswer(status: .securityNotSatisfied)
        }
        guard offset < file.data.count else { return CardAnswer(status: .wrongOffset) }
        guard offset + command.data.count <= file.data.count else { return CardAnswer(status: .noRoom) }
        contents.files[index].data.program(command.data, at: offset, tear: tear, unit: Self.programmingUnit)
        let units = (command.data.count + Self.programmingUnit - 1) / Self.programmingUnit
        return CardAnswer(status: .success, workTime: Self.programmingTime * units, isWrite: true)
    }

    private func missing(_ command: CardCommand) -> CardAnswer {
        let isNamed = command.p1 & 0x80 != 0 && command.p1 & 0x1F != 0
        return CardAnswer(status: isNamed && isSelected ? .notFound : .conditionsNotSatisfied)
    }

    // MARK: Dynamic messages

    /// Returns a file as a reader sees it; nil when the counter has reached its limit. The first of several consecutive
    /// readings is counted (9.3.1).
    mutating func visibleData(_ index: Int, _ instruction: UInt8) -> [UInt8]? {
        let file = contents.files[index]
        guard let messaging = file.dynamicMessaging, authenticatedKey == nil else { return file.data }
        let reading = Reading(instruction: instruction, file: index)
        if self.reading != reading {
            guard contents.readCounter < messaging.counterLimit ?? 0xFF_FFFF else { return nil }
            contents.readCounter += 1
            self.reading = reading
        }
        var padding = SplitMix64(identifier: contents.uid + [UInt8](littleEndian: Int(contents.readCounter), count: 3))
        let mirrored = try? messaging.mirrored(
            file.data,
            uid: contents.uid,
            counter: contents.readCounter,
            keys: contents.keys,
            padding: padding.bytes(15)
        )
        return mirrored ?? file.data
    }

    // MARK: Rights

    func allows(_ file: NTAG424Contents.File, _ rights: FileAccessRights.Right...) -> Bool {
        file.accessRights.allow(authenticatedKey, rights)
    }

    /// Returns whether a file may be read: by its rights, or by everybody if a MAC authenticates the data.
    func allowsReading(_ file: NTAG424Contents.File) -> Bool {
        let isDynamic = authenticatedKey == nil && file.dynamicMessaging.map { $0.fileReadKey < 5 } ?? false
        return isDynamic || allows(file, .read, .readWrite)
    }

    /// Returns how data are protected between tag and reader for one of a file's rights.
    func communication(_ file: NTAG424Contents.File, _ rights: FileAccessRights.Right...) -> CommunicationMode {
        file.accessRights.mode(file.communication, authenticatedKey, rights)
    }
}

extension VirtualType4Tag {
    /// Creates an NTAG 424 DNA.
    ///
    /// - Parameter contents: the tag's state.
    public convenience init(_ contents: NTAG424Contents) {
        self.init(
            card: NTAG424Card(contents),
            frontEnd: .nfcA(uid: contents.uid, ats: [0x06, 0x77, 0x77, 0x71, 0x02, 0x80])
        )
    }
}
