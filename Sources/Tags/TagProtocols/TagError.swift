// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Why a procedure on a tag failed. Two errors with the same code are equal.
public struct TagError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Kind: String, Sendable {
            case tagLost = "tag-lost"
            case noCapabilityContainer = "no-cc"
            case badVersion = "bad-version"
            case noMessageTLV = "no-ndef-tlv"
            case lengthOverrun = "tlv-overrun"
            case badChecksum = "bad-checksum"
            case writeInProgress = "write-in-progress"
            case readOnly = "read-only"
            case messageTooLong = "message-too-long"
            case authenticationFailed = "authentication-failed"
            case keyNeeded = "key-needed"
            case readProtected = "read-protected"
            case refused
            case updateFailed = "update-failed"
            case badAnswer = "bad-answer"
            case unsupported
            case cancelled
            case readerUnavailable = "reader-unavailable"
        }

        let kind: Kind

        /// The tag stopped answering, or another tag is in its place.
        public static let tagLost = Code(kind: .tagLost)
        /// The tag has no capability container, so it is not formatted for NDEF.
        public static let noCapabilityContainer = Code(kind: .noCapabilityContainer)
        /// The capability container has a mapping version with an unknown major number.
        public static let badVersion = Code(kind: .badVersion)
        /// The data area has no NDEF message TLV.
        public static let noMessageTLV = Code(kind: .noMessageTLV)
        /// A TLV, or the length of the message, runs past the data area.
        public static let lengthOverrun = Code(kind: .lengthOverrun)
        /// The checksum of a Type 3 attribute block is wrong.
        public static let badChecksum = Code(kind: .badChecksum)
        /// An earlier write was interrupted before its end.
        public static let writeInProgress = Code(kind: .writeInProgress)
        /// The tag can't be written.
        public static let readOnly = Code(kind: .readOnly)
        /// The message is longer than the tag's capacity. Reported before anything is written.
        public static let messageTooLong = Code(kind: .messageTooLong)
        /// The tag did not prove to the reader that it knows the key, or the reader did not prove it to the tag.
        public static let authenticationFailed = Code(kind: .authenticationFailed)
        /// The tag allows this only to a reader that knows a key.
        public static let keyNeeded = Code(kind: .keyNeeded)
        /// The tag does not let itself be read freely, for example without its password.
        public static let readProtected = Code(kind: .readProtected)
        /// The tag answered a command with a refusal.
        public static let refused = Code(kind: .refused)
        /// The tag did not accept a write, but is still present.
        public static let updateFailed = Code(kind: .updateFailed)
        /// The tag's answer broke its specification.
        public static let badAnswer = Code(kind: .badAnswer)
        /// The tag or the reader does not support the operation.
        public static let unsupported = Code(kind: .unsupported)
        /// The caller's task was cancelled.
        public static let cancelled = Code(kind: .cancelled)
        /// The reader is gone.
        public static let readerUnavailable = Code(kind: .readerUnavailable)

        /// The code's name, as the command-line tool prints it.
        public var description: String { kind.rawValue }
    }

    /// The contents are boxed, so that the error is one pointer wide: every call that may throw gets cheaper.
    private final class Contents: Sendable {
        let code: Code
        let reason: String
        let link: LinkError?

        init(code: Code, reason: String, link: LinkError?) {
            self.code = code
            self.reason = reason
            self.link = link
        }
    }

    private let contents: Contents

    /// The kind of failure.
    public var code: Code { contents.code }
    /// A sentence that explains the failure. It names the rule of the specification that a tag broke.
    public var reason: String { contents.reason }
    /// The failed exchange that caused the error, if there was one.
    public var link: LinkError? { contents.link }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - reason: a sentence that explains the failure.
    ///   - link: the failed exchange that caused the error.
    public init(_ code: Code, _ reason: String, link: LinkError? = nil) {
        contents = Contents(code: code, reason: reason, link: link)
    }

    public var description: String { "\(code): \(reason)" }

    public static func == (lhs: TagError, rhs: TagError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension TagError {
    /// Converts the failure of an exchange, for a procedure that does not try again.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - technology: the technology of the tag's answer; nil behind ISO-DEP.
    init(link error: LinkError, over technology: Technology? = nil) {
        switch error.code {
        case .timeout, .tagRemoved: self.init(.tagLost, "The tag does not answer any more.", link: error)
        case .cancelled: self.init(.cancelled, "The operation was cancelled.", link: error)
        case .readerUnavailable, .inUse: self.init(.readerUnavailable, error.reason, link: error)
        case .unsupported, .frameTooLong: self.init(.unsupported, error.reason, link: error)
        case .collision:
            let rule = Self.framingRule(technology)
            self.init(.badAnswer, "More than one tag answered at once (\(rule)).", link: error)
        // A broken protocol rule is named in the error already. The rule for noise and parity is only known here.
        case .transmission:
            let reason = error.reason.hasSuffix(").") ? "" : " (\(Self.framingRule(technology)))"
            self.init(.badAnswer, Self.sentence(error.reason, adding: reason), link: error)
        default: self.init(.badAnswer, error.reason, link: error)
        }
    }

    /// A mapping version that the specification doesn't define. `place` is the section that the error refers to.
    static func badVersion(_ major: UInt8, _ minor: UInt8, known: String = "1 is", _ place: String) -> TagError {
        TagError(.badVersion, "The mapping version is \(major).\(minor); \(known) known (NFC Forum \(place)).")
    }

    /// Creates an error when trying again is pointless; nil for other failures.
    package init?(fatal error: LinkError) {
        switch error.code {
        case .timeout, .transmission, .collision: return nil
        default: self.init(link: error)
        }
    }

    /// Returns the rules of frames, parity and checksum that a damaged answer breaks.
    static func framingRule(_ technology: Technology?) -> String {
        switch technology {
        case .nfcA: "ISO/IEC 14443-3, 6.2"
        case .nfcB: "ISO/IEC 14443-3, 7.1 and 7.2"
        case .nfcF: "NFC Forum Digital 2.3, 8.3 and 8.4"
        case .nfcV: "ISO/IEC 15693-3, 7"
        case nil: "ISO/IEC 14443-3, 6.2 and 7.2"
        }
    }

    private static func sentence(_ text: String, adding rule: String) -> String {
        rule.isEmpty ? text : (text.hasSuffix(".") ? String(text.dropLast()) : text) + rule + "."
    }
}
