// SPDX-License-Identifier: Apache-2.0

extension DESFireCard {
    /// The place of a file in the selected application.
    private func place(of number: UInt8) throws(DESFireStatus) -> Int {
        let application = try selectedApplication()
        guard let index = application.files.firstIndex(where: { $0.number == number }) else { throw .fileNotFound }
        return index
    }

    private func file(_ number: UInt8) throws(DESFireStatus) -> DESFireFile {
        try selectedApplication().files[place(of: number)]
    }

    /// GET FILE SETTINGS.
    func fileSettings(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        let application = try selectedApplication()
        guard application.keySettings & 0x02 != 0 || authenticatedKey != nil else { throw .authenticationError }
        let file = try file(data[0])
        let head = [file.communication] + [UInt8](littleEndian: Int(file.accessRights), count: 2)
        switch file.kind {
        case .standard(let data): return DESFireReply(data: [0x00] + head + [UInt8](littleEndian: data.count, count: 3))
        case .backup(let data): return DESFireReply(data: [0x01] + head + [UInt8](littleEndian: data.count, count: 3))
        case .value(let lower, let upper, _, let limited):
            // The amount of a limited credit is that of the last transaction, which there is none of.
            return DESFireReply(
                data: [0x02] + head + [UInt8](littleEndian: Int(lower), count: 4)
                    + [UInt8](littleEndian: Int(upper), count: 4) + [0, 0, 0, 0, limited ? 1 : 0]
            )
        case .linearRecords(let size, let maximum, let records), .cyclicRecords(let size, let maximum, let records):
            let type: UInt8 = if case .linearRecords = file.kind { 0x03 } else { 0x04 }
            return DESFireReply(
                data: [type] + head + [UInt8](littleEndian: size, count: 3) + [UInt8](littleEndian: maximum, count: 3)
                    + [UInt8](littleEndian: records.count / max(1, size), count: 3)
            )
        }
    }

    // MARK: Data

    /// READ DATA: file, offset, length; a length of 0 reads to the end.
    mutating func readData(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 7)
        let file = try file(data[0])
        guard let octets = file.data else { throw .permissionDenied }
        try requireReading(file)
        let offset = data.littleEndian(at: 1, count: 3)
        var length = data.littleEndian(at: 4, count: 3)
        guard offset < octets.count else { throw .boundaryError }
        if length == 0 { length = octets.count - offset }
        guard offset + length <= octets.count else { throw .boundaryError }
        return frame(frames(of: Array(octets[offset..<(offset + length)])))
    }

    /// A file with plain data may be read when its rights say so; one with protected data needs cryptography too.
    private func requireReading(_ file: DESFireFile) throws(DESFireStatus) {
        guard allows(file.accessRights, 12, 4) else { throw .authenticationError }
    }

    /// WRITE DATA: file, offset, length, and the first octets.
    mutating func writeData(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard data.count >= 7 else { throw .lengthError }
        let file = try file(data[0])
        guard let octets = file.data else { throw .permissionDenied }
        guard allows(file.accessRights, 8, 4) else { throw .authenticationError }
        let offset = data.littleEndian(at: 1, count: 3)
        let length = data.littleEndian(at: 4, count: 3)
        guard length > 0 else { throw .parameterError }
        guard offset + length <= octets.count else { throw .boundaryError }
        return try write(data[0], offset, Array(data[7...]), length)
    }

    /// Goes on with a write: asks for more, or programs the whole.
    mutating func write(
        _ number: UInt8,
        _ offset: Int,
        _ data: [UInt8],
        _ length: Int
    ) throws(DESFireStatus) -> DESFireReply {
        guard data.count <= length else { throw .lengthError }
        if data.count < length {
            pending = .write(file: number, offset: offset, data: data, length: length)
            return DESFireReply(status: .additionalFrame)
        }
        guard let selected else { throw .permissionDenied }
        program(data, at: offset, in: try place(of: number), of: selected)
        return DESFireReply(programmed: length)
    }

    /// Programs octets of a standard file, or keeps those of a backup file for the end of the transaction.
    mutating func program(_ data: [UInt8], at offset: Int, in index: Int, of application: Int) {
        switch contents.applications[application].files[index].kind {
        case .standard(var octets):
            octets.program(data, at: offset, tear: tear, unit: Self.programmingUnit)
            contents.applications[application].files[index].kind = .standard(octets)
        case .backup(let octets):
            var next = transaction[index] ?? octets
            next.replaceSubrange(offset..<(offset + data.count), with: data)
            transaction[index] = next
        default:
            break
        }
    }

    /// COMMIT TRANSACTION and ABORT TRANSACTION. A commit is done whole or not at all.
    mutating func endTransaction(commits: Bool, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 0)
        guard let selected else { throw .permissionDenied }
        // 0C: nothing has changed.
        guard !transaction.isEmpty else { throw DESFireStatus(rawValue: 0x0C) }
        defer { transaction = [:] }
        guard commits else { return DESFireReply() }
        let isDone = tear.map { $0.remains(of: [0], under: [1], unit: 1, isProtected: true) == [1] } ?? true
        if isDone {
            for (index, octets) in transaction {
                contents.applications[selected].files[index].kind = .backup(octets)
            }
        }
        return DESFireReply(programmed: 32)
    }

    // MARK: Values and records

    /// GET VALUE.
    func value(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        let file = try file(data[0])
        guard case .value(_, _, let current, _) = file.kind else { throw .permissionDenied }
        guard allows(file.accessRights, 12, 8, 4) else { throw .authenticationError }
        return DESFireReply(data: [UInt8](littleEndian: Int(current), count: 4))
    }

    /// READ RECORDS: file, how many records back from the newest, how many; 0 reads all from the oldest on.
    mutating func readRecords(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 7)
        let file = try file(data[0])
        switch file.kind {
        case .linearRecords(let size, _, let records), .cyclicRecords(let size, _, let records):
            try requireReading(file)
            let back = data.littleEndian(at: 1, count: 3)
            let count = records.count / max(1, size)
            guard back < count else { throw .boundaryError }
            let wanted = data.littleEndian(at: 4, count: 3)
            let number = wanted == 0 ? count - back : wanted
            guard back + number <= count else { throw .boundaryError }
            let start = (count - back - number) * size
            return frame(frames(of: Array(records[start..<(start + number * size)])))
        default:
            throw .permissionDenied
        }
    }
}
