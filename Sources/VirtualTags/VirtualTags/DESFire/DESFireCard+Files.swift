// SPDX-License-Identifier: Apache-2.0
import TagLink

extension DESFireCard {
    func file(_ number: UInt8) throws(DESFireStatus) -> (index: Int, file: DESFireFile) {
        let files = try selectedApplication().files
        guard let index = files.firstIndex(where: { $0.number == number }) else { throw .fileNotFound }
        return (index, files[index])
    }

    // MARK: Creating

    /// CREATE STD DATA FILE and CREATE BACKUP DATA FILE: number, optional ISO identifier, protection, rights, size.
    mutating func createDataFile(_ data: [UInt8], isBackup: Bool) throws(DESFireStatus) -> DESFireReply {
        guard data.count == 7 || data.count == 9 else { throw .lengthError }
        let size = data.littleEndian(at: data.count - 3, count: 3)
        guard size > 0 else { throw .parameterError }
        let needed = (size + 31) / 32 * (isBackup ? 64 : 32)
        let bytes = [UInt8](repeating: 0, count: min(size, contents.freeMemory))
        let kind: DESFireFile.Kind = isBackup ? .backup(bytes) : .standard(bytes)
        return try create(data, hasIdentifier: data.count == 9, kind, needed: needed, programmed: size)
    }

    /// CREATE VALUE FILE: number, protection, rights, both limits, the value, limited credit.
    mutating func createValueFile(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 17)
        let numbers = [4, 8, 12].map { Int32(truncatingIfNeeded: data.littleEndian(at: $0, count: 4)) }
        guard numbers[0] <= numbers[1], (numbers[0]...numbers[1]).contains(numbers[2]) else { throw .parameterError }
        let kind = DESFireFile.Kind.value(
            lower: numbers[0],
            upper: numbers[1],
            current: numbers[2],
            limitedCredit: data[16] & 0x01 != 0
        )
        return try create(data, hasIdentifier: false, kind, needed: 32, programmed: Self.programmingUnit)
    }

    /// CREATE LINEAR RECORD FILE and CREATE CYCLIC RECORD FILE: number, ISO identifier if the application uses them,
    /// protection, rights, record size, and number of records.
    mutating func createRecordFile(_ data: [UInt8], isCyclic: Bool) throws(DESFireStatus) -> DESFireReply {
        guard data.count == 10 || data.count == 12 else { throw .lengthError }
        let hasIdentifier = data.count == 12
        let size = data.littleEndian(at: data.count - 6, count: 3)
        let maximum = data.littleEndian(at: data.count - 3, count: 3)
        guard size > 0, maximum > (isCyclic ? 1 : 0) else { throw .parameterError }
        let kind = DESFireFile.Kind.records([], size: size, maximum: maximum, isCyclic: isCyclic)
        let needed = (size * maximum + 31) / 32 * 32
        return try create(data, hasIdentifier: hasIdentifier, kind, needed: needed, programmed: Self.programmingUnit)
    }

    private mutating func create(
        _ data: [UInt8],
        hasIdentifier: Bool,
        _ kind: DESFireFile.Kind,
        needed: Int,
        programmed: Int
    ) throws(DESFireStatus) -> DESFireReply {
        guard let selected else { throw .permissionDenied }
        let application = contents.applications[selected]
        guard application.keySettings & 0x04 != 0 || authenticatedKey == 0 else { throw .authenticationError }
        let identifier = hasIdentifier ? UInt16(data.littleEndian(at: 1, count: 2)) : nil
        let rest = Array(data.dropFirst(hasIdentifier ? 3 : 1))
        guard data[0] < 32, rest[0] < 0x04, !hasIdentifier || application.keyCount & 0x20 != 0 else {
            throw .parameterError
        }
        let isTaken = application.files.contains {
            $0.number == data[0] || (identifier != nil && $0.isoIdentifier == identifier)
        }
        guard !isTaken else { throw .duplicate }
        guard needed <= contents.freeMemory else { throw .outOfMemory }
        contents.applications[selected].files.append(
            DESFireFile(
                number: data[0],
                isoIdentifier: identifier,
                communication: CommunicationSettings(rawValue: rest[0]),
                accessRights: FileAccessRights(rawValue: UInt16(rest.littleEndian(at: 1, count: 2))),
                kind: kind
            )
        )
        return DESFireReply(programmed: programmed)
    }

    mutating func deleteFile(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        guard let selected else { throw .permissionDenied }
        let (index, _) = try file(data[0])
        let settings = contents.applications[selected].keySettings
        guard settings & 0x04 != 0 || authenticatedKey == 0 else { throw .authenticationError }
        contents.applications[selected].files.remove(at: index)
        currentFile = nil
        forgetTransaction()
        return DESFireReply(programmed: Self.programmingUnit)
    }

    // MARK: Settings

    /// Returns whether key settings and files may be listed: by everybody (bit 1), or with the master key.
    func mayList(_ application: DESFireApplication) -> Bool {
        application.keySettings & 0x02 != 0 || authenticatedKey == 0
    }

    func listFiles(isoIdentifiers: Bool, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 0)
        let application = try selectedApplication()
        guard mayList(application) else { throw .authenticationError }
        guard isoIdentifiers else { return DESFireReply(data: application.files.map(\.number)) }
        let identifiers = application.files.compactMap(\.isoIdentifier)
        return DESFireReply(data: identifiers.flatMap { $0.littleEndianBytes })
    }

    func fileSettings(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        let application = try selectedApplication()
        guard mayList(application) else { throw .authenticationError }
        let file = try file(data[0]).file
        var settings = [file.kind.code, file.communication.rawValue] + file.accessRights.rawValue.littleEndianBytes
        switch file.kind {
        case .standard(let data), .backup(let data): settings += [UInt8](littleEndian: data.count, count: 3)
        case .value(let lower, let upper, _, let limited):
            // The limited credit is 0, because its amount would come from an earlier transaction.
            settings += [lower, upper].flatMap { [UInt8](littleEndian: Int($0), count: 4) }
            settings += [0, 0, 0, 0, limited ? 1 : 0]
        case .linearRecords(let size, let maximum, let records), .cyclicRecords(let size, let maximum, let records):
            settings += [size, maximum, records.count / max(1, size)].flatMap { [UInt8](littleEndian: $0, count: 3) }
        }
        return DESFireReply(data: settings)
    }

    /// CHANGE FILE SETTINGS: file, protection and rights.
    mutating func changeFileSettings(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 4)
        guard let selected else { throw .permissionDenied }
        let (index, file) = try file(data[0])
        let rights = file.accessRights
        guard rights.holder(of: .change) != .nobody else { throw .permissionDenied }
        guard allows(rights, .change) else { throw .authenticationError }
        guard data[1] < 0x04 else { throw .parameterError }
        let newRights = FileAccessRights(rawValue: UInt16(data.littleEndian(at: 2, count: 2)))
        contents.applications[selected].files[index].communication = CommunicationSettings(rawValue: data[1])
        contents.applications[selected].files[index].accessRights = newRights
        return DESFireReply(programmed: 3)
    }
}

