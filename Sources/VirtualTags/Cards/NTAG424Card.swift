// SPDX-License-Identifier: Apache-2.0
import TagLink

/// An NTAG 424 DNA as a Type 4 tag: commands of ISO/IEC 7816-4, and native ones wrapped in APDUs of class 90.
///
/// Cryptography plugs in as an ``AuthenticationProvider`` and a ``MessageMirror``. Without them the keys are keys that
/// nobody knows, so that what is not free is refused, and messages are not mirrored.
///
/// Not modelled: secure messaging, changing keys, file settings and the configuration, and tamper evidence.
public struct NTAG424Card: Card {
    /// The name of the application, which is selected by it or by its identifier E110.
    public static let applicationName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
    /// How many octets the memory programs at a time, and how long it takes.
    static let programmingUnit = 32
    static let programmingTime = Airtime.milliseconds(2)

    /// What the tag holds.
    public private(set) var contents: NTAG424Contents
    private var authentication: any AuthenticationProvider
    private let mirror: (any MessageMirror)?

    // Volatile state.
    private var isSelected = false
    private var currentFile: Int?
    /// Whether the NDEF file was read since the application was selected.
    private var hasCounted = false
    private var authenticatedKey: UInt8?
    private var pendingKey: UInt8?
    private var pendingVersion: [[UInt8]] = []

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - contents: what it holds.
    ///   - authentication: its authentication; nil for a tag whose keys nobody knows.
    ///   - mirror: its secure dynamic messaging; nil when messages are not mirrored.
    public init(
        _ contents: NTAG424Contents = NTAG424Contents(),
        authentication: (any AuthenticationProvider)? = nil,
        mirror: (any MessageMirror)? = nil
    ) {
        self.contents = contents
        self.authentication = authentication ?? UnknownKeys(contents.uid)
        self.mirror = mirror
    }

    public mutating func losePower() {
        isSelected = false
        forgetSelection()
    }

    private mutating func forgetSelection() {
        currentFile = nil
        hasCounted = false
        authenticatedKey = nil
        pendingKey = nil
        pendingVersion = []
        authentication.reset()
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
        switch command.cla {
        case 0x00:
            switch command.ins {
            case 0xA4: return selectISO(command)
            case 0xB0: return readBinary(command)
            case 0xD6: return updateBinary(command, tear)
            default: return CardAnswer(status: .unknownInstruction)
            }
        case 0x90:
            guard command.parameters == 0 else { return CardAnswer(status: .wrongParameters) }
            do throws(DESFireStatus) {
                let reply = try native(command.ins, command.data, tear)
                let units = (reply.programmed + Self.programmingUnit - 1) / Self.programmingUnit
                return CardAnswer(
                    reply.data + [0x91, reply.status.rawValue],
                    workTime: Self.programmingTime * units,
                    isWrite: units > 0
                )
            } catch {
                return CardAnswer([0x91, error.rawValue])
            }
        default:
            return CardAnswer(status: .unknownClass)
        }
    }

    // MARK: ISO/IEC 7816-4

