// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A folder of small files. Its operations keep the files intact when the power fails between any two of them.
public protocol FileStore: Sendable {
    /// The names of all files.
    func names() throws(StorageError) -> [String]

    /// Reads a file. One with more bytes than the limit throws ``StorageError/Code/tooLarge``.
    func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8]

    /// Writes a new file, and waits until its bytes are on the disk. If this is interrupted, the file may be
    /// incomplete.
    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError)

    /// Renames a file in one step. A file that had the new name is replaced.
    func rename(_ name: String, to new: String) throws(StorageError)

    /// Removes a file. It is not an error when the file is missing.
    func remove(_ name: String) throws(StorageError)

    /// Waits until the names of all files are on the disk.
    func synchronize() throws(StorageError)
}

extension FileStore {
    /// Replaces a file. At any time either the old or the new file exists, complete.
    public func replace(_ name: String, with bytes: [UInt8]) throws(StorageError) {
        try replace(name) { temporary throws(StorageError) in try write(temporary, bytes) }
    }

    func replace(_ name: String, _ write: (String) throws(StorageError) -> Void) throws(StorageError) {
        let temporary = name + Self.unfinished
        do throws(StorageError) {
            try write(temporary)
            try rename(temporary, to: name)
            try synchronize()
        } catch {
            try? remove(temporary)
            throw error
        }
    }

    /// The suffix of files that are being written.
    public static var unfinished: String { ".tmp" }

    /// Removes the files that an interrupted ``replace(_:with:)`` left. Only call it in the one process that writes.
    ///
    /// What can't be removed, such as a folder with such a name, is left and does no harm.
    public func removeUnfinished() throws(StorageError) {
        for name in try names() where name.hasSuffix(Self.unfinished) { try? remove(name) }
    }
}

/// Why a file or folder could not be read or written. Two errors with the same code are equal.
public struct StorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable {
        /// The file does not exist.
        case missing
        /// The system does not allow reading or writing it.
        case denied
        /// Another user could have written it, or it is not a regular file.
        case unsafe
        /// It is a folder, a pipe or a device, but must be a file.
        case notAFile
        /// Something else is in its place.
        case occupied
        /// It is larger than the limit.
        case tooLarge
        /// Another program uses it.
        case inUse
        /// The disk is full or has an error.
        case failed
    }

    /// The kind of failure.
    public var code: Code
    /// A sentence that explains the failure.
    public var reason: String
    /// The system's error number; 0 when the system reported no error.
    let number: Int32

    /// Creates an error.
    public init(_ code: Code, _ reason: String) { self.init(code, reason, 0) }

    private init(_ code: Code, _ reason: String, _ number: Int32) {
        (self.code, self.reason, self.number) = (code, reason, number)
    }

    /// Creates an error from a failed system call, by default from `errno`. `what` failed is the start of a sentence.
    package static func system(_ what: String, _ number: Int32 = errno) -> StorageError {
        let code: Code =
            switch number {
            case ENOENT: .missing
            case EACCES, EPERM, EROFS: .denied
            case ELOOP, ENOTDIR: .unsafe
            default: .failed
            }
        return StorageError(code, "\(what): \(unsafe String(cString: strerror(number))).", number)
    }

    static func notRegular(_ name: String) -> StorageError {
        StorageError(.unsafe, "\(name) is not a regular file.")
    }

    public var description: String { reason }

    public static func == (left: StorageError, right: StorageError) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