extension DESFireCard {
    /// READ DATA: file, offset, length. A length of 0 reads to the end.
    func readData(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 7)
        let file = try file(data[0]).file
        guard let bytes = file.data else { throw .permissionDenied }
        guard allows(file.accessRights, .read, .readWrite) else { throw .authenticationError }
        let offset = data.littleEndian(at: 1, count: 3)
        var length = data.littleEndian(at: 4, count: 3)
        guard offset < bytes.count else { throw .boundaryError }
        if length == 0 { length = bytes.count - offset }
        guard offset + length <= bytes.count else { throw .boundaryError }
        return DESFireReply(data: Array(bytes[offset..<(offset + length)]))
    }

    /// WRITE DATA: file, offset, length, and the bytes.
    mutating func writeData(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        let (index, file) = try file(data[0])
        guard let selected, let bytes = file.data else { throw .permissionDenied }
        guard allows(file.accessRights, .write, .readWrite) else { throw .authenticationError }
        let offset = data.littleEndian(at: 1, count: 3)
        let length = data.littleEndian(at: 4, count: 3)
        guard length > 0 else { throw .parameterError }
        guard data.count == 7 + length else { throw .lengthError }
        guard offset + length <= bytes.count else { throw .boundaryError }
        program(Array(data[7...]), at: offset, in: index, of: selected)
        return DESFireReply(programmed: length)
    }

    /// Programs bytes of a standard file. For a backup file, stores them until the end of the transaction.
    mutating func program(_ data: [UInt8], at offset: Int, in index: Int, of application: Int) {
        switch contents.applications[application].files[index].kind {
        case .standard(var bytes):
            bytes.program(data, at: offset, tear: tear, unit: Self.programmingUnit)
            contents.applications[application].files[index].kind = .standard(bytes)
        case .backup(let bytes):
            var next = bytes
            if case .backup(let begun) = transaction[index] { next = begun }
            next.replaceSubrange(offset..<(offset + data.count), with: data)
            transaction[index] = .backup(next)
        default: break
        }
    }

    /// COMMIT TRANSACTION and ABORT TRANSACTION. A commit takes effect completely or not at all.
    mutating func endTransaction(commits: Bool, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 0)
        guard let selected else { throw .permissionDenied }
        guard !transaction.isEmpty else { throw .noChanges }
        defer { forgetTransaction() }
        guard commits else { return DESFireReply() }
        if tear?.keepsNew ?? true {
            for (index, kind) in transaction { contents.applications[selected].files[index].kind = kind }
        }
        return DESFireReply(programmed: Self.programmingUnit)
    }

    mutating func forgetTransaction() {
        transaction = [:]
        openRecords = []
        clearedRecords = []
    }
}

/// Values and records. Changes take effect with COMMIT TRANSACTION (MF3ICD81 data sheet, 9.6).
extension DESFireCard {
    // MARK: Values

