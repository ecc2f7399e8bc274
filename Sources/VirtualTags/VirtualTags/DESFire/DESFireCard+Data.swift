// SPDX-License-Identifier: Apache-2.0
import TagLink

extension DESFireCard {
    /// READ DATA: file, offset, length. A length of 0 reads to the end.
    func readData(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 7)
        let file = try file(data[0])
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
        let index = try place(of: data[0])
        let file = try file(data[0])
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

    /// Programs bytes of a standard file, or stores those of a backup file until the end of the transaction.
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
        default:
            break
        }
    }

    /// COMMIT TRANSACTION and ABORT TRANSACTION. A commit is done completely or not at all.
    mutating func endTransaction(commits: Bool, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 0)
        guard let selected else { throw .permissionDenied }
        guard !transaction.isEmpty else { throw .noChanges }
        defer { forgetTransaction() }
        guard commits else { return DESFireReply() }
        let isDone = tear.map { $0.remains(of: [0], under: [1], unit: 1, isProtected: true) == [1] } ?? true
        if isDone {
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

    /// GET VALUE.
    func value(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        let file = try file(data[0])
        guard case .value(_, _, let current, _) = file.kind else { throw .permissionDenied }
        guard allows(file.accessRights, .read, .write, .readWrite) else { throw .authenticationError }
        return DESFireReply(data: [UInt8](littleEndian: Int(current), count: 4))
    }

    /// CREDIT and DEBIT, within the limits of the file.
    mutating func changeValue(_ data: [UInt8], isCredit: Bool) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 5)
        let index = try place(of: data[0])
        let file = try file(data[0])
        guard case .value(let lower, let upper, let committed, let limited) = file.kind else {
            throw .permissionDenied
        }
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

    /// READ RECORDS: file, how many records back from the newest, and their number; 0 reads all records, oldest first.
    func readRecords(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 7)
        let file = try file(data[0])
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

    /// WRITE RECORD: file, offset in the record, length, and the bytes. The first one in a transaction creates a record
    /// of zeros; later ones write to the same record. After CLEAR RECORD FILE it is refused until the commit; which
    /// status a card has for this was in none of the available sources.
    mutating func writeRecord(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        let index = try place(of: data[0])
        let file = try file(data[0])
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
                // One place is kept free, so that the oldest record stays until the commit.
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

    /// CLEAR RECORD FILE. Until the commit, the old records are read.
    mutating func clearRecords(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        let index = try place(of: data[0])
        let file = try file(data[0])
        guard file.kind.records != nil else { throw .permissionDenied }
        guard allows(file.accessRights, .readWrite) else { throw .authenticationError }
        transaction[index] = file.kind.with(records: [])
        clearedRecords.insert(index)
        return DESFireReply()
    }
}

extension DESFireFile.Kind {
    /// The size of a record, the maximum number of records, and the records; nil for other files.
    var records: (size: Int, maximum: Int, records: [UInt8])? {
        switch self {
        case .linearRecords(let size, let maximum, let records), .cyclicRecords(let size, let maximum, let records):
            (size, maximum, records)
        default: nil
        }
    }

    /// Returns the same file with other records.
    func with(records: [UInt8]) -> DESFireFile.Kind {
        switch self {
        case .linearRecords(let size, let maximum, _): .linearRecords(size: size, maximum: maximum, records: records)
        case .cyclicRecords(let size, let maximum, _): .cyclicRecords(size: size, maximum: maximum, records: records)
        default: self
        }
    }
}
