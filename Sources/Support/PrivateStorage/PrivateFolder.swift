// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemLibrary

/// A folder that only its owner may enter: opened once, checked by its descriptor, and used from there.
///
/// Use it for whatever decides something or is nobody else's business: sockets, configurations that another program loads, and
/// logs. The messages of tags are kept in a ``DirectoryStore``. After it is open, a path that is swapped changes nothing: each
/// call works in the folder that was checked. No call follows a symbolic link in the folder.
public final class PrivateFolder: Sendable {
    /// What becomes of other users.
    public enum Guests: Sendable {
        /// A folder that others may enter is closed to them. For folders that this program makes for itself.
        case closedOut
        /// They may stay as they are, as long as they can't write. For folders that a person has named.
        case mayRead
    }

    /// The folder's path, as it was given.
    public let path: String
    /// The folder; it is closed with this object.
    package var descriptor: Int32 { folder.descriptor }
    private let folder: OpenFolder

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - path: its absolute path. Its last part may not be a symbolic link.
    ///   - creates: whether the folder, and those above it, are made with mode 0700 when they are missing.
    ///   - guests: who else may be in it.
    ///   - newMode: the mode of folders that it makes, whatever the process's mask is.
    /// - Throws: ``StorageError``; of code `unsafe` when the folder, or one on the way to it, can be changed by another user.
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

    /// Makes a new folder whose name nobody can guess, in `TMPDIR` or `/tmp`.
    ///
    /// - Parameter prefix: what its name begins with.
    /// - Throws: ``StorageError`` when it can't be made.
    public static func random(_ prefix: String) throws(StorageError) -> PrivateFolder {
        let parent = parentOfRandom
        var template = Array((parent + "/\(prefix).XXXXXX").utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw .system("No folder can be made in \(parent)") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return try PrivateFolder(path, creates: false)
    }

    /// Where ``random(_:)`` makes folders: `TMPDIR` where that is an absolute path, else `/tmp`.
    public static var parentOfRandom: String {
        let parent = EnvironmentVariable.value("TMPDIR") ?? "/tmp"
        return parent.hasPrefix("/") ? parent : "/tmp"
    }

    /// A folder in this one.
    ///
    /// - Parameter name: its name; it is made when it is missing.
    public func folder(_ name: String) throws(StorageError) -> PrivateFolder {
        try OpenFolder.check(name)
        return try PrivateFolder(path + "/" + name)
    }

    /// Whether the folder is open to its group and to nobody else (mode 2750), as root sets one up for a service with a user of
    /// its own: sockets in it are the group's too.
    public var isSharedWithGroup: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & 0o7077 == 0o2050
    }

    // MARK: Files

    /// Makes a new file for writing, in place of one that has the name.
    ///
    /// - Parameter name: its name.
    /// - Returns: its descriptor, which the caller closes. Its mode is 0600.
    public func makeFile(_ name: String) throws(StorageError) -> Int32 {
        try remove(name)
        return try open(name, O_RDWR | O_CREAT | O_EXCL)
    }

    /// Writes a new file, in place of one that has the name, and waits until its bytes are on the disk.
    public func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        let file = try makeFile(name)
        defer { close(file) }
        try OpenFile.write(file, bytes, name: name)
        try OpenFile.synchronize(file, name: name)
    }

    /// Lets others see what is in the folder, or closes it to them.
    public func setMode(_ mode: UInt32) throws(StorageError) {
        guard fchmod(descriptor, mode) == 0 else { throw .system("The mode of \(path) can't be changed") }
    }

    /// Puts a file in place in one step: at any time the old one is there or the new one, whole.
    ///
    /// - Parameters:
    ///   - name: the file's name.
    ///   - bytes: what it holds.
    ///   - mode: who may read it.
    public func replace(_ name: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(StorageError) {
        try OpenFolder.check(name)
        let (temporary, file) = try folder.makeTemporary(mode: 0o600, for: path + "/" + name)
        defer { close(file) }
        do throws(StorageError) {
            try OpenFile.write(file, bytes, name: name)
            try OpenFile.synchronize(file, name: name)
            guard fchmod(file, mode) == 0 else { throw .system("\(path)/\(name) can't be written") }
            try rename(temporary, to: name)
        } catch {
            try? remove(temporary)
            throw error
        }
    }

    /// Makes a folder in this one for another user, as root does.
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
        // The mode last: a change of the owner takes the special bits away.
        guard fchown(folder, owner, group) == 0, fchmod(folder, mode) == 0 else {
            throw .system("The folder \(path)/\(name) can't be given to its user")
        }
    }

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - name: its name. A symbolic link is not followed.
    ///   - flags: as `openat` takes them.
    /// - Returns: its descriptor, which the caller closes.
    public func open(_ name: String, _ flags: Int32) throws(StorageError) -> Int32 {
        try folder.open(name, flags)
    }

    /// Gives a file another name, in one step; a file that had that name is gone.
    public func rename(_ name: String, to new: String) throws(StorageError) { try folder.rename(name, to: new) }

    /// Removes a file. One that is missing is no error.
    public func remove(_ name: String) throws(StorageError) { try folder.remove(name) }

    /// Removes the folder itself, if it is empty.
    public func removeIfEmpty() {
        _ = unsafe rmdir(path)
    }

    /// Removes a folder in this one.
    ///
    /// - Parameters:
    ///   - name: its name. A symbolic link is not followed.
    ///   - files: the files that may be in it, which are removed first.
    /// - Returns: whether it was there and is gone; one with other files stays.
    public func removeFolder(_ name: String, with files: [String]) -> Bool {
        guard let opened = try? open(name, O_RDONLY | O_DIRECTORY) else { return false }
        defer { close(opened) }
        for file in files where OpenFolder.isName(file) { _ = unsafe unlinkat(opened, file, 0) }
        return unsafe unlinkat(descriptor, name, AT_REMOVEDIR) == 0
    }

    // MARK: The way to it

    /// Opens each folder on the way from the one above it, and the last one without following a link.
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
        guard found < 0, errno == ENOENT, let mode else { return found }
        let isNew = unsafe mkdirat(folder, name, 0o700) == 0
        if !isNew, errno != EEXIST { return -1 }
        let made = unsafe openat(folder, name, flags)
        if isNew, mode != 0o700, made >= 0 {
            // By a descriptor that takes a mode: the one for the way to it does not.
            let open = unsafe openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            _ = fchmod(open, mode)
            close(open)
        }
        return made
    }

    /// Whether another user than root could put something else in the place of a folder in this one.
    private static func isOpenToOthers(_ folder: Int32) -> Bool {
        var status = stat()
        guard unsafe fstat(folder, &status) == 0 else { return true }
        guard status.st_uid == 0 || status.st_uid == geteuid() else { return true }
        // With the sticky bit only its owner replaces an entry. A group of the user's own is common (umask 002).
        return status.st_mode & 0o002 != 0 && status.st_mode & 0o1000 == 0
    }

    /// `O_PATH`, which the C library's module leaves out.
    static let openPathOnly: Int32 = 0o10000000
}