    func value(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        let file = try file(data[0]).file
        guard case .value(_, _, let current, _) = file.kind else { throw .permissionDenied }
        guard allows(file.accessRights, .read, .write, .readWrite) else { throw .authenticationError }
        return DESFireReply(data: [UInt8](littleEndian: Int(current), count: 4))
    }

    /// CREDIT and DEBIT, within the limits of the file.
    mutating func changeValue(_ data: [UInt8], isCredit: Bool) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 5)
        let (index, file) = try file(data[0])
        guard case .value(let lower, let upper, let committed, let limited) = file.kind else { throw .permissionDenied }
        let isAllowed =
            isCredit ? allows(file.accessRights, .readWrite) : allows(file.accessRights, .read, .write, .readWrite)
        guard isAllowed else { throw .authenticationError }
        var current = Int(committed)
        if case .value(_, _, let begun, _) = transaction[index] { current = Int(begun) }
        let amount = data.littleEndian(at: 1, count: 4)
        guard amount <= Int(Int32.max) else { throw .parameterError }
        let next = isCredit ? current + amount : current - amount
        guard (Int(lower)...max(Int(lower), Int(upper))).contains(next) else { throw .boundaryError }
        transaction[index] = .value(lower: lower, upper: upper, current: Int32(next), limitedCredit: limited)
        return DESFireReply()
    }

    // MARK: Records

    /// READ RECORDS: file, how many of the newest records to skip, and how many to read (0 for all); oldest first.
    func readRecords(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 7)
        let file = try file(data[0]).file
        guard let (size, _, records) = file.kind.records else { throw .permissionDenied }
        guard allows(file.accessRights, .read, .readWrite) else { throw .authenticationError }
        let back = data.littleEndian(at: 1, count: 3)
        let count = records.count / max(1, size)
        guard back < count else { throw .boundaryError }
        let wanted = data.littleEndian(at: 4, count: 3)
        let number = wanted == 0 ? count - back : wanted
        guard back + number <= count else { throw .boundaryError }
        let start = (count - back - number) * size
        return DESFireReply(data: Array(records[start..<(start + number * size)]))
    }

    /// WRITE RECORD: file, offset in the record, length, and the bytes. The first write in a transaction creates a
    /// record of zeros; later ones write to the same record. After CLEAR RECORD FILE, writing is refused until the
    /// commit; the status for this is a guess.
    mutating func writeRecord(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        let (index, file) = try file(data[0])
        guard let (size, maximum, committed) = file.kind.records else { throw .permissionDenied }
        guard allows(file.accessRights, .write, .readWrite) else { throw .authenticationError }
        guard !clearedRecords.contains(index) else { throw .permissionDenied }
        let offset = data.littleEndian(at: 1, count: 3)
        let length = data.littleEndian(at: 4, count: 3)
        guard length > 0 else { throw .parameterError }
        guard data.count == 7 + length else { throw .lengthError }
        guard offset + length <= size else { throw .boundaryError }
        var records = transaction[index]?.records?.records ?? committed
        if !openRecords.contains(index) {
            var limit = maximum * size
            if case .cyclicRecords = file.kind {
                // One record fewer fits, because the oldest record is kept until the commit.
                limit -= size
                if records.count >= limit { records.removeFirst(min(size, records.count)) }
            }
            guard records.count + size <= limit else { throw .boundaryError }
            records += [UInt8](repeating: 0, count: size)
        }
        let start = records.count - size + offset
        records.replaceSubrange(start..<(start + length), with: data[7...])
        transaction[index] = file.kind.with(records: records)
        openRecords.insert(index)
        return DESFireReply()
    }

    /// CLEAR RECORD FILE. Until the commit, reads return the old records.
    mutating func clearRecords(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        let (index, file) = try file(data[0])
        guard file.kind.records != nil else { throw .permissionDenied }
        guard allows(file.accessRights, .readWrite) else { throw .authenticationError }
        transaction[index] = file.kind.with(records: [])
        clearedRecords.insert(index)
        return DESFireReply()
    }
}

extension DESFireFile.Kind {
    /// The type in GET FILE SETTINGS.
    package var code: UInt8 {
        switch self {
        case .standard: 0x00
        case .backup: 0x01
        case .value: 0x02
        case .linearRecords: 0x03
        case .cyclicRecords: 0x04
        }
    }

    package static func records(_ records: [UInt8], size: Int, maximum: Int, isCyclic: Bool) -> DESFireFile.Kind {
        isCyclic
            ? .cyclicRecords(size: size, maximum: maximum, records: records)
            : .linearRecords(size: size, maximum: maximum, records: records)
    }

    /// The size of a record, the maximum number of records, and the records; nil for other files.
    var records: (size: Int, maximum: Int, records: [UInt8])? {
        switch self {
        case .linearRecords(let size, let maximum, let records), .cyclicRecords(let size, let maximum, let records):
            (size, maximum, records)
        default: nil
        }
    }

    func with(records new: [UInt8]) -> DESFireFile.Kind {
        records.map { .records(new, size: $0.size, maximum: $0.maximum, isCyclic: code == 0x04) } ?? self
    }
}
