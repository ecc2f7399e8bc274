// SPDX-License-Identifier: Apache-2.0

/// Why a message can't be read or written. Two errors with the same code are equal.
///
/// An error *inside* the payload of a well-framed record is a ``RecordError``. It never makes the message unreadable.
@frozen public struct NDEFError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault; new kinds may be added.
    @frozen public struct Code: Sendable, Hashable, CustomStringConvertible {
        @usableFromInline
        enum Kind: String, Sendable, CaseIterable {
            case emptyInput = "empty-input"
            case truncatedHeader = "truncated-header"
            case truncatedBody = "truncated-body"
            case missingMessageBegin = "missing-mb"
            case unexpectedMessageBegin = "unexpected-mb"
            case missingMessageEnd = "missing-me"
            case trailingData = "trailing-data"
            case emptyRecordNotEmpty = "empty-record-not-empty"
            case typeNotAllowed = "type-not-allowed"
            case unexpectedUnchanged = "unexpected-unchanged"
            case chunkWithMessageEnd = "chunk-with-me"
            case chunkWithIdentifier = "chunk-with-id"
            case chunkWithoutType = "chunk-without-type"
            case chunkInterrupted = "chunk-interrupted"
            case typeTooLong = "type-too-long"
            case identifierTooLong = "id-too-long"
            case payloadTooLong = "payload-too-long"
            case invalidChunkSize = "invalid-chunk-size"
            case noRecords = "no-records"
        }

        @usableFromInline let kind: Kind

        @inlinable
        init(_ kind: Kind) { self.kind = kind }

        /// The input is empty. A message has at least one record; the empty message is `D0 00 00`.
        public static let emptyInput = Code(.emptyInput)
        /// The input ends inside the header of a record.
        public static let truncatedHeader = Code(.truncatedHeader)
        /// The input ends inside a record's type, identifier or payload.
        public static let truncatedBody = Code(.truncatedBody)
        /// The first record doesn't have the Message Begin flag.
        public static let missingMessageBegin = Code(.missingMessageBegin)
        /// A record after the first one has the Message Begin flag.
        public static let unexpectedMessageBegin = Code(.unexpectedMessageBegin)
        /// The input ends after a complete record, but no record had the Message End flag.
        public static let missingMessageEnd = Code(.missingMessageEnd)
        /// There are bytes after the record with the Message End flag.
        public static let trailingData = Code(.trailingData)
        /// A record of format `empty` has a type, an identifier or a payload.
        public static let emptyRecordNotEmpty = Code(.emptyRecordNotEmpty)
        /// A record of format `unknown`, `unchanged` or `reserved` has a type.
        public static let typeNotAllowed = Code(.typeNotAllowed)
        /// A record of format `unchanged`, without a type, follows no chunk.
        public static let unexpectedUnchanged = Code(.unexpectedUnchanged)
        /// A chunk has both the chunk flag, so more chunks must follow, and the Message End flag.
        public static let chunkWithMessageEnd = Code(.chunkWithMessageEnd)
        /// A chunk after the first one has an identifier, or the flag for one.
        public static let chunkWithIdentifier = Code(.chunkWithIdentifier)
        /// The first chunk of a record has no type, and its format isn't `unknown` or `reserved`.
        public static let chunkWithoutType = Code(.chunkWithoutType)
        /// Another record begins where the next chunk must be.
        public static let chunkInterrupted = Code(.chunkInterrupted)
        /// When writing: the type is longer than 255 bytes.
        public static let typeTooLong = Code(.typeTooLong)
        /// When writing: the identifier is longer than 255 bytes.
        public static let identifierTooLong = Code(.identifierTooLong)
        /// When writing: the payload, or a chunk of it, is longer than 2^32 - 1 bytes.
        public static let payloadTooLong = Code(.payloadTooLong)
        /// When writing: the chunk size is less than 1.
        public static let invalidChunkSize = Code(.invalidChunkSize)
        /// When writing: the message has no records.
        public static let noRecords = Code(.noRecords)

        /// The code's name, as the command-line tool prints it.
        public var description: String { kind.rawValue }
    }

    /// The kind of fault.
    public var code: Code
    /// The position of the fault in the input. For input that ends too early this is the end of the input. For trailing
    /// data it is the first extra byte. Otherwise it is the header byte of the record or chunk at fault. 0 when
    /// writing.
    public var offset: Int
    /// The index of the record at fault. The chunks of a record count as one.
    public var record: Int

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the kind of fault.
    ///   - offset: the position of the fault in the input.
    ///   - record: the index of the record at fault.
    @inlinable
    public init(_ code: Code, offset: Int = 0, record: Int = 0) {
        self.code = code
        self.offset = offset
        self.record = record
    }

    public var description: String { "\(code): \(reason)" }

    public static func == (lhs: NDEFError, rhs: NDEFError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension NDEFError {
    /// A sentence that explains the fault.
    public var reason: String {
        switch code.kind {
        case .emptyInput: "There is no message: the input is empty."
        case .truncatedHeader: "The input ends at byte \(offset), within the header of record \(record)."
        case .truncatedBody: "The input ends at byte \(offset), before record \(record) is complete."
        case .missingMessageBegin: "The first record does not have the Message Begin flag."
        case .unexpectedMessageBegin: "Record \(record), at byte \(offset), has the Message Begin flag again."
        case .missingMessageEnd: "The input ends at byte \(offset) and no record has the Message End flag."
        case .trailingData: "The message ends at byte \(offset), and more bytes follow."
        case .emptyRecordNotEmpty: "Record \(record) is declared empty, and has a type, an identifier or a payload."
        case .typeNotAllowed: "Record \(record) has a type, which its type name format forbids."
        case .unexpectedUnchanged: "Record \(record) has the format of a later chunk, and no chunk comes before it."
        case .chunkWithMessageEnd:
            "A chunk of record \(record), at byte \(offset), ends the message, yet more should follow."
        case .chunkWithIdentifier: "A later chunk of record \(record), at byte \(offset), has an identifier."
        case .chunkWithoutType: "The first chunk of record \(record) has no type."
        case .chunkInterrupted: "A record begins at byte \(offset), where the next chunk of record \(record) should."
        case .typeTooLong: "The type of record \(record) is longer than 255 bytes."
        case .identifierTooLong: "The identifier of record \(record) is longer than 255 bytes."
        case .payloadTooLong: "The payload of record \(record) is longer than 4294967295 bytes; write it in chunks."
        case .invalidChunkSize: "A chunk must have room for one byte or more."
        case .noRecords: "A message must have one record or more."
        }
    }
}
