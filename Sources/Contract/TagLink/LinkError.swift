// SPDX-License-Identifier: Apache-2.0

/// Why an exchange of frames failed. Equal by code.
public struct LinkError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Kind: String, Sendable {
            case timeout, tagRemoved, transmission, collision, frameTooLong, readerUnavailable, cancelled, unsupported
            case protocolViolation, inUse
        }

        let kind: Kind

        /// The tag did not answer in time. It may have left, or it may have nothing to say.
        public static let timeout = Code(kind: .timeout)
        /// The reader says that the tag left the field.
        public static let tagRemoved = Code(kind: .tagRemoved)
        /// The answer was damaged: checksum, parity or framing.
        public static let transmission = Code(kind: .transmission)
        /// More than one tag answered; see ``LinkError/collision``.
        public static let collision = Code(kind: .collision)
        /// The frame is longer than the reader or the tag can take.
        public static let frameTooLong = Code(kind: .frameTooLong)
        /// The reader is gone, or is not in a state to send.
        public static let readerUnavailable = Code(kind: .readerUnavailable)
        /// The caller's task was cancelled.
        public static let cancelled = Code(kind: .cancelled)
        /// The reader can't send such a frame.
        public static let unsupported = Code(kind: .unsupported)
        /// The tag broke the rules of the transport protocol, such as ISO/IEC 14443-4.
        public static let protocolViolation = Code(kind: .protocolViolation)
        /// Another program has the tag. It can be used when that program has let go of it.
        public static let inUse = Code(kind: .inUse)

        public var description: String { kind.rawValue }
    }

    /// The bits of an answer in which several tags spoke, up to the first one on which they disagreed.
    public struct Collision: Sendable, Hashable {
        /// The position of the first bit on which the tags disagreed, from 0.
        public var bitIndex: Int
        /// The bits before it, least significant first, in `(bitIndex + 7) / 8` octets.
        public var bits: [UInt8]

        /// Creates a collision.
        public init(bitIndex: Int, bits: [UInt8]) {
            self.bitIndex = bitIndex
            self.bits = bits
        }
    }

    /// What the error says, behind one reference: an error that is one word costs little wherever a call may throw it.
    private final class Contents: Sendable {
        let code: Code
        let reason: String
        let collision: Collision?

        init(code: Code, reason: String, collision: Collision?) {
            self.code = code
            self.reason = reason
            self.collision = collision
        }
    }

    private let contents: Contents

    /// The kind of failure.
    public var code: Code { contents.code }
    /// What happened, as a sentence for people.
    public var reason: String { contents.reason }
    /// Where the tags disagreed, for ``Code/collision``.
    public var collision: Collision? { contents.collision }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - reason: what happened, as a sentence for people.
    ///   - collision: where the tags disagreed, for ``Code/collision``.
    public init(_ code: Code, _ reason: String, collision: Collision? = nil) {
        contents = Contents(code: code, reason: reason, collision: collision)
    }

    public var description: String { "\(code): \(reason)" }

    public static func == (lhs: LinkError, rhs: LinkError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
