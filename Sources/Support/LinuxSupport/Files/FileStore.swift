// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A folder of small files. If the power fails between two operations, the files stay intact.
public protocol FileStore: Sendable {
    /// The names of all files.
    func names() throws(StorageError) -> [String]

    /// Reads a file. A file with more bytes than the limit throws ``StorageError/Code/tooLarge``.
    func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8]

    /// Writes a new file, and waits until its bytes are on the disk. An interrupted write may leave an incomplete file.
    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError)

    /// Renames a file in one step. An existing file with the new name is replaced.
    func rename(_ name: String, to new: String) throws(StorageError)

    /// Removes a file. A missing file is not an error.
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

    /// Removes the files that an interrupted ``replace(_:with:)`` left behind. Only call it in the process that writes.
    ///
    /// Skips entries that can't be removed, such as a folder with that suffix. They do no harm.
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
        /// The system does not allow reading or writing the file.
        case denied
        /// Another user could have written the file, or it is not a regular file.
        case unsafe
        /// The path leads to a folder, a pipe or a device, but must lead to a file.
        case notAFile
        /// The path already leads to something else.
        case occupied
        /// The file is larger than the limit.
        case tooLarge
        /// Another program is using the file.
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

    /// Creates an error from a failed system call, by default from `errno`. `what` starts the sentence to show.
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
