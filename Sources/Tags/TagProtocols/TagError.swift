// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Why a procedure on a tag failed. Two errors with the same code are equal.
public struct TagError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name, as the command-line tool prints it.
        public let description: String

        private init(_ name: String) { description = name }

        /// The tag stopped answering, or another tag is in its place.
        public static let tagLost = Code("tag-lost")
        /// The tag has no capability container, so it is not formatted for NDEF.
        public static let noCapabilityContainer = Code("no-cc")
        /// The capability container has a mapping version with an unknown major number.
        public static let badVersion = Code("bad-version")
        /// The data area has no NDEF message TLV.
        public static let noMessageTLV = Code("no-ndef-tlv")
        /// A TLV, or the length of the message, runs past the data area.
        public static let lengthOverrun = Code("tlv-overrun")
        /// The checksum of a Type 3 attribute block is wrong.
        public static let badChecksum = Code("bad-checksum")
        /// An earlier write was interrupted before its end.
        public static let writeInProgress = Code("write-in-progress")
        /// The tag can't be written.
        public static let readOnly = Code("read-only")
        /// The message is longer than the tag's capacity. Reported before anything is written.
        public static let messageTooLong = Code("message-too-long")
        /// The tag did not prove to the reader that it knows the key, or the reader did not prove it to the tag.
        public static let authenticationFailed = Code("authentication-failed")
        /// The tag allows this only to a reader that knows a key.
        public static let keyNeeded = Code("key-needed")
        /// The tag does not let itself be read freely, for example without its password.
        public static let readProtected = Code("read-protected")
        /// The tag answered a command with a refusal.
        public static let refused = Code("refused")
        /// The tag did not accept a write, but is still present.
        public static let updateFailed = Code("update-failed")
        /// The tag's answer broke its specification.
        public static let badAnswer = Code("bad-answer")
        /// The tag or the reader does not support the operation.
        public static let unsupported = Code("unsupported")
        /// The caller's task was cancelled.
        public static let cancelled = Code("cancelled")
        /// The reader is gone.
        public static let readerUnavailable = Code("reader-unavailable")
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

    /// Creates an error; each argument is the property of that name.
    public init(_ code: Code, _ reason: String, link: LinkError? = nil) {
        contents = Contents(code: code, reason: reason, link: link)
    }

    public var description: String { "\(code): \(reason)" }

    public static func == (lhs: TagError, rhs: TagError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension TagError {
    /// Converts the failure of an exchange, for a procedure that does not try again. The technology is that of the tag's
    /// answer; nil behind ISO-DEP.
    init(link error: LinkError, over technology: Technology? = nil) {
        switch error.code {
        case .timeout, .tagRemoved: self.init(.tagLost, "The tag does not answer any more.", link: error)
        case .cancelled: self.init(.cancelled, "The operation was cancelled.", link: error)
        case .readerUnavailable, .inUse: self.init(.readerUnavailable, error.reason, link: error)
        case .unsupported, .frameTooLong: self.init(.unsupported, error.reason, link: error)
        case .collision:
            let reason = "More than one tag answered at once (\(Self.framingRule(technology)))."
            self.init(.badAnswer, reason, link: error)
        // A broken protocol rule is named in the error already. The rule for noise and parity is only known here.
        case .transmission where !error.reason.hasSuffix(")."):
            let sentence = error.reason.hasSuffix(".") ? String(error.reason.dropLast()) : error.reason
            self.init(.badAnswer, "\(sentence) (\(Self.framingRule(technology))).", link: error)
        default: self.init(.badAnswer, error.reason, link: error)
        }
    }

    /// A mapping version that the specification doesn't define. `place` is the section that the error refers to.
    static func badVersion(_ major: UInt8, _ minor: UInt8, known: String = "1 is", _ place: String) -> TagError {
        TagError(.badVersion, "The mapping version is \(major).\(minor); \(known) known (NFC Forum \(place)).")
    }

    /// A message that is longer than the tag's capacity.
    static func messageTooLong(_ message: [UInt8], _ capacity: Int) -> TagError {
        TagError(.messageTooLong, "The message has \(message.count) bytes, and the tag has room for \(capacity).")
    }

    /// The same error; or `updateFailed` when the answer to a write was bad.
    var ofWrite: TagError { code == .badAnswer ? TagError(.updateFailed, reason, link: link) : self }

    /// The error, remembered as the one that every later procedure throws when it means that the tag is lost.
    func remembered(in lost: inout TagError?) -> TagError {
        if code == .tagLost { lost = self }
        return self
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

    /// Whether the tag works but does not hold NDEF, as far as it lets itself be read.
    public var meansNotNDEF: Bool {
        switch code {
        case .noCapabilityContainer, .badVersion, .noMessageTLV, .lengthOverrun, .badChecksum, .writeInProgress,
            .readProtected:
            true
        default: false
        }
    }

    /// Whether the tag refused to show a part of its memory.
    var isRefusedRead: Bool { code == .refused || code == .lengthOverrun || code == .readProtected }

    static let readOnlyAlready = TagError(.readOnly, "The tag is read-only already.")
}

extension FrameLink {
    /// Sends a frame, and repeats it up to a number of attempts while trying again may help.
    func transceive(_ request: Frame, timeout: Airtime, attempts: Int) async throws(LinkError) -> Frame {
        for _ in 1..<attempts {
            do throws(LinkError) {
                return try await transceive(request, timeout: timeout)
            } catch {
                guard TagError(fatal: error) == nil else { throw error }
            }
        }
        return try await transceive(request, timeout: timeout)
    }
}
