// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A MIFARE DESFire EV1, EV2 or EV3: native commands, also in APDUs of class 90, and ISO/IEC 7816-4 commands.
///
/// Applications, files, keys, access rights and transactions follow the data sheet. So do the three authentications of
/// EV1 with their secure messaging, and from EV2 on AUTHENTICATE EV2 FIRST and NON FIRST. The system's OpenSSL provides
/// the ciphers. Without it, the card behaves as if its keys were unknown: it refuses everything that needs a key with
/// AE.
///
/// Challenges look random but are derived from the UID, so the same commands get the same answers in every run.
///
/// SET CONFIGURATION changes the ATS, the key of new applications, whether the UID is random, and whether FORMAT PICC
/// is allowed.
///
/// Not modelled: limited credit and ISO/IEC 7816-4 authentication. Of EV2 and EV3: key sets, delegated applications,
/// transaction MACs, proximity checks, and the related options of SET CONFIGURATION.
public struct DESFireCard: NativeCard {
    /// The maximum number of data bytes in a frame of a native command.
    static let frameLimit = 59
    /// The maximum number of data bytes for UPDATE BINARY.
    static let updateLimit = 52
    static let programmingUnit = 32
    static let programmingTime = Airtime.milliseconds(3)

    /// The card's persistent state.
    public internal(set) var contents: DESFireContents
    var random: SplitMix64

    // Volatile state.
    /// The index of the selected application; nil for the card itself.
    var selected: Int?
    var currentFile: Int?
    var authenticatedKey: UInt8?
    var session: (any SecureMessaging)?
    var pending = NativePending.nothing
    /// Whether the card received an ISO/IEC 7816-4 command since its activation. It then refuses native commands that
    /// are not wrapped in an APDU (Apple forum 758018; flutter_nfc_kit #175).
    private var refusesNative = false
    /// Uncommitted changes by file index: new contents, files with a new record, files with cleared records.
    var transaction: [Int: DESFireFile.Kind] = [:]
    var openRecords: Set<Int> = []
    var clearedRecords: Set<Int> = []
    var tear: TornWrite?

    /// Creates a card.
    public init(_ contents: DESFireContents) {
        self.contents = contents
        random = SplitMix64(identifier: contents.uid)
    }

    public mutating func losePower() {
        select(nil)
        refusesNative = false
    }

    /// Selects an application or the card itself. This ends an authentication.
    mutating func select(_ application: Int?) {
        selected = application
        currentFile = nil
        pending = .nothing
        forgetTransaction()
        forgetAuthentication()
    }

    mutating func answer(to message: [UInt8]) -> CardAnswer {
        guard let code = message.first else { return CardAnswer([DESFireStatus.lengthError.rawValue]) }
        switch code {
        case 0x00 where message.count >= 4:
            guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
            pending = .nothing
            refusesNative = true
            return CardAnswer { () throws(CardStatus) in try processISO(command) }
        case 0x90 where message.count >= 4:
            guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
            return processWrapped(command)
        default:
            guard !refusesNative else { return CardAnswer([DESFireStatus.wrongFraming.rawValue]) }
            let reply = native(code, Array(message.dropFirst()))
            return answer(reply, [reply.status.rawValue] + reply.data)
        }
    }

    func endsAuthentication(_ error: DESFireStatus) -> Bool { error != .noChanges }

    /// The answers to the commands of EV2 and later are only split by ISO-DEP, not into native frames.
    func frameLimit(of command: UInt8) -> Int { [0xAD, 0xAB, 0x3C].contains(command) ? Int.max : Self.frameLimit }
}

extension VirtualType4Tag {
    /// Creates a MIFARE DESFire EV1, EV2 or EV3 with its answer to RATS.
    public convenience init(_ contents: DESFireContents, ats: [UInt8] = [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]) {
        self.init(card: DESFireCard(contents), frontEnd: .nfcA(uid: contents.uid, ats: ats))
    }
}

extension DESFireCard {
    /// Handles the first frame of a native command (MF3ICD81 data sheet, 9.4 to 9.6).
    mutating func execute(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        switch command {
        case 0x0A, 0x1A, 0xAA: return try authenticate(command, data)
        case 0x71 where contents.generation != .ev1, 0x77 where contents.generation != .ev1:
            return try authenticate(command, data)
        case 0x5A: return try selectApplication(data)
        case 0xC4: return try changeKey(data)
        default: break
        }
        let protection = try protection(command, data)
        guard case .command(let mode, let header, let length) = protection else {
            return try complete(command, data, protection)
        }
        guard data.count >= header else { throw .lengthError }
        let whole = header + (session?.protectedLength(length, mode) ?? length)
        return try gather(command, data, whole, protection)
    }

