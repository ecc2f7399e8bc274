// SPDX-License-Identifier: Apache-2.0
import TagLink

/// An NTAG 424 DNA as a Type 4 tag: ISO/IEC 7816-4 commands, and native commands in APDUs of class 90.
///
/// Authentication, secure messaging in AES and LRP mode, keys, file settings and dynamic messaging follow the data sheet.
/// The system's OpenSSL provides the ciphers. Without it, the tag behaves as if its keys were unknown: it refuses
/// everything that needs a key, and inserts nothing into messages.
///
/// Challenges and padding are derived from the UID and the read counter, so that every run gives the same answers.
///
/// Not modelled: SET CONFIGURATION except for LRP, the failed authentication counter, and tamper evidence.
public struct NTAG424Card: NativeCard {
    /// The name of the application. A reader selects it by this name or by its identifier E110.
    public static let applicationName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
    /// The name that selects the tag itself, not its application.
    static let tagName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00]
    static let programmingUnit = 32
    static let programmingTime = Airtime.milliseconds(2)

    /// A read operation: its instruction and file. Continuing it with the same values does not increment the counter
    /// again.
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
    /// The read operation that the last command was part of.
    private var reading: Reading?
    var authenticatedKey: UInt8?
    var session: (any SecureMessaging)?
    var pending = NativePending.nothing
    var tear: TornWrite?

    /// Creates a tag.
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

    mutating func answer(to message: [UInt8]) -> CardAnswer {
        guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
        if (command.cla, command.ins) != (0x00, 0xB0), (command.cla, command.ins) != (0x90, 0xAD) { reading = nil }
        switch command.cla {
        case 0x00:
            pending = .nothing
            return CardAnswer { () throws(CardStatus) in
                switch command.ins {
                case 0xA4: try selectISO(command)
                case 0xB0: try readBinary(command)
                case 0xD6: try updateBinary(command)
                default: throw .unknownInstruction
                }
            }
        case 0x90: return processWrapped(command)
        default: return CardAnswer(status: .unknownClass)
        }
    }

    // MARK: ISO/IEC 7816-4

    /// SELECT by name, by identifier, or without data, which selects the tag itself (10.9.1).
    private mutating func selectISO(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.p2 & 0xF3 == 0 else { throw .wrongParameters }
        if command.p1 == 0x04 {
            guard [Self.applicationName, Self.tagName].contains(command.data) else { throw .notFound }
            forgetSelection()
            isSelected = command.data == Self.applicationName
            return CardAnswer(status: .success)
        }
        let selectsRoot = command.data.isEmpty && [0x00, 0x03].contains(command.p1)
        guard command.p1 <= 0x02 || selectsRoot else { throw .wrongParameters }
        guard command.data.count == 2 || selectsRoot else { throw .wrongLength }
        let identifier = selectsRoot ? 0x3F00 : UInt16(high: command.data[0], low: command.data[1])
        if command.p1 != 0x02, identifier == 0x3F00 || identifier == 0xE110 {
            forgetSelection()
            isSelected = identifier == 0xE110
            return CardAnswer(status: .success)
        }
        guard command.p1 != 0x01, isSelected,
            let index = contents.files.firstIndex(where: { $0.isoIdentifier == identifier })
        else { throw .notFound }
        currentFile = index
        return CardAnswer(status: .success)
    }

    /// Returns the file and offset given by P1 and P2. The lower five bits are a short identifier; 0 means current.
    private mutating func target(_ command: CardCommand) throws(CardStatus) -> (file: Int, offset: Int) {
        guard isSelected else { throw .conditionsNotSatisfied }
        let isShort = command.p1 & 0x80 != 0
        let short = UInt16(command.p1 & 0x1F)
        if isShort, short != 0 {
            let index = contents.files.firstIndex { $0.isoIdentifier & 0x1F == short }
            guard let index else { throw .notFound }
            currentFile = index
        }
        guard let currentFile else { throw .conditionsNotSatisfied }
        return (currentFile, isShort ? Int(command.p2) : Int(command.parameters))
    }

    /// READ BINARY, which is refused after an authentication. A length beyond the end reads up to the end (10.9.2).
    private mutating func readBinary(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.data.isEmpty, let expected = command.expectedLength, !command.isExtended else {
            throw .wrongLength
        }
        let (index, offset) = try target(command)
        let file = contents.files[index]
        guard session == nil, allowsReading(file) else { throw .securityNotSatisfied }
        guard offset < file.data.count else { throw .wrongParameters }
        guard let data = visibleData(index, command.ins) else { throw .securityNotSatisfied }
        let count = min(expected, data.count - offset)
        return CardAnswer(Array(data[offset..<(offset + count)]), status: .success)
    }

    private mutating func updateBinary(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard !command.data.isEmpty, command.data.count <= 255 else { throw .wrongLength }
        let (index, offset) = try target(command)
        let file = contents.files[index]
        guard session == nil, allows(file.accessRights, .write, .readWrite) else { throw .securityNotSatisfied }
        guard offset < file.data.count else { throw .wrongOffset }
        guard offset + command.data.count <= file.data.count else { throw .noRoom }
        contents.files[index].data.program(command.data, at: offset, tear: tear, unit: Self.programmingUnit)
        return CardAnswer(status: .success, workTime: Self.programming(command.data.count), isWrite: true)
    }

    // MARK: Dynamic messages

    /// Returns a file as a reader sees it; nil at the counter's limit. Consecutive reads count as one (9.3.1).
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
            padding: padding.bytes(23),
            usesLRP: contents.usesLRP
        )
        return mirrored ?? file.data
    }

    // MARK: Rights

    /// Returns whether a file may be read: its rights allow it, or a MAC authenticates the data, so everybody may.
    func allowsReading(_ file: NTAG424Contents.File) -> Bool {
        let isDynamic = authenticatedKey == nil && file.dynamicMessaging.map { $0.fileReadKey < 5 } ?? false
        return isDynamic || allows(file.accessRights, .read, .readWrite)
    }

    /// Returns the protection of data between tag and reader for access with one of these rights.
    func communication(_ file: NTAG424Contents.File, _ rights: FileAccessRights.Right...) -> CommunicationMode {
        file.accessRights.mode(file.communication, authenticatedKey, rights)
    }
}

