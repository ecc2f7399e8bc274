// SPDX-License-Identifier: Apache-2.0
import TagLink

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

    /// Returns how a command and its answer are protected, which depends on the file.
    private func protection(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> Protection {
        switch command {
        case 0x54: return .command(.enciphered, header: 0, length: 1)
        case 0x5C: return try configurationProtection(data)
        case 0x51, 0x3C: return .answer(.enciphered)
        case 0x5F:
            guard let number = data.first else { throw .lengthError }
            let isFree = try file(number).accessRights.holder(of: .change) == .everybody
            return .command(isFree ? .plain : .enciphered, header: 1, length: 3)
        case 0xBD, 0xBB, 0xAD, 0xAB:
            guard data.count >= 7 else { throw .lengthError }
            let mode = try granted(try file(data[0]), .read, .readWrite)
            return .answer(mode, isOpenEnded: data.littleEndian(at: 4, count: 3) == 0)
        case 0x3D, 0x3B, 0x8D, 0x8B:
            guard data.count >= 7 else { throw .lengthError }
            let mode = try granted(try file(data[0]), .write, .readWrite)
            return .command(mode, header: 7, length: data.littleEndian(at: 4, count: 3))
        case 0x6C:
            guard let number = data.first else { throw .lengthError }
            return .answer(try granted(try file(number), .read, .write, .readWrite))
        case 0x0C, 0xDC:
            guard let number = data.first else { throw .lengthError }
            let file = try file(number)
            let mode = try command == 0x0C ? granted(file, .readWrite) : granted(file, .read, .write, .readWrite)
            return .command(mode, header: 1, length: 4)
        default: return .standard
        }
    }

    /// Executes a command whose protection was removed.
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

    func expect(_ data: [UInt8], _ count: Int) throws(DESFireStatus) {
        guard data.count == count else { throw .lengthError }
    }

    // MARK: Rights

    /// Returns whether one of the keys for a file's rights is free or was authenticated.
    ///
    /// - Parameters:
    ///   - accessRights: the file's rights.
    ///   - rights: the requested rights.
    func allows(_ accessRights: FileAccessRights, _ rights: FileAccessRights.Right...) -> Bool {
        accessRights.allow(authenticatedKey, rights)
    }

    /// Returns how data are protected between card and reader for one of a file's rights.
    func communication(_ file: DESFireFile, _ rights: FileAccessRights.Right...) -> CommunicationMode {
        file.accessRights.mode(file.communication, authenticatedKey, rights)
    }

    /// The same, but throws without the right.
    private func granted(_ file: DESFireFile, _ rights: FileAccessRights.Right...) throws(DESFireStatus)
        -> CommunicationMode
    {
        guard file.accessRights.allow(authenticatedKey, rights) else { throw .authenticationError }
        return file.accessRights.mode(file.communication, authenticatedKey, rights)
    }
}
