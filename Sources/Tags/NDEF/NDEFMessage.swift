// SPDX-License-Identifier: Apache-2.0

/// An NDEF message: a list of records.
public struct NDEFMessage: Sendable, Hashable {
    /// The records.
    public var records: [NDEFRecord]

    /// Creates a message.
    ///
    /// - Parameter records: the records. A message without records can't be encoded.
    public init(_ records: [NDEFRecord]) {
        self.records = records
    }

    /// The shortest message, one record of format `empty`: `D0 00 00`.
    public static let empty = NDEFMessage([NDEFRecord(.empty)])

    /// Reads a message. Its records share `bytes`; only the array of records is allocated.
    ///
    /// - Parameters:
    ///   - bytes: the message's bytes.
    ///   - options: the errors to accept.
    /// - Throws: ``NDEFError`` with any of the codes for reading.
    public init(decoding bytes: [UInt8], options: NDEFDecodingOptions = .strict) throws(NDEFError) {
        try self.init(decoding: bytes, in: 0..<bytes.count, options: options)
    }

    /// Reads a message that is part of a larger array, such as the payload of a record.
    ///
    /// - Parameters:
    ///   - bytes: an array that contains the message. The records share it.
    ///   - range: the range of the message. Offsets in errors count from its start.
    ///   - options: the errors to accept.
    /// - Throws: ``NDEFError`` with any of the codes for reading.
    public init(
        decoding bytes: [UInt8],
        in range: Range<Int>,
        options: NDEFDecodingOptions = .strict
    ) throws(NDEFError) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "the range must lie inside the bytes")
        var decoder = MessageDecoder(bytes, range, options)
        records = try decoder.decode()
    }

    /// The length of the message in bytes, written without chunks. It is computed without encoding the message.
    public var encodedLength: Int { records.indices.reduce(0) { $0 + records[$1].encodedLength } }

    /// Returns the message's bytes in the shortest form.
    ///
    /// - Parameter chunkSize: the largest number of payload bytes in a chunk; nil to write every record in one piece. A
    ///   record without a type is never split unless its format is `unknown`.
    /// - Returns: the bytes.
    /// - Throws: ``NDEFError`` with `noRecords`, `typeTooLong`, `identifierTooLong`, `payloadTooLong`,
    ///   `invalidChunkSize`, `emptyRecordNotEmpty`, `typeNotAllowed` or `unexpectedUnchanged`, and the record's index.
    public func encoded(chunkSize: Int? = nil) throws(NDEFError) -> [UInt8] {
        if let chunkSize, chunkSize < 1 { throw NDEFError(.invalidChunkSize) }
        return try encoded { _ in chunkSize ?? 0 }
    }

    /// Returns the message's bytes, with a chunk size for each record.
    ///
    /// - Parameter chunkSizes: for each record the largest number of payload bytes in a chunk; 0 to write it in one
    ///   piece.
    /// - Returns: the bytes.
    /// - Throws: ``NDEFError`` as ``encoded(chunkSize:)`` does.
    public func encoded(chunkSizes: [Int]) throws(NDEFError) -> [UInt8] {
        precondition(chunkSizes.count == records.count, "each record needs a chunk size")
        return try encoded { chunkSizes[$0] }
    }

    private func encoded(chunkSize: (Int) -> Int) throws(NDEFError) -> [UInt8] {
        guard !records.isEmpty else { throw NDEFError(.noRecords) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encodedLength)
        for index in records.indices {
            let size = chunkSize(index)
            if let code = records[index].encodingFault(chunkSize: size) { throw NDEFError(code, record: index) }
            let begin = index == 0 ? RecordHeader.messageBegin : 0
            let end = index == records.count - 1 ? RecordHeader.messageEnd : 0
            records[index].append(to: &bytes, flags: begin | end, chunkSize: size)
        }
        return bytes
    }
}

/// The errors in a message that a decoder accepts. By default, the decoder accepts no errors.
///
/// The specification doesn't cover bytes after the record with the Message End flag, or an empty input. Both are errors
/// here unless an option allows them, because a tag with such data was not written correctly.
public struct NDEFDecodingOptions: Sendable, Hashable {
    /// Whether bytes after the record with the Message End flag are ignored.
    public var allowsTrailingData: Bool
    /// Whether an empty input is read as a message without records.
    public var allowsEmptyInput: Bool
    /// Whether the first record may lack the Message Begin flag.
    public var allowsMissingMessageBegin: Bool
    /// Whether a message may end at the end of the input, after a complete record, without the Message End flag.
    public var allowsMissingMessageEnd: Bool
    /// Whether records of format `unknown` or `reserved` may have a type.
    public var allowsTypeOnUnknown: Bool

    /// Creates options; each argument is the property of that name.
    public init(
        allowsTrailingData: Bool = false,
        allowsEmptyInput: Bool = false,
        allowsMissingMessageBegin: Bool = false,
        allowsMissingMessageEnd: Bool = false,
        allowsTypeOnUnknown: Bool = false
    ) {
        self.allowsTrailingData = allowsTrailingData
        self.allowsEmptyInput = allowsEmptyInput
        self.allowsMissingMessageBegin = allowsMissingMessageBegin
        self.allowsMissingMessageEnd = allowsMissingMessageEnd
        self.allowsTypeOnUnknown = allowsTypeOnUnknown
    }

    /// Accepts no errors.
    public static let strict = NDEFDecodingOptions()
}
