// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A folder that only its owner may enter. It is opened once, checked through its descriptor, and used through it.
///
/// Use it for sensitive files: sockets, configurations that another program loads, and logs. Messages of tags are
/// stored in a ``DirectoryStore``. Once it is open, replacing something in its path has no effect, because each call
/// uses the folder that was checked. No call follows a symbolic link in the folder.
public final class PrivateFolder: Sendable {
    /// The access of other users.
    public enum Guests: Sendable {
        /// Their access is removed. For folders that this program creates for itself.
        case closedOut
        /// Their access stays, as long as they can't write. For folders that a person has named.
        case mayRead
    }

    /// The folder's path, as it was given.
    public let path: String
    /// The descriptor of the folder. It is closed with this object.
    package var descriptor: Int32 { folder.descriptor }
    private let folder: OpenFolder

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - path: its absolute path. Its last part may not be a symbolic link.
    ///   - creates: whether the folder and its parents are created with mode 0700 if they are missing.
    ///   - guests: the access of other users.
    ///   - newMode: the mode of folders that are created, regardless of the process's mask.
    /// - Throws: ``StorageError``, with code `unsafe` when another user can change the folder or one of its parents.
    public init(
        _ path: String,
        creates: Bool = true,
        guests: Guests = .closedOut,
        newMode: UInt32 = 0o700
    ) throws(StorageError) {
        self.path = path
        folder = OpenFolder(owning: try Self.open(path, making: creates ? newMode : nil), path: path)
        let status = try folder.status()
        guard status.st_uid == geteuid() else {
            throw StorageError(.unsafe, "The folder \(path) is another user's. Choose a folder of your own.")
        }
        switch guests {
        case .closedOut:
            if status.st_mode & 0o077 != 0, fchmod(folder.descriptor, 0o700) != 0 {
                throw StorageError(.unsafe, "The folder \(path) can be read by others.")
            }
        case .mayRead:
            guard status.st_mode & 0o022 == 0 else {
                throw StorageError(.unsafe, "The folder \(path) can be written by others. Choose a folder of your own.")
            }
        }
    }

    /// Creates a folder with an unpredictable name, in `TMPDIR` or `/tmp`.
    ///
    /// - Parameter prefix: the start of its name.
    /// - Throws: ``StorageError`` when it can't be created.
    public static func random(_ prefix: String) throws(StorageError) -> PrivateFolder {
        let parent = parentOfRandom
        var template = Array((parent + "/\(prefix).XXXXXX").utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw .system("No folder can be made in \(parent)") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        do throws(StorageError) {
            return try PrivateFolder(path, creates: false)
        } catch {
            _ = unsafe rmdir(path)
            throw error
        }
    }

    /// The folder in which ``random(_:)`` creates folders: `TMPDIR` if it is an absolute path, otherwise `/tmp`.
    public static var parentOfRandom: String {
        let parent = EnvironmentVariable.value("TMPDIR") ?? "/tmp"
        return parent.hasPrefix("/") ? parent : "/tmp"
    }

    /// Opens a folder in this one.
    ///
    /// - Parameter name: its name. It is created if it is missing.
    public func folder(_ name: String) throws(StorageError) -> PrivateFolder {
        try OpenFolder.check(name)
        return try PrivateFolder(path + "/" + name)
    }

    /// Whether only the folder's group can enter it besides its owner (mode 2750). Root creates such folders for a
    /// service with its own user. Sockets in it belong to the group too.
    public var isSharedWithGroup: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & 0o7077 == 0o2050
    }

    // MARK: Files

    /// Creates a new file for writing. An existing file with that name is replaced.
    ///
    /// - Parameter name: its name.
    /// - Returns: its descriptor, which the caller closes. Its mode is 0600.
    public func makeFile(_ name: String) throws(StorageError) -> Int32 {
        try remove(name)
        return try open(name, O_RDWR | O_CREAT | O_EXCL)
    }

