// SPDX-License-Identifier: Apache-2.0

/// A fault inside the payload of a well-framed record, or in a value that can't be encoded. Two errors with the same
/// code are equal.
///
/// The record can still be read as bytes, and so can the message around it.
public struct RecordError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Kind: Sendable, Hashable {
            case named(Name)
            case inner(NDEFError.Code)
            case uriCount(Int)
        }

        enum Name: String, Sendable {
            case wrongType = "wrong-type"
            case emptyPayload = "empty-payload"
            case tooShort = "too-short"
            case badEncoding = "bad-encoding"
            case controlCharacter = "control-character"
            case languageOverrun = "language-overrun"
            case actionLength = "action-length"
            case sizeLength = "size-length"
            case carrierEmpty = "ac-empty"
            case carrierTrailing = "ac-trailing"
            case referenceOverrun = "reference-overrun"
            case errorLength = "err-length"
            case errorReserved = "err-reserved"
            case collisionLength = "cr-length"
            case outOfBandOverrun = "oob-length-overrun"
            case outOfBandTrailing = "oob-trailing"
            case attributeOverrun = "tlv-overrun"
            case signatureOverrun = "signature-overrun"
            case certificateOverrun = "certificate-overrun"
            case missingElement = "missing-element"
            case valueTooLong = "value-too-long"
        }

        let kind: Kind

        private init(_ name: Name) { kind = .named(name) }

        private init(kind: Kind) { self.kind = kind }

        /// The record has another type than the requested one.
        public static let wrongType = Code(.wrongType)
        /// The payload is empty, but must not be.
        public static let emptyPayload = Code(.emptyPayload)
        /// The payload ends inside its fixed part.
        public static let tooShort = Code(.tooShort)
        /// The text isn't valid in its encoding.
        public static let badEncoding = Code(.badEncoding)
        /// A URI has a control character: a byte under 0x20.
        public static let controlCharacter = Code(.controlCharacter)
        /// The language code of a text runs past the payload.
        public static let languageOverrun = Code(.languageOverrun)
        /// The action of a smart poster isn't one byte long.
        public static let actionLength = Code(.actionLength)
        /// The size of a smart poster isn't four bytes long.
        public static let sizeLength = Code(.sizeLength)
        /// An alternative carrier record has no payload.
        public static let carrierEmpty = Code(.carrierEmpty)
        /// An alternative carrier record has bytes after its last reference.
        public static let carrierTrailing = Code(.carrierTrailing)
        /// A reference or a type inside a handover record runs past its end.
        public static let referenceOverrun = Code(.referenceOverrun)
        /// The data of a handover error record have the wrong length for the reason.
        public static let errorLength = Code(.errorLength)
        /// The reason of a handover error record is 0, which is reserved.
        public static let errorReserved = Code(.errorReserved)
        /// The collision resolution number of a handover request isn't two bytes, or is missing from version 1.2 on.
        public static let collisionLength = Code(.collisionLength)
        /// The length in Bluetooth out-of-band data is longer than the payload.
        public static let outOfBandOverrun = Code(.outOfBandOverrun)
        /// There are bytes after the Bluetooth out-of-band data.
        public static let outOfBandTrailing = Code(.outOfBandTrailing)
        /// An element of type, length and value runs past the end of its container.
        public static let attributeOverrun = Code(.attributeOverrun)
        /// The signature runs past the payload.
        public static let signatureOverrun = Code(.signatureOverrun)
        /// A certificate, or the URI of one, runs past the payload.
        public static let certificateOverrun = Code(.certificateOverrun)
        /// A required element is missing.
        public static let missingElement = Code(.missingElement)
        /// When writing: a value is longer than its length field can express.
        public static let valueTooLong = Code(.valueTooLong)

        /// The message inside the payload has a fault.
        public static func inner(_ code: NDEFError.Code) -> Code { Code(kind: .inner(code)) }

        /// A smart poster doesn't have exactly one URI.
        public static func uriCount(_ count: Int) -> Code { Code(kind: .uriCount(count)) }

        /// The code's name, as the command-line tool prints it. For a fault in an inner message it is `inner-` and the
        /// code's name in ``NDEFError``.
        public var description: String {
            switch kind {
            case .named(let name): name.rawValue
            case .inner(let code): "inner-\(code)"
            case .uriCount(let count): "uri-count-\(count)"
            }
        }
    }

    /// The kind of fault.
    public var code: Code

    /// Creates an error.
    ///
    /// - Parameter code: the kind of fault.
    public init(_ code: Code) { self.code = code }

    public var description: String { "\(code): \(reason)" }
}

extension RecordError {
    /// A sentence that explains the fault.
    public var reason: String {
        switch code.kind {
        case .inner(let code): "The message in the payload is damaged (\(code))."
        case .uriCount(let count): "A smart poster has exactly one URI; this one has \(count)."
        case .named(let name):
            switch name {
            case .wrongType: "The record is of another type."
            case .emptyPayload: "The payload is empty."
            case .tooShort: "The payload is too short."
            case .badEncoding: "The text is not in the encoding that it should be in."
            case .controlCharacter: "The URI has a control character."
            case .languageOverrun: "The language code runs past the end of the payload."
            case .actionLength: "The action is not one byte."
            case .sizeLength: "The size is not four bytes."
            case .carrierEmpty: "An alternative carrier record is empty."
            case .carrierTrailing: "Bytes follow the last reference of an alternative carrier record."
            case .referenceOverrun: "A reference runs past the end of the handover record."
            case .errorLength: "The error data do not have the length that goes with the reason."
            case .errorReserved: "The reason of the error is 0, which is reserved."
            case .collisionLength: "The collision resolution number is missing or is not two bytes."
            case .outOfBandOverrun: "The out-of-band data say that they are longer than the payload."
            case .outOfBandTrailing: "Bytes follow the out-of-band data."
            case .attributeOverrun: "An element runs past the end of what it is in."
            case .signatureOverrun: "The signature runs past the end of the payload."
            case .certificateOverrun: "A certificate runs past the end of the payload."
            case .missingElement: "An element that must be there is missing."
            case .valueTooLong: "A value is longer than its length field can say."
            }
        }
    }
}
