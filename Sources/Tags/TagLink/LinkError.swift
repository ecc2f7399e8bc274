// SPDX-License-Identifier: Apache-2.0

/// Why an exchange of frames failed. Two errors with the same code are equal.
public struct LinkError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name, such as `tagRemoved`.
        public let description: String

        private init(_ name: String) { description = name }

        /// The tag did not answer in time. It may have left the field, or it may not answer this command.
        public static let timeout = Code("timeout")
        /// The reader reports that the tag left the field.
        public static let tagRemoved = Code("tagRemoved")
        /// The answer had a wrong checksum, parity or framing.
        public static let transmission = Code("transmission")
        /// More than one tag answered; see ``LinkError/collision``.
        public static let collision = Code("collision")
        /// The frame is longer than the reader or the tag accepts.
        public static let frameTooLong = Code("frameTooLong")
        /// The reader was removed, or can't send in its current state.
        public static let readerUnavailable = Code("readerUnavailable")
        /// The caller's task was cancelled.
        public static let cancelled = Code("cancelled")
        /// The reader can't send a frame of this kind.
        public static let unsupported = Code("unsupported")
        /// The tag broke the rules of the transport protocol, such as ISO/IEC 14443-4.
        public static let protocolViolation = Code("protocolViolation")
        /// Another program is using the tag. The tag becomes available when that program releases it.
        public static let inUse = Code("inUse")
    }

    /// What the reader received when several tags answered at once.
    public struct Collision: Sendable, Hashable {
        /// The position of the first bit in which the tags differ, counted from 0.
        public var bitIndex: Int
        /// The bits before `bitIndex`, least significant bit first, in `(bitIndex + 7) / 8` bytes.
        public var bits: [UInt8]

        /// Creates a collision.
        public init(bitIndex: Int, bits: [UInt8]) {
            self.bitIndex = bitIndex
            self.bits = bits
        }
    }

    /// A class, so that the error is one pointer wide. This makes every call that may throw cheaper.
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
    /// A sentence that explains the failure.
    public var reason: String { contents.reason }
    /// Where the answers of the tags differ; only for ``Code/collision``.
    public var collision: Collision? { contents.collision }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - reason: a sentence that explains the failure.
    ///   - collision: where the answers of the tags differ; only for ``Code/collision``.
    public init(_ code: Code, _ reason: String, collision: Collision? = nil) {
        contents = Contents(code: code, reason: reason, collision: collision)
    }

    public var description: String { "\(code): \(reason)" }

    public static func == (lhs: LinkError, rhs: LinkError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