extension VirtualType4Tag {
    /// Creates an NTAG 424 DNA.
    public convenience init(_ contents: NTAG424Contents) {
        self.init(
            card: NTAG424Card(contents),
            frontEnd: .nfcA(uid: contents.uid, ats: [0x06, 0x77, 0x77, 0x71, 0x02, 0x80])
        )
    }
}

extension NTAG424Card {
    func endsAuthentication(_ error: DESFireStatus) -> Bool { true }

    func frameLimit(of command: UInt8) -> Int { Int.max }

    func key(_ number: UInt8) -> DESFireKey? {
        Int(number) < contents.keys.count ? contents.keys[Int(number)] : nil
    }

    mutating func execute(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        switch command {
        case 0x71, 0x77:
            // The reader asks for LRP by a bit of its capabilities. In AES mode, this is not refused (table 19).
            let asksForLRP = data.count > 2 && data[2] & 0x02 != 0
            guard isSelected, command == 0x77 || asksForLRP || !contents.usesLRP else { throw .permissionDenied }
            return try authenticate(command, data, usesLRP: contents.usesLRP)
        case 0xC4: return try changeKey(data)
        default: break
        }
        let protection = try protection(command, data)
        if case .command(let mode, let header, let length) = protection {
            let expected = header + (session?.protectedLength(length, mode) ?? length)
            guard data.count == expected || length == 0 else { throw .lengthError }
        }
        return try complete(command, data, protection)
    }