    private func protection(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> Protection {
        switch command {
        case 0x54: return .command(.enciphered, header: 0, length: 1)
        case 0x5C: return try configurationProtection(data)
        case 0x51, 0x3C: return .answer(.enciphered)
        case 0x5F:
            guard let number = data.first else { throw .lengthError }
            let isFree = try file(number).file.accessRights.holder(of: .change) == .everybody
            return .command(isFree ? .plain : .enciphered, header: 1, length: 3)
        case 0xBD, 0xBB, 0xAD, 0xAB:
            guard data.count >= 7 else { throw .lengthError }
            let mode = try granted(try file(data[0]).file, .read, .readWrite)
            return .answer(mode, isOpenEnded: data.littleEndian(at: 4, count: 3) == 0)
        case 0x3D, 0x3B, 0x8D, 0x8B:
            guard data.count >= 7 else { throw .lengthError }
            let mode = try granted(try file(data[0]).file, .write, .readWrite)
            return .command(mode, header: 7, length: data.littleEndian(at: 4, count: 3))
        case 0x6C:
            guard let number = data.first else { throw .lengthError }
            return .answer(try granted(try file(number).file, .read, .write, .readWrite))
        case 0x0C, 0xDC:
            guard let number = data.first else { throw .lengthError }
            let file = try file(number).file
            let mode = try command == 0x0C ? granted(file, .readWrite) : granted(file, .read, .write, .readWrite)
            return .command(mode, header: 1, length: 4)
        default: return .standard
        }
    }

    mutating func perform(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        switch command {
        case 0x60:
            try expect(data, 0)
            var version = contents.version
            if contents.configuration.usesRandomUID, version.count >= 21 {
                version.replaceSubrange(14..<21, with: [UInt8](repeating: 0, count: 7))
            }
            return DESFireReply(parts: [Array(version[0..<7]), Array(version[7..<14]), Array(version[14...])])
        case 0x3C where contents.generation != .ev1:
            guard data == [0x00] else { throw .parameterError }
            return DESFireReply(data: contents.signature, status: .signature)
        case 0x51:
            try expect(data, 0)
            guard authenticatedKey != nil else { throw .authenticationError }
            return DESFireReply(data: contents.uid)
        case 0x6E:
            try expect(data, 0)
            return DESFireReply(data: [UInt8](littleEndian: contents.freeMemory, count: 3))
        case 0xFC: return try format(data)
        case 0x45: return try keySettings(data)
        case 0x54: return try changeKeySettings(data)
        case 0x5C: return try setConfiguration(data)
        case 0x64: return try keyVersion(data)
        case 0x6A, 0x6D: return try listApplications(names: command == 0x6D, data)
        case 0xCA: return try createApplication(data)
        case 0xDA: return try deleteApplication(data)
        case 0xCD, 0xCB: return try createDataFile(data, isBackup: command == 0xCB)
        case 0xCC: return try createValueFile(data)
        case 0xC1, 0xC0: return try createRecordFile(data, isCyclic: command == 0xC0)
        case 0xDF: return try deleteFile(data)
        case 0x6F, 0x61: return try listFiles(isoIdentifiers: command == 0x61, data)
        case 0xF5: return try fileSettings(data)
        case 0x5F: return try changeFileSettings(data)
        case 0xBD: return try readData(data)
        case 0x3D: return try writeData(data)
        case 0xAD where contents.generation != .ev1: return try readData(data)
        case 0x8D where contents.generation != .ev1: return try writeData(data)
        case 0x6C: return try value(data)
        case 0x0C: return try changeValue(data, isCredit: true)
        case 0xDC: return try changeValue(data, isCredit: false)
        case 0xBB: return try readRecords(data)
        case 0x3B: return try writeRecord(data)
        case 0xAB where contents.generation != .ev1: return try readRecords(data)
        case 0x8B where contents.generation != .ev1: return try writeRecord(data)
        case 0xEB: return try clearRecords(data)
        case 0xC7, 0xA7: return try endTransaction(commits: command == 0xC7, data)
        default: throw .illegalCommand
        }
    }

    // MARK: Rights

    /// Returns the protection of data between card and reader for access with one of these rights.
    func communication(_ file: DESFireFile, _ rights: FileAccessRights.Right...) -> CommunicationMode {
        file.accessRights.mode(file.communication, authenticatedKey, rights)
    }

    /// Returns the same protection, but throws if none of the rights is granted.
    private func granted(_ file: DESFireFile, _ rights: FileAccessRights.Right...) throws(DESFireStatus)
        -> CommunicationMode
    {
        guard file.accessRights.allow(authenticatedKey, rights) else { throw .authenticationError }
        return file.accessRights.mode(file.communication, authenticatedKey, rights)
    }
}

extension DESFireCard {
    mutating func processISO(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        switch command.ins {
        case 0xA4: return try selectISO(command)
        case 0xB0: return try readBinary(command)
        case 0xD6: return try updateBinary(command)
        case 0x84, 0x82, 0x88: throw .securityNotSatisfied
        default: throw .unknownInstruction
        }
    }

