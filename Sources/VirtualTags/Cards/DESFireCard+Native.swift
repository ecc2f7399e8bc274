// SPDX-License-Identifier: Apache-2.0

extension DESFireCard {
    /// Carries out a native command's first frame (MF3ICD81 data sheet, 9.4 to 9.6).
    mutating func execute(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        pending = .nothing
        switch command {
        case 0x60:
            try expect(data, 0)
            return frame([
                Array(contents.version[0..<7]), Array(contents.version[7..<14]), Array(contents.version[14...]),
            ])
        case 0x0A, 0x1A, 0xAA: return try authenticate(command, data)
        case 0x5A: return try selectApplication(data)
        case 0x6A, 0x6D: return try listApplications(names: command == 0x6D, data)
        case 0x45: return try keySettings(data)
        case 0x64: return try keyVersion(data)
        case 0x6E:
            try expect(data, 0)
            return DESFireReply(data: [UInt8](littleEndian: contents.freeMemory, count: 3))
        case 0xCA: return try createApplication(data)
        case 0xDA: return try deleteApplication(data)
        case 0xCD, 0xCB: return try createFile(data, isBackup: command == 0xCB)
        case 0xDF: return try deleteFile(data)
        case 0x6F, 0x61: return try listFiles(isoIdentifiers: command == 0x61, data)
        case 0xF5: return try fileSettings(data)
        case 0xBD: return try readData(data)
        case 0x3D: return try writeData(data)
        case 0x6C: return try value(data)
        case 0xBB: return try readRecords(data)
        case 0xC7, 0xA7: return try endTransaction(commits: command == 0xC7, data)
        // What only a key that was proved may do, and needs cryptography.
        case 0xC4, 0x54, 0x5C, 0x51, 0xFC, 0x5F, 0x0C, 0xDC, 0x1C, 0x3B, 0xEB: throw .authenticationError
        default: throw .illegalCommand
        }
    }

    func expect(_ data: [UInt8], _ count: Int) throws(DESFireStatus) {
        guard data.count == count else { throw .lengthError }
    }

    // MARK: The card

    private mutating func authenticate(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        authenticatedKey = nil
        let application = selected.map { contents.applications[$0] }
        guard data[0] < (application?.keyCount ?? 1) & 0x0F else { throw .noSuchKey }
        let identifier = [UInt8](littleEndian: Int(application?.identifier ?? 0), count: 3)
        guard let challenge = authentication.begin(command: command, key: data[0], application: identifier) else {
            throw .noSuchKey
        }
        pending = .proof(key: data[0])
        return DESFireReply(data: challenge, status: .additionalFrame)
    }

