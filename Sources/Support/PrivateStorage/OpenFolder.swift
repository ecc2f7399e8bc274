// SPDX-License-Identifier: Apache-2.0
import CSystemCalls
import Glibc

/// A folder that is opened once. All that is done in it goes through its descriptor, so that nobody can put another folder
/// in its place meanwhile, and no symbolic link in it is followed.
final class OpenFolder: Sendable {
    /// The folder's path, for people.
    let path: String
    /// The open folder.
    let descriptor: Int32

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - followsLink: whether the path may be that of a symbolic link to the folder.
    ///   - lists: whether its names are read. Without that, a folder whose names are secret can be opened too.
    init(_ path: String, followsLink: Bool, lists: Bool = true) throws(StorageError) {
        self.path = path
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
        var folder = unsafe Glibc.open(path, flags)
        if folder < 0, errno == EACCES, !lists { folder = unsafe ocn_open_folder(path, followsLink ? 1 : 0) }
        guard folder >= 0 else { throw .system("The folder \(path) can't be opened") }
        descriptor = folder
    }

    /// Takes over a folder that is open.
    ///
    /// - Parameters:
    ///   - descriptor: the folder, which is closed with this object.
    ///   - path: its path.
    init(owning descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// The owner, the mode and the rest of what the system knows of the folder.
    func status() throws(StorageError) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system("The folder \(path) can't be read") }
        return status
    }

    /// The same of a file in it; nil when there is none.
    func status(of name: String) -> stat? {
        var status = stat()
        return unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Opens a file in it. A symbolic link in its place is an error.
    func open(_ name: String, _ flags: Int32, mode: mode_t = 0o600) throws(StorageError) -> Int32 {
        try Self.check(name)
        let file = unsafe openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, mode)
        guard file >= 0 else { throw .system("\(path)/\(name) can't be opened") }
        return file
    }

    /// Gives a file another name, in one step; a file that had that name is gone.
    func rename(_ name: String, to new: String) throws(StorageError) {
        try Self.check(name)
        try Self.check(new)
        guard unsafe renameat(descriptor, name, descriptor, new) == 0 else {
            throw .system("\(path)/\(name) can't be renamed")
        }
    }

    /// Removes a file. One that is not there is no error.
    func remove(_ name: String) throws(StorageError) {
        try Self.check(name)
        guard unsafe unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw .system("\(path)/\(name) can't be removed")
        }
    }

    /// Waits until the names of files are on the disk.
    func synchronize() throws(StorageError) {
        guard fsync(descriptor) == 0 else { throw .system("The folder \(path) can't be written") }
    }

    /// Makes a new file under a name that nobody can foresee.
    ///
    /// - Parameters:
    ///   - mode: who may read and write it; the process's mask is taken off.
    ///   - path: the path of the file that it is made for, for people.
    /// - Returns: its name, and its descriptor for writing.
    func makeTemporary(mode: mode_t, for path: String) throws(StorageError) -> (name: String, file: Int32) {
        for _ in 0..<100 {
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            let name = ".nfc-" + String(repeating: "0", count: 16 - digits.count) + digits + Self.temporarySuffix
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            let file = unsafe openat(descriptor, name, flags, mode)
            if file >= 0 { return (name, file) }
            guard errno == EEXIST else { break }
        }
        throw .system("\(path) can't be written")
    }

    /// What the names of temporary files end in.
    static let temporarySuffix = ".tmp"

    /// Refuses what is not a plain name, such as one with a slash.
    static func check(_ name: String) throws(StorageError) {
        guard isName(name) else { throw StorageError(.denied, "'\(name)' is not a file name.") }
    }

    /// Whether a text is the name of a file, and not a path.
    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(0x2F) && !name.utf8.contains(0)
    }
}
