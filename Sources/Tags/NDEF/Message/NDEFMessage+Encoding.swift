// SPDX-License-Identifier: Apache-2.0

extension NDEFMessage {
    /// The length of the message in bytes, written without chunks. It is computed without encoding the message.
    @inlinable public var encodedLength: Int {
        records.reduce(0) { $0 + $1.encodedLength }
    }

    /// Returns the length of the message in bytes, written in chunks.
    ///
    /// - Parameter chunkSize: the largest number of payload bytes in a chunk.
    public func encodedLength(chunkSize: Int) -> Int {
        records.reduce(0) { $0 + $1.encodedLength(chunkSize: chunkSize) }
    }

    /// Returns the message's bytes in the shortest form.
    ///
    /// - Parameter chunkSize: the largest number of payload bytes in a chunk; nil to write every record in one piece.
    ///   Records without a type can't be in chunks unless their format is `unknown`, so they are always written in one
    ///   piece.
    /// - Returns: the bytes.
    /// - Throws: ``NDEFError`` as ``encode(into:chunkSize:)`` does.
    @inlinable
    public func encoded(chunkSize: Int? = nil) throws(NDEFError) -> [UInt8] {
        guard chunkSize == nil else {
            var bytes: [UInt8] = []
            try encode(into: &bytes, chunkSize: chunkSize)
            return bytes
        }
        let length = try checkedLength()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        bytes.append(addingCapacity: length) { output in write(to: &output) }
        return bytes
    }

    /// Appends the message's bytes to an array.
    ///
    /// - Parameters:
    ///   - bytes: the array to append to. It is unchanged when an error is thrown.
    ///   - chunkSize: as in ``encoded(chunkSize:)``.
    /// - Throws: ``NDEFError`` with `noRecords`, `typeTooLong`, `identifierTooLong`, `payloadTooLong`,
    ///   `invalidChunkSize`, `emptyRecordNotEmpty`, `typeNotAllowed` or `unexpectedUnchanged`, and the record's index.
    @inlinable
    public func encode(into bytes: inout [UInt8], chunkSize: Int? = nil) throws(NDEFError) {
        if let chunkSize {
            guard chunkSize > 0 else { throw NDEFError(.invalidChunkSize) }
            bytes.append(contentsOf: try encoded(chunkSizes: [Int](repeating: chunkSize, count: records.count)))
            return
        }
        let length = try checkedLength()
        // Reserves room for the whole message. The capacity at least doubles, so that many messages in one buffer take
        // linear time.
        if bytes.capacity - bytes.count < length {
            bytes.reserveCapacity(bytes.isEmpty ? length : Swift.max(bytes.count + length, 2 * bytes.capacity))
        }
        bytes.append(addingCapacity: length) { output in write(to: &output) }
    }

    /// Returns the length of the message; throws when the message can't be written.
    @inlinable
    @inline(__always)
    func checkedLength() throws(NDEFError) -> Int {
        guard !records.isEmpty else { throw NDEFError(.noRecords) }
        var length = 0
        for index in records.indices {
            if let code = records[index].encodingFault { throw NDEFError(code, record: index) }
            length += records[index].encodedLength
        }
        return length
    }

    /// Writes the message into a span that has enough room.
    @inlinable
    @inline(__always)
    func write(to output: inout OutputSpan<UInt8>) {
        let last = records.count - 1
        for index in records.indices {
            let flags: UInt8 =
                (index == 0 ? RecordHeader.messageBegin : 0) | (index == last ? RecordHeader.messageEnd : 0)
            records[index].write(to: &output, flags: flags)
        }
    }

    /// Returns the message's bytes, with a chunk size for each record.
    ///
    /// - Parameter chunkSizes: for each record the largest number of payload bytes in a chunk; 0 to write it in one
    ///   piece.
    /// - Returns: the bytes.
    /// - Throws: ``NDEFError`` as ``encode(into:chunkSize:)`` does.
    public func encoded(chunkSizes: [Int]) throws(NDEFError) -> [UInt8] {
        precondition(chunkSizes.count == records.count, "each record has a chunk size")
        guard !records.isEmpty else { throw NDEFError(.noRecords) }
        var bytes: [UInt8] = []
        for (index, (record, chunkSize)) in zip(records, chunkSizes).enumerated() {
            guard chunkSize >= 0 else { throw NDEFError(.invalidChunkSize, record: index) }
            let size = chunkSize == 0 ? nil : chunkSize
            if let code = record.encodingFault(chunkSize: size) { throw NDEFError(code, record: index) }
            var flags: UInt8 = index == 0 ? RecordHeader.messageBegin : 0
            if index == records.count - 1 { flags |= RecordHeader.messageEnd }
            if let size, record.isDivided(by: size) {
                record.appendChunks(to: &bytes, flags: flags, chunkSize: size)
            } else {
                bytes.append(addingCapacity: record.encodedLength) { output in record.write(to: &output, flags: flags) }
            }
        }
        return bytes
    }
}
