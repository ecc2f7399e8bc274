// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why something could not be kept or read. Equal by code.
public struct StorageError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable {
        enum Kind: Sendable { case missing, denied, unsafe, notAFile, occupied, tooLarge, inUse, failed }

        let kind: Kind

        /// There is no such file.
        public static let missing = Code(kind: .missing)
        /// The system does not let it be read or written.
        public static let denied = Code(kind: .denied)
        /// Others could have written it, or it is no ordinary file.
        public static let unsafe = Code(kind: .unsafe)
        /// It is a folder, a pipe or a device where a file is wanted.
        public static let notAFile = Code(kind: .notAFile)
        /// Something else is in its place.
        public static let occupied = Code(kind: .occupied)
        /// It is larger than it may be.
        public static let tooLarge = Code(kind: .tooLarge)
        /// Another program has it.
        public static let inUse = Code(kind: .inUse)
        /// The disk is full or at fault.
        public static let failed = Code(kind: .failed)
    }

    /// The kind of failure.
    public var code: Code
    /// What is wrong, as a sentence for people.
    public var reason: String

    /// The system's number of the error; 0 when it is none of the system's.
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

    /// An error of a call of the system.
    ///
    /// - Parameters:
    ///   - what: what failed, as the beginning of a sentence.
    ///   - number: the error; that of the last call, which is left in `errno`, unless given.
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