    private mutating func selectApplication(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 3)
        let identifier = UInt32(data.littleEndian(at: 0, count: 3))
        let index = contents.applications.firstIndex { $0.identifier == identifier }
        guard identifier == 0 || index != nil else { throw .applicationNotFound }
        select(index)
        return DESFireReply()
    }

    /// GET APPLICATION IDS and GET DF NAMES.
    private mutating func listApplications(names: Bool, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 0)
        guard selected == nil else { throw .permissionDenied }
        guard contents.keySettings & 0x02 != 0 || authenticatedKey != nil else { throw .authenticationError }
        guard names else {
            return frame(
                frames(of: contents.applications.flatMap { [UInt8](littleEndian: Int($0.identifier), count: 3) })
            )
        }
        let named = contents.applications.compactMap { application -> [UInt8]? in
            guard let name = application.name, let file = application.isoIdentifier else { return nil }
            return [UInt8](littleEndian: Int(application.identifier), count: 3)
                + [UInt8](littleEndian: Int(file), count: 2) + name
        }
        return frame(named)
    }

    private func keySettings(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 0)
        guard let selected else { return DESFireReply(data: [contents.keySettings, 0x01]) }
        let application = contents.applications[selected]
        guard application.keySettings & 0x02 != 0 || authenticatedKey != nil else { throw .authenticationError }
        // The bit of ISO identifiers is not part of the answer.
        return DESFireReply(data: [application.keySettings, application.keyCount & ~0x20])
    }

    private func keyVersion(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        let versions = selected.map { contents.applications[$0].keyVersions } ?? [contents.keyVersion]
        guard Int(data[0]) < versions.count else { throw .noSuchKey }
        return DESFireReply(data: [versions[Int(data[0])]])
    }

    // MARK: Applications

    /// CREATE APPLICATION: AID, settings, number of keys, and where bit 5 of that says so an ISO identifier and name.
    private mutating func createApplication(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard selected == nil else { throw .permissionDenied }
        guard data.count >= 5 else { throw .lengthError }
        guard contents.keySettings & 0x04 != 0 || authenticatedKey == 0 else { throw .authenticationError }
        let hasIdentifier = data[4] & 0x20 != 0 && data.count >= 7
        let name = hasIdentifier ? Array(data[7...]) : []
        guard hasIdentifier ? name.count <= 16 : data.count == 5 else { throw .lengthError }
        let identifier = UInt32(data.littleEndian(at: 0, count: 3))
        guard identifier != 0, (1...14).contains(data[4] & 0x0F) else { throw .parameterError }
        guard !contents.applications.contains(where: { $0.identifier == identifier }) else { throw .duplicate }
        if tear != .old {
            contents.applications.append(
                DESFireApplication(
                    identifier: identifier,
                    keySettings: data[3],
                    keyCount: data[4],
                    isoIdentifier: hasIdentifier ? UInt16(data.littleEndian(at: 5, count: 2)) : nil,
                    name: name.isEmpty ? nil : name
                )
            )
        }
        return DESFireReply(programmed: 32)
    }

    private mutating func deleteApplication(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 3)
        let identifier = UInt32(data.littleEndian(at: 0, count: 3))
        let index = contents.applications.firstIndex { $0.identifier == identifier }
        guard let index else { throw .applicationNotFound }
        guard selected == nil else { throw .permissionDenied }
        guard contents.keySettings & 0x04 != 0 || authenticatedKey == 0 else { throw .authenticationError }
        if tear != .old { contents.applications.remove(at: index) }
        return DESFireReply(programmed: 32)
    }

    // MARK: Files

    /// CREATE STD DATA FILE and CREATE BACKUP DATA FILE: number, ISO identifier where the application has them,
    /// protection, rights, size.
    private mutating func createFile(_ data: [UInt8], isBackup: Bool) throws(DESFireStatus) -> DESFireReply {
        guard let selected else { throw .permissionDenied }
        guard data.count == 7 || data.count == 9 else { throw .lengthError }
        let application = contents.applications[selected]
        guard application.keySettings & 0x04 != 0 || authenticatedKey == 0 else { throw .authenticationError }
        let hasIdentifier = data.count == 9
        let rest = Array(data.dropFirst(hasIdentifier ? 3 : 1))
        let identifier = hasIdentifier ? UInt16(data.littleEndian(at: 1, count: 2)) : nil
        let size = rest.littleEndian(at: 3, count: 3)
        guard data[0] < 32, size > 0, !hasIdentifier || application.keyCount & 0x20 != 0 else { throw .parameterError }
        let isTaken = application.files.contains {
            $0.number == data[0] || (identifier != nil && $0.isoIdentifier == identifier)
        }
        guard !isTaken else { throw .duplicate }
        guard (size + 31) / 32 * (isBackup ? 64 : 32) <= contents.freeMemory else { throw .outOfMemory }
        let octets = [UInt8](repeating: 0, count: size)
        if tear != .old {
            contents.applications[selected].files.append(
                DESFireFile(
                    number: data[0],
                    isoIdentifier: identifier,
                    communication: rest[0],
                    accessRights: UInt16(rest.littleEndian(at: 1, count: 2)),
                    kind: isBackup ? .backup(octets) : .standard(octets)
                )
            )
        }
        return DESFireReply(programmed: size)
    }

    private mutating func deleteFile(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        guard let selected else { throw .permissionDenied }
        guard let index = contents.applications[selected].files.firstIndex(where: { $0.number == data[0] }) else {
            throw .fileNotFound
        }
        let settings = contents.applications[selected].keySettings
        guard settings & 0x04 != 0 || authenticatedKey == 0 else { throw .authenticationError }
        if tear != .old { contents.applications[selected].files.remove(at: index) }
        currentFile = nil
        transaction = [:]
        return DESFireReply(programmed: 32)
    }

    /// GET FILE IDS and GET ISO FILE IDS.
    private mutating func listFiles(isoIdentifiers: Bool, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 0)
        let application = try selectedApplication()
        guard application.keySettings & 0x02 != 0 || authenticatedKey != nil else { throw .authenticationError }
        guard isoIdentifiers else { return DESFireReply(data: application.files.map(\.number)) }
        let identifiers = application.files.compactMap(\.isoIdentifier)
        return frame(frames(of: identifiers.flatMap { [UInt8](littleEndian: Int($0), count: 2) }))
    }

    func selectedApplication() throws(DESFireStatus) -> DESFireApplication {
        guard let selected else { throw .permissionDenied }
        return contents.applications[selected]
    }
}
