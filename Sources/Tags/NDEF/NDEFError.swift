// SPDX-License-Identifier: Apache-2.0

/// The reason why a message or a record's payload can't be read or written. Two errors with the same code are equal.
///
/// An error inside a record's payload never makes the message unreadable: the payload is still available as bytes.
public struct NDEFError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        fileprivate let name: String
        fileprivate let detail: String?

        private init(_ name: String, detail: String? = nil) {
            self.name = name
            self.detail = detail
        }

        // MARK: Messages

        /// The input is empty. A message has at least one record; the empty message is `D0 00 00`.
        public static let emptyInput = Code("empty-input")
        /// The input ends inside the header of a record.
        public static let truncatedHeader = Code("truncated-header")
        /// The input ends inside a record's type, identifier or payload.
        public static let truncatedBody = Code("truncated-body")
        /// The first record doesn't have the Message Begin flag.
        public static let missingMessageBegin = Code("missing-mb")
        /// A record after the first one has the Message Begin flag.
        public static let unexpectedMessageBegin = Code("unexpected-mb")
        /// The input ends after a complete record, but no record had the Message End flag.
        public static let missingMessageEnd = Code("missing-me")
        /// There are bytes after the record with the Message End flag.
        public static let trailingData = Code("trailing-data")
        /// A record of format `empty` has a type, an identifier or a payload.
        public static let emptyRecordNotEmpty = Code("empty-record-not-empty")
        /// A record of format `unknown`, `unchanged` or `reserved` has a type.
        public static let typeNotAllowed = Code("type-not-allowed")
        /// A record of format `unchanged` does not follow a chunk.
        public static let unexpectedUnchanged = Code("unexpected-unchanged")
        /// A chunk that must be followed by more chunks has the Message End flag.
        public static let chunkWithMessageEnd = Code("chunk-with-me")
        /// A chunk after the first one has an identifier, or the identifier flag.
        public static let chunkWithIdentifier = Code("chunk-with-id")
        /// The first chunk of a record has no type, and its format isn't `unknown` or `reserved`.
        public static let chunkWithoutType = Code("chunk-without-type")
        /// Another record begins where the next chunk must be.
        public static let chunkInterrupted = Code("chunk-interrupted")
        /// When writing: the type is longer than 255 bytes.
        public static let typeTooLong = Code("type-too-long")
        /// When writing: the identifier is longer than 255 bytes.
        public static let identifierTooLong = Code("id-too-long")
        /// When writing: the payload, or a chunk of it, is longer than 2^32 - 1 bytes.
        public static let payloadTooLong = Code("payload-too-long")
        /// When writing: the chunk size is less than 1.
        public static let invalidChunkSize = Code("invalid-chunk-size")
        /// When writing: the message has no records.
        public static let noRecords = Code("no-records")

        // MARK: Payloads

        /// The record's type is not the requested type.
        public static let wrongType = Code("wrong-type")
        /// The payload is empty, but must not be.
        public static let emptyPayload = Code("empty-payload")
        /// The payload ends inside its fixed part.
        public static let tooShort = Code("too-short")
        /// The text isn't valid in its encoding.
        public static let badEncoding = Code("bad-encoding")
        /// A URI has a control character: a byte under 0x20.
        public static let controlCharacter = Code("control-character")
        /// The language code of a text runs past the payload.
        public static let languageOverrun = Code("language-overrun")
        /// The action of a smart poster isn't one byte long.
        public static let actionLength = Code("action-length")
        /// The size of a smart poster isn't four bytes long.
        public static let sizeLength = Code("size-length")
        /// An alternative carrier record has no payload.
        public static let carrierEmpty = Code("ac-empty")
        /// An alternative carrier record has bytes after its last reference.
        public static let carrierTrailing = Code("ac-trailing")
        /// A reference or a type runs past the end of its handover record.
        public static let referenceOverrun = Code("reference-overrun")
        /// The data length of a handover error record does not match the error's reason.
        public static let errorLength = Code("err-length")
        /// The reason of a handover error record is 0, which is reserved.
        public static let errorReserved = Code("err-reserved")
        /// The collision resolution number of a handover request isn't two bytes, or is missing from version 1.2 on.
        public static let collisionLength = Code("cr-length")
        /// The length in Bluetooth out-of-band data is longer than the payload.
        public static let outOfBandOverrun = Code("oob-length-overrun")
        /// There are bytes after the Bluetooth out-of-band data.
        public static let outOfBandTrailing = Code("oob-trailing")
        /// An element of type, length and value runs past the end of its container.
        public static let attributeOverrun = Code("tlv-overrun")
        /// The signature runs past the payload.
        public static let signatureOverrun = Code("signature-overrun")
        /// A certificate, or the certificate URI, runs past the payload.
        public static let certificateOverrun = Code("certificate-overrun")
        /// A required element is missing.
        public static let missingElement = Code("missing-element")
        /// When writing: a value is longer than its length field can express.
        public static let valueTooLong = Code("value-too-long")

        /// The message inside the payload has a fault.
        public static func inner(_ code: Code) -> Code { Code("inner", detail: code.description) }

        /// A smart poster doesn't have exactly one URI.
        public static func uriCount(_ count: Int) -> Code { Code("uri-count", detail: "\(count)") }

        /// The code's name, as the command-line tool prints it. A fault in an inner message is named `inner-`, followed
        /// by the name of that fault.
        public var description: String { detail.map { "\(name)-\($0)" } ?? name }
    }

    /// The kind of fault.
    public var code: Code
    /// The position of the fault in the message. If the input ends too early, the end of the input. For trailing data,
    /// the first extra byte. Otherwise, the header byte of the faulty record or chunk. 0 when writing, and for a fault
    /// in a payload.
    public var offset: Int
    /// The index of the faulty record in the message; 0 for a fault in a payload. A record's chunks share one index.
    public var record: Int

    /// Creates an error; each argument is the property of that name.
    public init(_ code: Code, offset: Int = 0, record: Int = 0) {
        self.code = code
        self.offset = offset
        self.record = record
    }

    public var description: String { "\(code): \(reason)" }

    public static func == (lhs: NDEFError, rhs: NDEFError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// A sentence that explains the fault.
    public var reason: String {
        if let detail = code.detail {
            return code.name == "inner"
                ? "The message in the payload is damaged (\(detail))."
                : "A smart poster must have exactly one URI, not \(detail)."
        }
        return switch code {
        case .emptyInput: "The input is empty."
        case .truncatedHeader: "The input ends at byte \(offset), within the header of record \(record)."
        case .truncatedBody: "The input ends at byte \(offset), before record \(record) is complete."
        case .missingMessageBegin: "The first record does not have the Message Begin flag."
        case .unexpectedMessageBegin: "Record \(record), at byte \(offset), has the Message Begin flag again."
        case .missingMessageEnd: "The input ends at byte \(offset) and no record has the Message End flag."
        case .trailingData: "The message ends at byte \(offset), but more bytes follow."
        case .emptyRecordNotEmpty: "Record \(record) is declared empty, but has a type, an identifier or a payload."
        case .typeNotAllowed: "Record \(record) has a type, which its type name format forbids."
        case .unexpectedUnchanged: "Record \(record) has the format of a later chunk, but does not follow a chunk."
        case .chunkWithMessageEnd:
            "A chunk of record \(record), at byte \(offset), ends the message, but more chunks must follow."
        case .chunkWithIdentifier: "A later chunk of record \(record), at byte \(offset), has an identifier."
        case .chunkWithoutType: "The first chunk of record \(record) has no type."
        case .chunkInterrupted: "A record begins at byte \(offset), where the next chunk of record \(record) should."
        case .typeTooLong: "The type of record \(record) is longer than 255 bytes."
        case .identifierTooLong: "The identifier of record \(record) is longer than 255 bytes."
        case .payloadTooLong: "The payload of record \(record) is longer than 4294967295 bytes; write it in chunks."
        case .invalidChunkSize: "A chunk must be at least one byte long."
        case .noRecords: "A message must have at least one record."
        case .wrongType: "The record has a different type."
        case .emptyPayload: "The payload is empty."
        case .tooShort: "The payload is too short."
        case .badEncoding: "The text is not valid in its encoding."
        case .controlCharacter: "The URI has a control character."
        case .languageOverrun: "The language code runs past the end of the payload."
        case .actionLength: "The action must be one byte."
        case .sizeLength: "The size must be four bytes."
        case .carrierEmpty: "An alternative carrier record is empty."
        case .carrierTrailing: "Bytes follow the last reference of an alternative carrier record."
        case .referenceOverrun: "A reference runs past the end of the handover record."
        case .errorLength: "The length of the error data does not match the reason."
        case .errorReserved: "The reason of the error is 0, which is reserved."
        case .collisionLength: "The collision resolution number is missing or is not two bytes."
        case .outOfBandOverrun: "The length in the out-of-band data exceeds the payload."
        case .outOfBandTrailing: "Bytes follow the out-of-band data."
        case .attributeOverrun: "An element runs past the end of its container."
        case .signatureOverrun: "The signature runs past the end of the payload."
        case .certificateOverrun: "A certificate runs past the end of the payload."
        case .missingElement: "A required element is missing."
        case .valueTooLong: "A value is longer than its length field can express."
        default: "The message can't be read."
        }
    }
}
