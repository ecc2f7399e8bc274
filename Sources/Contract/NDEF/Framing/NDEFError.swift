// SPDX-License-Identifier: Apache-2.0

/// Why a message can't be read or written. Equal by code.
///
/// Faults *inside* the payload of a well-framed record are ``RecordError``s: they never make a message unreadable.
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

        /// There are no octets at all. A message has one record at least; the empty message is `D0 00 00`.
        public static let emptyInput = Code(.emptyInput)
        /// The input ends within the lengths at the head of a record.
        public static let truncatedHeader = Code(.truncatedHeader)
        /// The input ends within a record's type, identifier or payload.
        public static let truncatedBody = Code(.truncatedBody)
        /// The first record doesn't have the Message Begin flag.
        public static let missingMessageBegin = Code(.missingMessageBegin)
        /// A record that isn't the first one has the Message Begin flag.
        public static let unexpectedMessageBegin = Code(.unexpectedMessageBegin)
        /// The input ends after a whole record, and none had the Message End flag.
        public static let missingMessageEnd = Code(.missingMessageEnd)
        /// There are octets after the record with the Message End flag.
        public static let trailingData = Code(.trailingData)
        /// A record of format `empty` has a type, an identifier or a payload.
        public static let emptyRecordNotEmpty = Code(.emptyRecordNotEmpty)
        /// A record of format `unknown`, `unchanged` or `reserved` has a type.
        public static let typeNotAllowed = Code(.typeNotAllowed)
        /// A record of format `unchanged`, without a type, doesn't follow a chunk.
        public static let unexpectedUnchanged = Code(.unexpectedUnchanged)
        /// A chunk that says that more follow has the Message End flag.
        public static let chunkWithMessageEnd = Code(.chunkWithMessageEnd)
        /// A chunk after the first has an identifier, or the flag for one.
        public static let chunkWithIdentifier = Code(.chunkWithIdentifier)
        /// The first chunk of a record has no type, and its format isn't `unknown` or `reserved`.
        public static let chunkWithoutType = Code(.chunkWithoutType)
        /// Another record follows where the next chunk should.
        public static let chunkInterrupted = Code(.chunkInterrupted)
        /// To write: the type is longer than 255 octets.
        public static let typeTooLong = Code(.typeTooLong)
        /// To write: the identifier is longer than 255 octets.
        public static let identifierTooLong = Code(.identifierTooLong)
        /// To write: the payload, or a chunk of it, is longer than 2^32 - 1 octets.
        public static let payloadTooLong = Code(.payloadTooLong)
        /// To write: a chunk size under 1.
        public static let invalidChunkSize = Code(.invalidChunkSize)
        /// To write: a message without records.
        public static let noRecords = Code(.noRecords)

        /// The code's name, as the command line prints it.
        public var description: String { kind.rawValue }
    }

    /// The kind of fault.
    public var code: Code
    /// Where in the input the fault lies: the first octet after the input for what ends too early, the first octet too
    /// many for trailing data, otherwise the header octet of the record (or chunk) at fault. 0 when writing.
    public var offset: Int
    /// The index of the record at fault, counted after chunks are joined.
    public var record: Int

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the kind of fault.
    ///   - offset: where in the input the fault lies.
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
    /// What is wrong, as a sentence for people.
    public var reason: String {
        switch code.kind {
        case .emptyInput: "There is no message: the input is empty."
        case .truncatedHeader: "The input ends at octet \(offset), within the header of record \(record)."
        case .truncatedBody: "The input ends at octet \(offset), before record \(record) is complete."
        case .missingMessageBegin: "The first record does not have the Message Begin flag."
        case .unexpectedMessageBegin: "Record \(record), at octet \(offset), has the Message Begin flag again."
        case .missingMessageEnd: "The input ends at octet \(offset) and no record has the Message End flag."
        case .trailingData: "The message ends at octet \(offset), and more octets follow."
        case .emptyRecordNotEmpty: "Record \(record) is declared empty, and has a type, an identifier or a payload."
        case .typeNotAllowed: "Record \(record) has a type, which its type name format forbids."
        case .unexpectedUnchanged: "Record \(record) has the format of a later chunk, and no chunk comes before it."
        case .chunkWithMessageEnd:
            "A chunk of record \(record), at octet \(offset), ends the message, yet more should follow."
        case .chunkWithIdentifier: "A later chunk of record \(record), at octet \(offset), has an identifier."
        case .chunkWithoutType: "The first chunk of record \(record) has no type."
        case .chunkInterrupted: "A record begins at octet \(offset), where the next chunk of record \(record) should."
        case .typeTooLong: "The type of record \(record) is longer than 255 octets."
        case .identifierTooLong: "The identifier of record \(record) is longer than 255 octets."
        case .payloadTooLong: "The payload of record \(record) is longer than 4294967295 octets; write it in chunks."
        case .invalidChunkSize: "A chunk must have room for one octet or more."
        case .noRecords: "A message must have one record or more."
        }
    }
}