    /// The name that selects the card itself. The NDEF application of mapping version 1 has the same name.
    static let cardName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00]

    /// SELECT by name, or by the identifier of the card, of an application, or of a file in the selected application.
    private mutating func selectISO(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.p2 & 0xF3 == 0 else { throw .wrongParameters }
        switch command.p1 {
        case 0x04:
            guard (1...16).contains(command.data.count) else { throw .wrongLength }
            let index = contents.applications.firstIndex { $0.name == command.data }
            guard index != nil || command.data == Self.cardName else { throw .notFound }
            select(index)
            return CardAnswer(status: .success)
        case 0x00...0x02:
            guard command.data.count == 2 || command.data.isEmpty else { throw .wrongLength }
            return try selectIdentifier(command)
        default: throw .wrongParameters
        }
    }

    private mutating func selectIdentifier(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        let identifier = command.data.isEmpty ? 0x3F00 : UInt16(high: command.data[0], low: command.data[1])
        if identifier == 0x3F00, command.p1 != 0x02 {
            select(nil)
            return CardAnswer(status: .success)
        }
        if command.p1 != 0x01, let selected,
            let index = contents.applications[selected].files.firstIndex(where: { $0.isoIdentifier == identifier })
        {
            currentFile = index
            return CardAnswer(status: .success)
        }
        if command.p1 != 0x02, let index = contents.applications.firstIndex(where: { $0.isoIdentifier == identifier }) {
            select(index)
            return CardAnswer(status: .success)
        }
        throw .notFound
    }

    /// Returns the file and offset given by P1 and P2. A short identifier is the file's number; 0 is the current file.
    private mutating func target(
        _ command: CardCommand
    ) throws(CardStatus) -> (application: Int, file: Int, offset: Int) {
        let isShort = command.p1 & 0x80 != 0
        guard let selected else { throw isShort ? .notFound : .noCurrentFile }
        if isShort {
            let files = contents.applications[selected].files
            guard let index = files.firstIndex(where: { $0.number == command.p1 & 0x1F }) else { throw .notFound }
            currentFile = index
            return (selected, index, Int(command.p2))
        }
        guard let currentFile else { throw .noCurrentFile }
        return (selected, currentFile, Int(command.parameters))
    }

    /// READ BINARY. One command reads at most 59 bytes, so that they fit in a frame. Le of 00 reads all available.
    private mutating func readBinary(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.data.isEmpty, let expected = command.expectedLength else { throw .wrongLength }
        let target = try target(command)
        let file = contents.applications[target.application].files[target.file]
        guard let data = file.data else { throw .conditionsNotSatisfied }
        guard allows(file.accessRights, .read, .readWrite) else { throw .securityNotSatisfied }
        guard communication(file, .read, .readWrite) == .plain else { throw .conditionsNotSatisfied }
        let takesAll = command.requestsAll
        guard takesAll || expected <= Self.frameLimit else { throw .wrongLength }
        guard target.offset < data.count else { throw .wrongOffset }
        let count = min(expected, Self.frameLimit, data.count - target.offset)
        let isWhole = takesAll || count == expected
        return CardAnswer(Array(data[target.offset..<(target.offset + count)]), status: isWhole ? .success : .endOfFile)
    }

    private mutating func updateBinary(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard (1...Self.updateLimit).contains(command.data.count) else { throw .wrongLength }
        let target = try target(command)
        let file = contents.applications[target.application].files[target.file]
        guard let data = file.data else { throw .conditionsNotSatisfied }
        guard allows(file.accessRights, .write, .readWrite) else { throw .securityNotSatisfied }
        guard communication(file, .write, .readWrite) == .plain else { throw .conditionsNotSatisfied }
        guard target.offset < data.count else { throw .wrongOffset }
        guard target.offset + command.data.count <= data.count else { throw .noRoom }
        program(command.data, at: target.offset, in: target.file, of: target.application)
        return CardAnswer(status: .success, workTime: Self.programming(command.data.count), isWrite: true)
    }
}