    /// Writes a new file, and waits until its bytes are on the disk. An existing file with that name is replaced.
    public func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        let file = try makeFile(name)
        defer { close(file) }
        try OpenFile.save(file, bytes, name: name)
    }

    /// Sets the mode of the folder, which determines who can see its content.
    public func setMode(_ mode: UInt32) throws(StorageError) {
        guard fchmod(descriptor, mode) == 0 else { throw .system("The mode of \(path) can't be changed") }
    }

    /// Replaces a file in one step: at any time either the old or the new file is there, complete.
    ///
    /// - Parameters:
    ///   - name: the file's name.
    ///   - bytes: the new content.
    ///   - mode: the file's mode.
    public func replace(_ name: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(StorageError) {
        let (temporary, file) = try folder.makeTemporary(mode: 0o600, for: path + "/" + name)
        defer { close(file) }
        do throws(StorageError) {
            try OpenFile.save(file, bytes, name: name)
            guard fchmod(file, mode) == 0 else { throw .system("\(path)/\(name) can't be written") }
            try rename(temporary, to: name)
        } catch {
            try? remove(temporary)
            throw error
        }
    }

    /// Creates a folder in this one for another user. Only root can do this.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - owner: the user.
    ///   - group: the group.
    ///   - mode: its mode.
    public func makeFolder(_ name: String, owner: UInt32, group: UInt32, mode: UInt32) throws(StorageError) {
        try OpenFolder.check(name)
        guard unsafe mkdirat(descriptor, name, 0o700) == 0 || errno == EEXIST else {
            throw .system("The folder \(path)/\(name) can't be made")
        }
        let folder = try open(name, O_RDONLY | O_DIRECTORY)
        defer { close(folder) }
        // The mode is set last, because changing the owner removes the special bits.
        guard fchown(folder, owner, group) == 0,
            fchmod(folder, mode) == 0
        else {
            throw .system("The folder \(path)/\(name) can't be given to its user")
        }
    }

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - name: its name. A symbolic link is not followed.
    ///   - flags: the flags for `openat`.
    /// - Returns: its descriptor, which the caller closes.
    public func open(_ name: String, _ flags: Int32) throws(StorageError) -> Int32 {
        try folder.open(name, flags)
    }

    /// Renames a file in one step. A file that had the new name is replaced.
    public func rename(_ name: String, to new: String) throws(StorageError) { try folder.rename(name, to: new) }

    /// Removes a file. It is not an error when the file is missing.
    public func remove(_ name: String) throws(StorageError) { try folder.remove(name) }

    /// Removes the folder itself, if it is empty.
    public func removeIfEmpty() {
        _ = unsafe rmdir(path)
    }

    /// Removes a folder in this one.
    ///
    /// - Parameters:
    ///   - name: its name. A symbolic link is not followed.
    ///   - files: the files that may be in it. They are removed first.
    /// - Returns: whether the folder was there and is now removed. A folder with other files stays.
    public func removeFolder(_ name: String, with files: [String]) -> Bool {
        guard let opened = try? open(name, O_RDONLY | O_DIRECTORY) else { return false }
        defer { close(opened) }
        for file in files where OpenFolder.isName(file) { _ = unsafe unlinkat(opened, file, 0) }
        return unsafe unlinkat(descriptor, name, AT_REMOVEDIR) == 0
    }

    // MARK: The way to it

    /// Opens each folder of the path from its parent, and the last one without following a link.
    private static func open(_ path: String, making mode: UInt32?) throws(StorageError) -> Int32 {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw StorageError(.denied, "\(path) is not an absolute path.")
        }
        let parts = path.split(separator: "/").map(String.init)
        var folder = unsafe Glibc.open("/", openPathOnly | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .system("The folder / can't be opened") }
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            let flags = isLast ? O_RDONLY | O_NOFOLLOW : openPathOnly
            let next = openOrMake(part, in: folder, flags | O_DIRECTORY | O_CLOEXEC, mode)
            let number = errno
            close(folder)
            let name = "/" + parts.prefix(through: index).joined(separator: "/")
            guard next >= 0 else { throw .system("The folder \(name) can't be opened", number) }
            folder = next
            if !isLast, isOpenToOthers(next) {
                close(next)
                throw StorageError(
                    .unsafe,
                    "Others can change what is in \(name), so \(path) is not private. Choose another folder."
                )
            }
        }
        return folder
    }

    private static func openOrMake(_ name: String, in folder: Int32, _ flags: Int32, _ mode: UInt32?) -> Int32 {
        let found = unsafe openat(folder, name, flags)
        guard found < 0,
            errno == ENOENT, let mode
        else { return found }
        let isNew = unsafe mkdirat(folder, name, 0o700) == 0
        if !isNew, errno != EEXIST { return -1 }
        let made = unsafe openat(folder, name, flags)
        if isNew, mode != 0o700, made >= 0 {
            // Setting the mode needs another descriptor; one that was opened with `O_PATH` does not allow it.
            let open = unsafe openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            _ = fchmod(open, mode)
            close(open)
        }
        return made
    }

    /// Returns whether a user other than root could replace a folder in this one.
    private static func isOpenToOthers(_ folder: Int32) -> Bool {
        guard let status = FileStatus.ofOpen(folder), status.st_uid == 0 || status.st_uid == geteuid() else {
            return true
        }
        // With the sticky bit only its owner can replace an entry. A group that only has this user is common (umask
        // 002).
        return status.st_mode & 0o002 != 0 && status.st_mode & 0o1000 == 0
    }

    /// `O_PATH`, which the Glibc module does not export.
    static let openPathOnly: Int32 = 0o10000000
}
