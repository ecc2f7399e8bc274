// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why something could not be kept or read. Equal by code.
public struct StorageError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable {
        enum Kind: Sendable { case missing, denied, unsafe, tooLarge, failed }

        let kind: Kind

        /// There is no such file.
        public static let missing = Code(kind: .missing)
        /// The system does not let it be read or written.
        public static let denied = Code(kind: .denied)
        /// Others could have written it, or it is no ordinary file.
        public static let unsafe = Code(kind: .unsafe)
        /// It is larger than it may be.
        public static let tooLarge = Code(kind: .tooLarge)
        /// The disk is full or at fault.
        public static let failed = Code(kind: .failed)
    }

    /// The kind of failure.
    public var code: Code
    /// What is wrong, as a sentence for people.
    public var reason: String

    /// Creates an error.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The error of the last call of the system, which is left in `errno`.
    static func system(_ what: String) -> StorageError {
        let number = errno
        let code: Code =
            switch number {
            case ENOENT: .missing
            case EACCES, EPERM, EROFS: .denied
            case ELOOP, ENOTDIR: .unsafe
            default: .failed
            }
        return StorageError(code, "\(what): \(unsafe String(cString: strerror(number))).")
    }

    public var description: String { reason }
}

extension StorageError: Hashable {
    public static func == (left: StorageError, right: StorageError) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