    /// Returns the protection of a command and its answer (10.2). The header of CHANGE FILE SETTINGS lacks a length.
    private func protection(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> Protection {
        switch command {
        case 0x51, 0x3C: return .answer(.enciphered)
        case 0x5C: return .command(.enciphered, header: 1, length: 0)
        case 0xF6:
            guard let number = data.first else { throw .lengthError }
            let isFree = contents.files[try fileIndex(number)].dynamicMessaging?.counterKey == 0x0E
            return .answer(isFree ? .plain : .enciphered)
        case 0x5F:
            guard let number = data.first else { throw .lengthError }
            let isFree = contents.files[try fileIndex(number)].accessRights.holder(of: .change) == .everybody
            return .command(isFree ? .plain : .enciphered, header: 1, length: 0)
        case 0xAD:
            guard data.count >= 7 else { throw .lengthError }
            return .answer(communication(contents.files[try fileIndex(data[0])], .read, .readWrite))
        case 0x8D:
            guard data.count >= 7 else { throw .lengthError }
            let file = contents.files[try fileIndex(data[0])]
            guard allows(file.accessRights, .write, .readWrite) else { throw refusal(file, .write, .readWrite) }
            let mode = communication(file, .write, .readWrite)
            return .command(mode, header: 7, length: data.littleEndian(at: 4, count: 3))
        default: return .standard
        }
    }

    mutating func perform(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        switch command {
        case 0x60:
            try expect(data, 0)
            let version = contents.version
            return DESFireReply(parts: [Array(version[..<7]), Array(version[7..<14]), Array(version[14...])])
        case 0x3C:
            guard data == [0x00] else { throw .formatError }
            return DESFireReply(data: contents.signature, status: .signature)
        case 0x51:
            guard authenticatedKey != nil else { throw .authenticationError }
            try expect(data, 0)
            return DESFireReply(data: contents.uid)
        case 0x64:
            guard isSelected else { throw .permissionDenied }
            return try keyVersion(data)
        case 0xF5: return try fileSettings(data)
        case 0x5F: return try changeFileSettings(data)
        case 0xF6: return try fileCounters(data)
        case 0xAD: return try readData(data)
        case 0x8D: return try writeData(data)
        case 0x5C: return try setConfiguration(data)
        default: throw .illegalCommand
        }
    }

    /// SET CONFIGURATION, with key 0 (10.5.1): only LRP, which stays on. It ends the session, so that the answer has no
    /// MAC, and switches dynamic messages off, because their lengths differ (9.3.4.2).
    private mutating func setConfiguration(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard authenticatedKey == 0 else { throw .authenticationError }
        guard data == [0x05, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0] else { throw .parameterError }
        if !contents.usesLRP { contents.files[1].dynamicMessaging = nil }
        contents.usesLRP = true
        forgetAuthentication()
        return DESFireReply(programmed: Self.programmingUnit)
    }

    /// CHANGE KEY, with key 0 (10.6.1).
    private mutating func changeKey(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard authenticatedKey == 0, session != nil else { throw .authenticationError }
        guard let number = data.first else { throw .lengthError }
        guard let old = key(number) else { throw .noSuchKey }
        let key = try session?.openKey(number, Array(data.dropFirst()), .aes, replacing: number == 0 ? nil : old)
        if let key { contents.keys[Int(number)] = key }
        return try endKeyChange(ofSession: number == 0)
    }

    // MARK: Files

    private func fileIndex(_ number: UInt8) throws(DESFireStatus) -> Int {
        guard isSelected else { throw .permissionDenied }
        guard let index = contents.files.firstIndex(where: { $0.number == number & 0x1F }) else { throw .fileNotFound }
        return index
    }

    /// Returns the status for a refused access: nobody may read or write the file, or a key is needed.
    private func refusal(_ file: NTAG424Contents.File, _ rights: FileAccessRights.Right...) -> DESFireStatus {
        let isReading = rights.contains(.read)
        let hasKey = isReading && file.dynamicMessaging.map { $0.fileReadKey < 5 } ?? false
        let isForNobody = rights.allSatisfy { file.accessRights.holder(of: $0) == .nobody }
        return isForNobody && !hasKey ? .permissionDenied : .authenticationError
    }

    private func fileSettings(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        let file = contents.files[try fileIndex(data[0])]
        return DESFireReply(
            data: [0x00] + file.settings[..<3] + [UInt8](littleEndian: file.data.count, count: 3) + file.settings[3...]
        )
    }

    /// CHANGE FILE SETTINGS (10.7.1). Switching on secure dynamic messaging sets the read counter to 0.
    private mutating func changeFileSettings(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard let number = data.first else { throw .lengthError }
        let index = try fileIndex(number)
        let old = contents.files[index]
        guard old.accessRights.holder(of: .change) != .nobody else { throw .permissionDenied }
        guard allows(old.accessRights, .change) else { throw .authenticationError }
        var file = old
        let settings = Array(data.dropFirst())
        guard settings.first.map({ $0 & 0x40 == 0 }) ?? true || old.number == 2 else { throw .permissionDenied }
        guard file.change(settings, usesLRP: contents.usesLRP) else { throw .parameterError }
        guard file.hasPossibleSettings(readCounter: old.dynamicMessaging == nil ? 0 : contents.readCounter) else {
            throw .parameterError
        }
        contents.files[index] = file
        if old.dynamicMessaging == nil, file.dynamicMessaging != nil { contents.readCounter = 0 }
        return DESFireReply(programmed: Self.programmingUnit)
    }

    /// GET FILE COUNTERS: the read counter and two unused bytes (10.7.3).
    private func fileCounters(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        guard let messaging = contents.files[try fileIndex(data[0])].dynamicMessaging, messaging.counterKey != 0x0F
        else { throw .permissionDenied }
        guard messaging.counterKey == 0x0E || messaging.counterKey == authenticatedKey else {
            throw .authenticationError
        }
        return DESFireReply(data: [UInt8](littleEndian: Int(contents.readCounter), count: 3) + [0, 0])
    }

    private mutating func readData(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 7)
        let index = try fileIndex(data[0])
        guard allowsReading(contents.files[index]) else { throw refusal(contents.files[index], .read, .readWrite) }
        let offset = data.littleEndian(at: 1, count: 3)
        var length = data.littleEndian(at: 4, count: 3)
        let size = contents.files[index].data.count
        guard offset < size else { throw .boundaryError }
        if length == 0 { length = min(size - offset, 256) }
        guard offset + length <= size, length <= 256 else { throw .boundaryError }
        guard let visible = visibleData(index, 0xAD) else {
            // The read counter has reached its configured limit or its maximum.
            throw contents.files[index].dynamicMessaging?.counterLimit == nil ? .integrityError : .permissionDenied
        }
        return DESFireReply(data: Array(visible[offset..<(offset + length)]))
    }

    private mutating func writeData(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard data.count > 7 else { throw .lengthError }
        let index = try fileIndex(data[0])
        let offset = data.littleEndian(at: 1, count: 3)
        let length = data.littleEndian(at: 4, count: 3)
        guard data.count == 7 + length else { throw .lengthError }
        guard offset + length <= contents.files[index].data.count else { throw .boundaryError }
        contents.files[index].data.program(Array(data[7...]), at: offset, tear: tear, unit: Self.programmingUnit)
        return DESFireReply(programmed: length)
    }
}
