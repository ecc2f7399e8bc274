// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport
import Glibc

/// A folder that is opened once. Every operation goes through its descriptor, so nobody can replace the folder in
/// between. Symbolic links in the folder are not followed.
final class OpenFolder: Sendable {
    /// The folder's path, for messages.
    let path: String
    /// The descriptor of the open folder.
    let descriptor: Int32

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - followsLink: whether the path may be a symbolic link to the folder.
    ///   - lists: whether the names in it will be read. If not, the folder may be one that can't be listed.
    init(_ path: String, followsLink: Bool, lists: Bool = true) throws(StorageError) {
        self.path = path
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
        var folder = unsafe Glibc.open(path, flags)
        if folder < 0, errno == EACCES, !lists {
            folder = unsafe ocn_open_folder(path, followsLink ? 1 : 0)
        }
        guard folder >= 0 else { throw .system("The folder \(path) can't be opened") }
        descriptor = folder
    }

    /// Takes ownership of an open folder.
    ///
    /// - Parameters:
    ///   - descriptor: the folder, which is closed with this object.
    ///   - path: its path.
    init(owning descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Returns the folder's status, such as its owner and mode.
    func status() throws(StorageError) -> stat {
        guard let status = FileStatus.ofOpen(descriptor) else { throw .system("The folder \(path) can't be read") }
        return status
    }

    /// Returns the status of a file in the folder; nil when it is missing.
    func status(of name: String) -> stat? {
        var status = stat()
        return unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Opens a file in the folder. It is an error when the file is a symbolic link.
    func open(_ name: String, _ flags: Int32, mode: mode_t = 0o600) throws(StorageError) -> Int32 {
        try Self.check(name)
        let file = unsafe openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, mode)
        guard file >= 0 else { throw .system("\(path)/\(name) can't be opened") }
        return file
    }

    /// Renames a file in one step. A file that had the new name is replaced.
    func rename(_ name: String, to new: String) throws(StorageError) {
        try Self.check(name)
        try Self.check(new)
        guard unsafe renameat(descriptor, name, descriptor, new) == 0 else {
            throw .system("\(path)/\(name) can't be renamed")
        }
    }

    /// Removes a file. It is not an error when the file is missing.
    func remove(_ name: String) throws(StorageError) {
        try Self.check(name)
        guard unsafe unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw .system("\(path)/\(name) can't be removed")
        }
    }

    /// Waits until the names of all files are on the disk.
    func synchronize() throws(StorageError) {
        guard fsync(descriptor) == 0 else { throw .system("The folder \(path) can't be written") }
    }

    /// Creates a new file with an unpredictable name.
    ///
    /// - Parameters:
    ///   - mode: the permissions, from which the process's mask is removed.
    ///   - path: the path of the file that it will become, for messages.
    /// - Returns: its name, and its descriptor for writing.
    func makeTemporary(mode: mode_t, for path: String) throws(StorageError) -> (name: String, file: Int32) {
        // With 64 random bits, no other file has the name.
        var generator = SystemRandomNumberGenerator()
        let number: UInt64 = generator.next()
        let digits = String(number, radix: 16)
        let name = ".nfc-" + String(repeating: "0", count: 16 - digits.count) + digits + Self.temporarySuffix
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = unsafe openat(descriptor, name, flags, mode)
        guard file >= 0 else { throw .system("\(path) can't be written") }
        return (name, file)
    }

    /// The suffix of temporary files.
    static let temporarySuffix = ".tmp"

    /// Throws unless a name is a plain name, without a slash for example.
    static func check(_ name: String) throws(StorageError) {
        guard isName(name) else { throw StorageError(.denied, "'\(name)' is not a file name.") }
    }

    /// Returns whether a text is a file name and not a path.
    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(0x2F) && !name.utf8.contains(0)
    }
}
