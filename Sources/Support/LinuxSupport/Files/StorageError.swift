// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why a file or folder could not be read or written. Two errors with the same code are equal.
public struct StorageError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable {
        enum Kind: Sendable { case missing, denied, unsafe, notAFile, occupied, tooLarge, inUse, failed }

        let kind: Kind

        /// The file does not exist.
        public static let missing = Code(kind: .missing)
        /// The system does not allow reading or writing it.
        public static let denied = Code(kind: .denied)
        /// Another user could have written it, or it is not a regular file.
        public static let unsafe = Code(kind: .unsafe)
        /// It is a folder, a pipe or a device, but must be a file.
        public static let notAFile = Code(kind: .notAFile)
        /// Something else is in its place.
        public static let occupied = Code(kind: .occupied)
        /// It is larger than the limit.
        public static let tooLarge = Code(kind: .tooLarge)
        /// Another program uses it.
        public static let inUse = Code(kind: .inUse)
        /// The disk is full or has an error.
        public static let failed = Code(kind: .failed)
    }

    /// The kind of failure.
    public var code: Code
    /// A sentence that explains the failure.
    public var reason: String

    /// The system's error number; 0 when the system reported no error.
    let number: Int32

    /// Creates an error.
    public init(_ code: Code, _ reason: String) {
        self.init(code, reason, number: 0)
    }

    private init(_ code: Code, _ reason: String, number: Int32) {
        self.code = code
        self.reason = reason
        self.number = number
    }

    /// Creates an error from a failed system call.
    ///
    /// - Parameters:
    ///   - what: what failed, as the start of a sentence.
    ///   - number: the error number. The default is `errno`, the error of the last call.
    package static func system(_ what: String, _ number: Int32 = errno) -> StorageError {
        let code: Code =
            switch number {
            case ENOENT: .missing
            case EACCES, EPERM, EROFS: .denied
            case ELOOP, ENOTDIR: .unsafe
            default: .failed
            }
        return StorageError(code, "\(what): \(unsafe String(cString: strerror(number))).", number: number)
    }

    public var description: String { reason }
}

extension StorageError: Hashable {
    public static func == (left: StorageError, right: StorageError) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
