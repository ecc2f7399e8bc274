// SPDX-License-Identifier: Apache-2.0
import TagLink

extension NTAG424Card {
    /// Executes a native command. An error ends everything that was started, including the authentication. So does a
    /// new command before the last frame of the one before it.
    mutating func native(_ command: UInt8, _ data: [UInt8]) -> DESFireReply {
        do throws(DESFireStatus) {
            guard command != 0xAF else { return try proceed(data) }
            guard pending.isNothing else { throw .commandAborted }
            return try execute(command, data)
        } catch {
            pending = .nothing
            forgetAuthentication()
            return DESFireReply(status: error)
        }
    }

    /// AF: the next frame of GET VERSION, or the second part of an authentication.
    private mutating func proceed(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        let waiting = pending
        pending = .nothing
        switch waiting {
        case .nothing: throw .illegalCommand
        case .frames(let frames):
            guard data.isEmpty else { throw .lengthError }
            return frame(frames)
        case .proof(let authentication, let previous):
            let transaction = random.bytes(4)
            let (answer, session) = try authentication.finish(data, transaction: transaction, session: previous)
            self.session = session
            authenticatedKey = authentication.number
            return DESFireReply(data: answer)
        }
    }

    private mutating func frame(_ frames: [[UInt8]]) -> DESFireReply {
        guard frames.count > 1 else { return DESFireReply(data: frames.first ?? []) }
        pending = .frames(Array(frames.dropFirst()))
        return DESFireReply(data: frames[0], status: .additionalFrame)
    }

    private mutating func execute(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        switch command {
        case 0x71, 0x77: return try authenticate(command, data)
        case 0xC4: return try changeKey(data)
        default: break
        }
        let protection = try protection(command, data)
        if case .command(let mode, let header, let length) = protection {
            let expected = header + (session?.protectedLength(length, mode) ?? length)
            guard data.count == expected || length == 0 else { throw .lengthError }
        }
        let plain = try session?.open(command, data, protection) ?? data
        var reply = try perform(command, plain)
        if let sealed = try session?.seal(reply.data, protection, status: reply.status.rawValue) { reply.data = sealed }
        guard command == 0x60 else { return reply }
        return frame([Array(reply.data[..<7]), Array(reply.data[7..<14]), Array(reply.data[14...])])
    }

    /// The first part of AUTHENTICATE EV2 FIRST and NON FIRST (10.4).
    private mutating func authenticate(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard isSelected else { throw .permissionDenied }
        let previous = session as? EV2Messaging
        forgetAuthentication()
        guard let scheme = CardAuthentication.Scheme(rawValue: command) else { throw .illegalCommand }
        guard let number = data.first, data.count == scheme.length(of: data) else { throw .lengthError }
        guard Int(number) < contents.keys.count else { throw .noSuchKey }
        guard scheme == .ev2First || previous != nil else { throw .permissionDenied }
        let authentication = CardAuthentication(
            scheme,
            number: number,
            key: contents.keys[Int(number)],
            challenge: random.bytes(16),
            capabilities: Array(data.dropFirst(2))
        )
        pending = .proof(authentication, after: previous)
        return DESFireReply(data: authentication.sent, status: .additionalFrame)
    }

