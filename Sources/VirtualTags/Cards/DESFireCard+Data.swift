// SPDX-License-Identifier: Apache-2.0

extension DESFireCard {
    /// READ DATA: file, offset, length; a length of 0 reads to the end.
    func readData(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 7)
        let file = try file(data[0])
        guard let octets = file.data else { throw .permissionDenied }
        guard allows(file.accessRights, 12, 4) else { throw .authenticationError }
        let offset = data.littleEndian(at: 1, count: 3)
        var length = data.littleEndian(at: 4, count: 3)
        guard offset < octets.count else { throw .boundaryError }
        if length == 0 { length = octets.count - offset }
        guard offset + length <= octets.count else { throw .boundaryError }
        return DESFireReply(data: Array(octets[offset..<(offset + length)]))
    }

    /// WRITE DATA: file, offset, length, and the octets.
    mutating func writeData(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        let index = try place(of: data[0])
        let file = try file(data[0])
        guard let selected, let octets = file.data else { throw .permissionDenied }
        guard allows(file.accessRights, 8, 4) else { throw .authenticationError }
        let offset = data.littleEndian(at: 1, count: 3)
        let length = data.littleEndian(at: 4, count: 3)
        guard length > 0 else { throw .parameterError }
        guard data.count == 7 + length else { throw .lengthError }
        guard offset + length <= octets.count else { throw .boundaryError }
        program(Array(data[7...]), at: offset, in: index, of: selected)
        return DESFireReply(programmed: length)
    }

    /// Programs octets of a standard file, or keeps those of a backup file for the end of the transaction.
    mutating func program(_ data: [UInt8], at offset: Int, in index: Int, of application: Int) {
        switch contents.applications[application].files[index].kind {
        case .standard(var octets):
            octets.program(data, at: offset, tear: tear, unit: Self.programmingUnit)
            contents.applications[application].files[index].kind = .standard(octets)
        case .backup(let octets):
            var next = octets
            if case .backup(let begun) = transaction[index] { next = begun }
            next.replaceSubrange(offset..<(offset + data.count), with: data)
            transaction[index] = .backup(next)
        default:
            break
        }
    }

    /// COMMIT TRANSACTION and ABORT TRANSACTION. A commit is done whole or not at all.
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
        return DESFireReply(programmed: 32)
    }

    mutating func forgetTransaction() {
        transaction = [:]
        openRecords = []
    }
}
