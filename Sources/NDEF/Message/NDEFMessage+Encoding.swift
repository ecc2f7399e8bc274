// SPDX-License-Identifier: Apache-2.0

extension NDEFMessage {
    /// The length of the message in octets when it is written without chunks. Nothing is encoded to know it.
    @inlinable public var encodedLength: Int {
        records.reduce(0) { $0 + $1.encodedLength }
    }

    /// The length of the message in octets when it is written in chunks.
    ///
    /// - Parameter chunkSize: the most octets of payload in a chunk.
    public func encodedLength(chunkSize: Int) -> Int {
        records.reduce(0) { $0 + $1.encodedLength(chunkSize: chunkSize) }
    }

    /// The message's octets, in the shortest form.
    ///
    /// - Parameter chunkSize: the most octets of payload in a chunk; nil to write every record whole. Records without
    ///   a type can't be in chunks, unless their format is `unknown`, and are written whole.
    /// - Returns: the octets.
    /// - Throws: ``NDEFError`` as ``encode(into:chunkSize:)`` does.
    @inlinable
    public func encoded(chunkSize: Int? = nil) throws(NDEFError) -> [UInt8] {
        var bytes: [UInt8] = []
        try encode(into: &bytes, chunkSize: chunkSize)
        return bytes
    }

    /// Appends the message's octets to others.
    ///
    /// - Parameters:
    ///   - bytes: what to append to; as it was when an error is thrown.
    ///   - chunkSize: as in ``encoded(chunkSize:)``.
    /// - Throws: ``NDEFError`` with `noRecords`, `typeTooLong`, `identifierTooLong`, `payloadTooLong`,
    ///   `invalidChunkSize`, `emptyRecordNotEmpty`, `typeNotAllowed` or `unexpectedUnchanged`, and the record's index.
    @inlinable
    public func encode(into bytes: inout [UInt8], chunkSize: Int? = nil) throws(NDEFError) {
        guard !records.isEmpty else { throw NDEFError(.noRecords) }
        var length = 0
        for index in records.indices {
            if let code = records[index].encodingFault(chunkSize: chunkSize) { throw NDEFError(code, record: index) }
            length += records[index].encodedLength
        }
        // Room for the whole, growing at least twofold so that a reused buffer costs linear time.
        if bytes.capacity - bytes.count < length {
            bytes.reserveCapacity(Swift.max(bytes.count + length, bytes.isEmpty ? 0 : 2 * bytes.capacity))
        }
        let last = records.count - 1
        for index in records.indices {
            var flags: UInt8 = index == 0 ? RecordHeader.messageBegin : 0
            if index == last { flags |= RecordHeader.messageEnd }
            if let chunkSize, records[index].isDivided(by: chunkSize) {
                records[index].appendChunks(to: &bytes, flags: flags, chunkSize: chunkSize)
            } else {
                records[index].append(to: &bytes, flags: flags)
            }
        }
    }

    /// The message's octets, with a chunk size for each record.
    ///
    /// - Parameter chunkSizes: for each record the most octets of payload in a chunk; 0 to write it whole.
    /// - Returns: the octets.
    /// - Throws: ``NDEFError`` as ``encode(into:chunkSize:)`` does.
    public func encoded(chunkSizes: [Int]) throws(NDEFError) -> [UInt8] {
        precondition(chunkSizes.count == records.count, "each record has a chunk size")
        guard !records.isEmpty else { throw NDEFError(.noRecords) }
        var bytes: [UInt8] = []
        for (index, (record, chunkSize)) in zip(records, chunkSizes).enumerated() {
            let size = chunkSize == 0 ? nil : chunkSize
            if let code = record.encodingFault(chunkSize: size) { throw NDEFError(code, record: index) }
            var flags: UInt8 = index == 0 ? RecordHeader.messageBegin : 0
            if index == records.count - 1 { flags |= RecordHeader.messageEnd }
            if let size, record.isDivided(by: size) {
                record.appendChunks(to: &bytes, flags: flags, chunkSize: size)
            } else {
                record.append(to: &bytes, flags: flags)
            }
        }
        return bytes
    }
}