    /// Returns how a command and its answer are protected (10.2). The header of CHANGE FILE SETTINGS has no length.
    private func protection(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> Protection {
        switch command {
        case 0x51, 0x3C: return .answer(.enciphered)
        case 0xF6:
            guard let number = data.first else { throw .lengthError }
            let isFree = contents.files[try place(number)].dynamicMessaging?.counterKey == 0x0E
            return .answer(isFree ? .plain : .enciphered)
        case 0x5F:
            guard let number = data.first else { throw .lengthError }
            let isFree = contents.files[try place(number)].accessRights.holder(of: .change) == .everybody
            return .command(isFree ? .plain : .enciphered, header: 1, length: 0)
        case 0xAD:
            guard data.count >= 7 else { throw .lengthError }
            return .answer(communication(contents.files[try place(data[0])], .read, .readWrite))
        case 0x8D:
            guard data.count >= 7 else { throw .lengthError }
            let file = contents.files[try place(data[0])]
            guard allows(file, .write, .readWrite) else { throw refusal(file, .write, .readWrite) }
            let mode = communication(file, .write, .readWrite)
            return .command(mode, header: 7, length: data.littleEndian(at: 4, count: 3))
        default: return .standard
        }
    }

    private mutating func perform(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        switch command {
        case 0x60:
            guard data.isEmpty else { throw .lengthError }
            return DESFireReply(data: contents.version)
        case 0x3C:
            guard data == [0x00] else { throw .formatError }
            return DESFireReply(data: contents.signature, status: .signature)
        case 0x51:
            guard authenticatedKey != nil else { throw .authenticationError }
            guard data.isEmpty else { throw .lengthError }
            return DESFireReply(data: contents.uid)
        case 0x64:
            guard isSelected else { throw .permissionDenied }
            guard data.count == 1 else { throw .lengthError }
            guard Int(data[0]) < contents.keys.count else { throw .noSuchKey }
            return DESFireReply(data: [contents.keys[Int(data[0])].version])
        case 0xF5: return try fileSettings(data)
        case 0x5F: return try changeFileSettings(data)
        case 0xF6: return try fileCounters(data)
        case 0xAD: return try readData(data)
        case 0x8D: return try writeData(data)
        // SET CONFIGURATION.
        case 0x5C: throw authenticatedKey == 0 ? .parameterError : .authenticationError
        default: throw .illegalCommand
        }
    }

    /// CHANGE KEY, with key 0 (10.6.1).
    private mutating func changeKey(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard authenticatedKey == 0, session != nil else { throw .authenticationError }
        guard let number = data.first else { throw .lengthError }
        guard Int(number) < contents.keys.count else { throw .noSuchKey }
        let old = number == 0 ? nil : contents.keys[Int(number)]
        let key = try session?.openKey(number, Array(data.dropFirst()), .aes, replacing: old)
        if let key, tear != .old { contents.keys[Int(number)] = key }
        guard number != 0 else {
            // The key of the session was replaced, so the session ends.
            forgetAuthentication()
            return DESFireReply(programmed: Self.programmingUnit)
        }
        let code = try session?.seal([], .standard, status: 0x00) ?? []
        return DESFireReply(data: code, programmed: Self.programmingUnit)
    }

    // MARK: Files

    private func place(_ number: UInt8) throws(DESFireStatus) -> Int {
        guard isSelected else { throw .permissionDenied }
        guard let index = contents.files.firstIndex(where: { $0.number == number & 0x1F }) else { throw .fileNotFound }
        return index
    }

    /// Returns why a file may not be read or written: nobody may, or a key is needed.
    private func refusal(_ file: NTAG424Contents.File, _ rights: FileAccessRights.Right...) -> DESFireStatus {
        let isReading = rights.contains(.read)
        let hasKey = isReading && file.dynamicMessaging.map { $0.fileReadKey < 5 } ?? false
        let isForNobody = rights.allSatisfy { file.accessRights.holder(of: $0) == .nobody }
        return isForNobody && !hasKey ? .permissionDenied : .authenticationError
    }

    private func fileSettings(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard data.count == 1 else { throw .lengthError }
        let file = contents.files[try place(data[0])]
        return DESFireReply(
            data: [0x00] + file.settings[..<3] + [UInt8](littleEndian: file.data.count, count: 3) + file.settings[3...]
        )
    }

    /// CHANGE FILE SETTINGS (10.7.1). Switching on secure dynamic messaging sets the read counter to 0.
    private mutating func changeFileSettings(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard let number = data.first else { throw .lengthError }
        let index = try place(number)
        let old = contents.files[index]
        guard old.accessRights.holder(of: .change) != .nobody else { throw .permissionDenied }
        guard allows(old, .change) else { throw .authenticationError }
        var file = old
        let settings = Array(data.dropFirst())
        guard settings.first.map({ $0 & 0x40 == 0 }) ?? true || old.number == 2 else { throw .permissionDenied }
        guard file.change(settings) else { throw .parameterError }
        guard file.hasPossibleSettings(readCounter: old.dynamicMessaging == nil ? 0 : contents.readCounter) else {
            throw .parameterError
        }
        if tear != .old {
            contents.files[index] = file
            if old.dynamicMessaging == nil, file.dynamicMessaging != nil { contents.readCounter = 0 }
        }
        return DESFireReply(programmed: Self.programmingUnit)
    }

    /// GET FILE COUNTERS: the read counter and two unused bytes (10.7.3).
    private func fileCounters(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard data.count == 1 else { throw .lengthError }
        guard let messaging = contents.files[try place(data[0])].dynamicMessaging, messaging.counterKey != 0x0F else {
            throw .permissionDenied
        }
        guard messaging.counterKey == 0x0E || messaging.counterKey == authenticatedKey else {
            throw .authenticationError
        }
        return DESFireReply(data: [UInt8](littleEndian: Int(contents.readCounter), count: 3) + [0, 0])
    }

    private mutating func readData(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard data.count == 7 else { throw .lengthError }
        let index = try place(data[0])
        guard allowsReading(contents.files[index]) else { throw refusal(contents.files[index], .read, .readWrite) }
        let offset = data.littleEndian(at: 1, count: 3)
        var length = data.littleEndian(at: 4, count: 3)
        let size = contents.files[index].data.count
        guard offset < size else { throw .boundaryError }
        if length == 0 { length = min(size - offset, 256) }
        guard offset + length <= size, length <= 256 else { throw .boundaryError }
        guard let visible = visibleData(index, 0xAD) else {
            // The counter has reached its limit, or can't count any further.
            throw contents.files[index].dynamicMessaging?.counterLimit == nil ? .integrityError : .permissionDenied
        }
        return DESFireReply(data: Array(visible[offset..<(offset + length)]))
    }

    private mutating func writeData(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard data.count > 7 else { throw .lengthError }
        let index = try place(data[0])
        let offset = data.littleEndian(at: 1, count: 3)
        let length = data.littleEndian(at: 4, count: 3)
        guard data.count == 7 + length else { throw .lengthError }
        guard offset + length <= contents.files[index].data.count else { throw .boundaryError }
        contents.files[index].data.program(Array(data[7...]), at: offset, tear: tear, unit: Self.programmingUnit)
        return DESFireReply(programmed: length)
    }
}
