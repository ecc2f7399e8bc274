// SPDX-License-Identifier: Apache-2.0
import CardCryptography
public import TagLink

/// The reason why a procedure on a tag failed. Two errors with the same code are equal.
public struct TagError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name, as the command-line tool prints it.
        public let description: String

        private init(_ name: String) { description = name }

        /// The tag stopped answering, or another tag has replaced it.
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
        /// An earlier write was interrupted.
        public static let writeInProgress = Code("write-in-progress")
        /// The tag can't be written.
        public static let readOnly = Code("read-only")
        /// The message is longer than the tag's capacity. This is reported before anything is written.
        public static let messageTooLong = Code("message-too-long")
        /// The tag or the reader did not prove that it knows the key.
        public static let authenticationFailed = Code("authentication-failed")
        /// The operation requires a key.
        public static let keyNeeded = Code("key-needed")
        /// The tag restricts reading, for example to readers with its password.
        public static let readProtected = Code("read-protected")
        /// The tag refused a command.
        public static let refused = Code("refused")
        /// The tag did not accept a write, but is still present.
        public static let updateFailed = Code("update-failed")
        /// The tag's answer broke its specification.
        public static let badAnswer = Code("bad-answer")
        /// The tag or the reader does not support the operation.
        public static let unsupported = Code("unsupported")
        /// The caller's task was cancelled.
        public static let cancelled = Code("cancelled")
        /// The reader was removed.
        public static let readerUnavailable = Code("reader-unavailable")
    }

    /// A class, so that the error is one pointer wide. This makes every call that may throw cheaper.
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
    /// A sentence that explains the failure. It cites the specification's rule that the tag broke.
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
    /// Converts the failure of an exchange in a procedure that does not try again. `technology` is that of the tag's
    /// answer; nil over ISO-DEP.
    init(link error: LinkError, over technology: Technology? = nil) {
        switch error.code {
        case .timeout, .tagRemoved: self.init(.tagLost, "The tag no longer answers.", link: error)
        case .cancelled: self.init(.cancelled, "The operation was cancelled.", link: error)
        case .readerUnavailable, .inUse: self.init(.readerUnavailable, error.reason, link: error)
        case .unsupported, .frameTooLong: self.init(.unsupported, error.reason, link: error)
        case .collision:
            let reason = "More than one tag answered at once (\(Self.framingRule(technology)))."
            self.init(.badAnswer, reason, link: error)
        // Errors about protocol rules already cite the rule. For noise and parity, the rule is added here.
        case .transmission where !error.reason.hasSuffix(")."):
            let sentence = error.reason.hasSuffix(".") ? String(error.reason.dropLast()) : error.reason
            self.init(.badAnswer, "\(sentence) (\(Self.framingRule(technology))).", link: error)
        default: self.init(.badAnswer, error.reason, link: error)
        }
    }

    /// The error for an undefined mapping version. `place` is the section of the specification to cite.
    static func badVersion(_ major: UInt8, _ minor: UInt8, known: String = "1 is", _ place: String) -> TagError {
        TagError(.badVersion, "The mapping version is \(major).\(minor); \(known) known (NFC Forum \(place)).")
    }

    /// The error for a message that is longer than the tag's capacity.
    static func messageTooLong(_ message: [UInt8], _ capacity: Int) -> TagError {
        TagError(.messageTooLong, "The message has \(message.count) bytes, but the tag only has room for \(capacity).")
    }

    /// This error; but `updateFailed` if it is a bad answer to a write.
    var ofWrite: TagError { code == .badAnswer ? TagError(.updateFailed, reason, link: link) : self }

    /// Returns this error. If the tag was lost, also stores the error, which every later procedure then throws.
    func remembered(in lost: inout TagError?) -> TagError {
        if code == .tagLost { lost = self }
        return self
    }

    /// Creates an error for a failure that retrying can't fix; nil for other failures.
    package init?(fatal error: LinkError) {
        switch error.code {
        case .timeout, .transmission, .collision: return nil
        default: self.init(link: error)
        }
    }

    /// Returns the section about frames, parity and checksum that a damaged answer violates.
    static func framingRule(_ technology: Technology?) -> String {
        switch technology {
        case .nfcA: "ISO/IEC 14443-3, 6.2"
        case .nfcB: "ISO/IEC 14443-3, 7.1 and 7.2"
        case .nfcF: "NFC Forum Digital 2.3, 8.3 and 8.4"
        case .nfcV: "ISO/IEC 15693-3, 7"
        case nil: "ISO/IEC 14443-3, 6.2 and 7.2"
        }
    }

    /// Whether the tag works, but has no readable NDEF message.
    public var meansNotNDEF: Bool {
        switch code {
        case .noCapabilityContainer, .badVersion, .noMessageTLV, .lengthOverrun, .badChecksum, .writeInProgress,
            .readProtected:
            true
        default: false
        }
    }

    /// Whether the tag refused to let part of its memory be read.
    var isRefusedRead: Bool { code == .refused || code == .lengthOverrun || code == .readProtected }

    static let alreadyReadOnly = TagError(.readOnly, "The tag is already read-only.")
}

extension FrameLink {
    /// Sends a frame up to `attempts` times, as long as retrying may help.
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

/// Computes a code. If the system's OpenSSL is missing, the error explains what to install.
///
/// - Parameter failure: the error for data of the tag that can't be computed with.
func coded<Result>(
    _ failure: TagError.Code = .unsupported,
    _ body: () throws(CryptographyError) -> Result
) throws(TagError) -> Result {
    do throws(CryptographyError) {
        return try body()
    } catch {
        throw TagError(error.code == .libraryMissing ? .unsupported : failure, error.reason)
    }
}