    private mutating func selectISO(_ command: CardCommand) -> CardAnswer {
        guard command.p2 & 0xF3 == 0 else { return CardAnswer(status: .wrongParameters) }
        if command.p1 == 0x04 {
            guard command.data == Self.applicationName else { return CardAnswer(status: .notFound) }
            forgetSelection()
            isSelected = true
            return CardAnswer(status: .success)
        }
        guard command.p1 <= 0x02 else { return CardAnswer(status: .wrongParameters) }
        guard command.data.count == 2 else { return CardAnswer(status: .wrongLength) }
        let identifier = UInt16(command.data[0]) << 8 | UInt16(command.data[1])
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

    /// The file and offset that P1 and P2 name. Short identifiers are the lower five bits of E103 to E105.
    private mutating func target(_ command: CardCommand) -> (file: Int, offset: Int)? {
        guard isSelected else { return nil }
        guard command.p1 & 0x80 != 0 else { return currentFile.map { ($0, Int(command.parameters)) } }
        let short = UInt16(command.p1 & 0x1F)
        guard let index = contents.files.firstIndex(where: { $0.isoIdentifier & 0x1F == short }) else { return nil }
        currentFile = index
        return (index, Int(command.p2))
    }

    private mutating func readBinary(_ command: CardCommand) -> CardAnswer {
        guard command.data.isEmpty, let expected = command.expectedLength, !command.isExtended else {
            return CardAnswer(status: .wrongLength)
        }
        guard let (index, offset) = target(command) else { return missing(command) }
        let file = contents.files[index]
        guard allows(file, 12, 4) else { return CardAnswer(status: .securityNotSatisfied) }
        guard offset < file.data.count else { return CardAnswer(status: .wrongOffset) }
        let data = visibleData(index)
        let count = min(expected, data.count - offset)
        let isWhole = expected == 256 || count == expected
        return CardAnswer(Array(data[offset..<(offset + count)]), status: isWhole ? .success : .endOfFile)
    }

    private mutating func updateBinary(_ command: CardCommand, _ tear: TornWrite?) -> CardAnswer {
        guard !command.data.isEmpty, command.data.count <= 255 else { return CardAnswer(status: .wrongLength) }
        guard let (index, offset) = target(command) else { return missing(command) }
        let file = contents.files[index]
        guard allows(file, 8, 4) else { return CardAnswer(status: .securityNotSatisfied) }
        guard offset < file.data.count else { return CardAnswer(status: .wrongOffset) }
        guard offset + command.data.count <= file.data.count else { return CardAnswer(status: .noRoom) }
        contents.files[index].data.program(command.data, at: offset, tear: tear, unit: Self.programmingUnit)
        let units = (command.data.count + Self.programmingUnit - 1) / Self.programmingUnit
        return CardAnswer(status: .success, workTime: Self.programmingTime * units, isWrite: true)
    }

    private func missing(_ command: CardCommand) -> CardAnswer {
        CardAnswer(status: command.p1 & 0x80 != 0 && isSelected ? .notFound : .noCurrentFile)
    }

    /// A file as a reader sees it: the NDEF file is mirrored, and its first reading counted.
    private mutating func visibleData(_ index: Int) -> [UInt8] {
        let file = contents.files[index]
        guard file.number == 2, let mirror, authenticatedKey == nil else { return file.data }
        if !hasCounted {
            hasCounted = true
            contents.readCounter = min(contents.readCounter + 1, 0xFF_FFFF)
        }
        let mirrored = mirror.mirrored(file.data, contents: contents)
        return mirrored.count == file.data.count ? mirrored : file.data
    }

    private func allows(_ file: NTAG424Contents.File, _ shifts: Int...) -> Bool {
        shifts.contains { shift in
            let key = UInt8(file.accessRights >> UInt16(shift) & 0x0F)
            return key == 0x0E || (key != 0x0F && key == authenticatedKey)
        }
    }

    // MARK: Native commands

    private mutating func native(
        _ command: UInt8,
        _ data: [UInt8],
        _ tear: TornWrite?
    ) throws(DESFireStatus) -> DESFireReply {
        let frames = pendingVersion
        let key = pendingKey
        pendingVersion = []
        pendingKey = nil
        switch command {
        case 0x60:
            guard data.isEmpty else { throw .lengthError }
            pendingVersion = [Array(contents.version[7..<14]), Array(contents.version[14...])]
            return DESFireReply(data: Array(contents.version[0..<7]), status: .additionalFrame)
        case 0xAF where !frames.isEmpty:
            pendingVersion = Array(frames.dropFirst())
            return DESFireReply(data: frames[0], status: frames.count > 1 ? .additionalFrame : .success)
        case 0xAF:
            guard let key, let proof = authentication.finish(data) else { throw .authenticationError }
            authenticatedKey = key
            return DESFireReply(data: proof)
        case 0x71, 0x77: return try authenticate(command, data)
        case 0x3C:
            guard data == [0x00] else { throw .parameterError }
            return DESFireReply(data: contents.signature, status: DESFireStatus(rawValue: 0x90))
        case 0xF5: return try fileSettings(data)
        case 0xAD: return try readData(data)
        case 0x8D: return try writeData(data, tear)
        // GET CARD UID, CHANGE KEY, CHANGE FILE SETTINGS, SET CONFIGURATION, GET FILE COUNTERS, GET KEY VERSION.
        case 0x51, 0xC4, 0x5F, 0x5C, 0xF6, 0x64: throw .authenticationError
        default: throw .illegalCommand
        }
    }

    private mutating func authenticate(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard isSelected else { throw .permissionDenied }
        guard let key = data.first else { throw .lengthError }
        authenticatedKey = nil
        guard key < 5,
            let challenge = authentication.begin(command: command, key: key, application: [0x10, 0xE1, 0x00])
        else { throw .noSuchKey }
        pendingKey = key
        return DESFireReply(data: challenge, status: .additionalFrame)
    }

    private func place(_ number: UInt8) throws(DESFireStatus) -> Int {
        guard isSelected else { throw .permissionDenied }
        guard let index = contents.files.firstIndex(where: { $0.number == number & 0x1F }) else { throw .fileNotFound }
        return index
    }

    private func fileSettings(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard data.count == 1 else { throw .lengthError }
        let file = contents.files[try place(data[0])]
        return DESFireReply(
            data: [0x00, file.option] + [UInt8](littleEndian: Int(file.accessRights), count: 2)
                + [UInt8](littleEndian: file.data.count, count: 3)
        )
    }

    private mutating func readData(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard data.count == 7 else { throw .lengthError }
        let index = try place(data[0])
        guard allows(contents.files[index], 12, 4) else { throw .authenticationError }
        let offset = data.littleEndian(at: 1, count: 3)
        var length = data.littleEndian(at: 4, count: 3)
        let size = contents.files[index].data.count
        guard offset < size else { throw .boundaryError }
        if length == 0 { length = min(size - offset, 256) }
        guard offset + length <= size, length <= 256 else { throw .boundaryError }
        return DESFireReply(data: Array(visibleData(index)[offset..<(offset + length)]))
    }

    private mutating func writeData(_ data: [UInt8], _ tear: TornWrite?) throws(DESFireStatus) -> DESFireReply {
        guard data.count > 7 else { throw .lengthError }
        let index = try place(data[0])
        guard allows(contents.files[index], 8, 4) else { throw .authenticationError }
        let offset = data.littleEndian(at: 1, count: 3)
        let length = data.littleEndian(at: 4, count: 3)
        guard data.count == 7 + length else { throw .lengthError }
        guard offset + length <= contents.files[index].data.count else { throw .boundaryError }
        contents.files[index].data.program(Array(data[7...]), at: offset, tear: tear, unit: Self.programmingUnit)
        return DESFireReply(programmed: length)
    }
}

extension Type4Tag {
    /// Creates an NTAG 424 DNA.
    ///
    /// - Parameters:
    ///   - contents: what the tag holds.
    ///   - authentication: its authentication; nil for a tag whose keys nobody knows.
    ///   - mirror: its secure dynamic messaging; nil when messages are not mirrored.
    public convenience init(
        _ contents: NTAG424Contents,
        authentication: (any AuthenticationProvider)? = nil,
        mirror: (any MessageMirror)? = nil
    ) {
        self.init(
            card: NTAG424Card(contents, authentication: authentication, mirror: mirror),
            frontEnd: .nfcA(uid: contents.uid, ats: [0x06, 0x77, 0x77, 0x71, 0x02, 0x80])
        )
    }
}
