// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A folder that only its owner may enter, and the files in it.
///
/// The folder is opened once, then checked and used through its descriptor. Replacing a part of its path later has no
/// effect. No call follows a symbolic link in the folder.
public final class PrivateFolder: FileStore {
    /// The access of other users.
    public enum Guests: Sendable {
        /// Other users lose their access. For folders that this program creates for itself.
        case closedOut
        /// Other users keep their access, as long as they can't write. For folders that a person has chosen.
        case mayRead
    }

    /// The folder's path, as it was given.
    public let path: String
    /// The folder's descriptor, which is closed with this object.
    package let descriptor: Int32

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - path: the absolute path. The last part may not be a symbolic link.
    ///   - creates: whether the folder and its parents are created if they are missing.
    ///   - guests: the access of other users.
    ///   - newMode: the mode of folders that are created, regardless of the process's mask.
    ///   - checksParents: whether to refuse a path in which another user can replace a part. Needed for sockets, and
    ///     for files that another program trusts.
    /// - Throws: ``StorageError``, with code `unsafe` when another user owns the folder or can change it.
    public init(
        _ path: String,
        creates: Bool = true,
        guests: Guests = .closedOut,
        newMode: UInt32 = 0o700,
        checksParents: Bool = true
    ) throws(StorageError) {
        self.path = path
        descriptor = try Self.open(path, making: creates ? newMode : nil, checksParents)
        let status = try FileStatus.ofOpen(descriptor, path)
        guard status.st_uid == geteuid() else {
            throw StorageError(.unsafe, "The folder \(path) belongs to another user. Choose a folder of your own.")
        }
        switch guests {
        case .closedOut:
            if status.st_mode & 0o077 != 0, fchmod(descriptor, 0o700) != 0 {
                throw StorageError(.unsafe, "The folder \(path) can be read by other users.")
            }
        case .mayRead:
            guard status.st_mode & 0o022 == 0 else {
                throw StorageError(.unsafe, "The folder \(path) can be written by other users. Choose another one.")
            }
        }
    }

    /// Opens a folder for files that only this program reads. The folders above it are not checked.
    public convenience init(store path: String, creates: Bool = true) throws(StorageError) {
        try self.init(path, creates: creates, checksParents: false)
    }

    deinit { close(descriptor) }

    /// Creates a folder in ``parentOfRandom``, with an unpredictable name that starts with a prefix.
    public static func random(_ prefix: String) throws(StorageError) -> PrivateFolder {
        var template = Array((parentOfRandom + "/\(prefix).XXXXXX").utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw .system("A folder can't be created in \(parentOfRandom)") }
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

    /// Opens a folder in this one, after creating it if it is missing.
    public func folder(_ name: String) throws(StorageError) -> PrivateFolder {
        try PathParts.check(name)
        return try PrivateFolder(path + "/" + name)
    }

    /// Whether the folder's group is allowed to enter it, and nobody else except the owner (mode 2750). Root creates
    /// such folders for a service with its own user. Sockets in the folder belong to the group too.
    public var isSharedWithGroup: Bool {
        (try? FileStatus.ofOpen(descriptor, path)).map { $0.st_mode & 0o7077 == 0o2050 } ?? false
    }

    /// Whether the folder is still at its path: it was not removed, moved or replaced.
    public var isInPlace: Bool {
        guard let own = try? FileStatus.ofOpen(descriptor, path) else { return false }
        return FileStatus.ofEntry(path).map { FileStatus.areSameFile(own, $0) } ?? false
    }

    /// Sets the mode of the folder, which determines who can see its content.
    public func setMode(_ mode: UInt32) throws(StorageError) {
        guard fchmod(descriptor, mode) == 0 else { throw .system("The mode of \(path) can't be changed") }
    }

    /// Removes the folder itself, if it is empty.
    public func removeIfEmpty() { _ = unsafe rmdir(path) }

    // MARK: Files

    /// The maximum number of files in a folder. The names in a larger folder are not read.
    static let maximumCount = 1_000_000

    public func names() throws(StorageError) -> [String] { try names(limit: Self.maximumCount) }

    func names(limit: Int) throws(StorageError) -> [String] {
        guard let names = FolderNames.read("/proc/self/fd/\(descriptor)", limit: limit + 1) else {
            throw .system("The folder \(path) can't be read")
        }
        guard names.count <= limit else {
            throw StorageError(.tooLarge, "The folder \(path) has more than \(limit) files.")
        }
        return names
    }

    /// Opens a file with flags for `openat`, without following a symbolic link. The caller closes the descriptor.
    public func open(_ name: String, _ flags: Int32) throws(StorageError) -> Int32 {
        try PathParts.check(name)
        let file = unsafe openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("\(path)/\(name) can't be opened") }
        return file
    }

    public func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8] {
        // Opening a pipe without `O_NONBLOCK` would wait for its writer.
        let file: Int32
        do throws(StorageError) {
            file = try open(name, O_RDONLY | O_NONBLOCK)
        } catch  where [ENXIO, ENODEV].contains(error.number) {
            // A socket, or a device without a driver.
            throw .notRegular(name)
        }
        return try InputFile(owning: file, name: name, limit: limit, isRegular: true).readToEnd()
    }

    /// Creates a new file for reading and writing, with mode 0600. An existing file with that name is replaced. The caller
    /// closes the descriptor.
    public func makeFile(_ name: String) throws(StorageError) -> Int32 {
        try remove(name)
        return try open(name, O_RDWR | O_CREAT | O_EXCL)
    }

    public func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        try write(name, bytes, mode: 0o600)
    }

    private func write(_ name: String, _ bytes: [UInt8], mode: UInt32) throws(StorageError) {
        let file = try makeFile(name)
        defer { close(file) }
        try OutputFile.save(bytes, to: file, name: "\(path)/\(name)", mode: mode)
    }

    /// Replaces a file in one step, like ``FileStore/replace(_:with:)``, and sets its mode.
    public func replace(_ name: String, with bytes: [UInt8], mode: UInt32) throws(StorageError) {
        try replace(name) { temporary throws(StorageError) in try write(temporary, bytes, mode: mode) }
    }

    public func rename(_ name: String, to new: String) throws(StorageError) {
        for name in [name, new] { try PathParts.check(name) }
        guard unsafe renameat(descriptor, name, descriptor, new) == 0 else {
            throw .system("\(path)/\(name) can't be renamed")
        }
    }

    /// Removes a file or an empty folder. A missing entry is not an error.
    public func remove(_ name: String) throws(StorageError) {
        try PathParts.check(name)
        if unsafe unlinkat(descriptor, name, 0) == 0 || errno == ENOENT { return }
        if errno == EISDIR, unsafe unlinkat(descriptor, name, AT_REMOVEDIR) == 0 { return }
        throw .system("\(path)/\(name) can't be removed")
    }

    public func synchronize() throws(StorageError) {
        guard fsync(descriptor) == 0 else { throw .system("The folder \(path) can't be written") }
    }

    // MARK: Folders in it

    /// Creates a folder in this one for another user. Only root can do this.
    public func makeFolder(_ name: String, owner: UInt32, group: UInt32, mode: UInt32) throws(StorageError) {
        try PathParts.check(name)
        guard unsafe mkdirat(descriptor, name, 0o700) == 0 || errno == EEXIST else {
            throw .system("The folder \(path)/\(name) can't be created")
        }
        let folder = try open(name, O_RDONLY | O_DIRECTORY)
        defer { close(folder) }
        // The mode is set last, because changing the owner removes the special bits.
        guard fchown(folder, owner, group) == 0, fchmod(folder, mode) == 0 else {
            throw .system("The folder \(path)/\(name) can't be assigned to its user")
        }
    }

    /// Removes the given files from a folder in this one, and then the folder. A folder with other files is kept.
    ///
    /// - Returns: whether the folder existed and is now removed.
    public func removeFolder(_ name: String, with files: [String]) -> Bool {
        guard let opened = try? open(name, O_RDONLY | O_DIRECTORY) else { return false }
        defer { close(opened) }
        for file in files where PathParts.isName(file) { _ = unsafe unlinkat(opened, file, 0) }
        return unsafe unlinkat(descriptor, name, AT_REMOVEDIR) == 0
    }

    /// Opens the folder. If a mode is given, missing folders on the path are created with that mode first.
    private static func open(_ path: String, making mode: UInt32?, _ checksParents: Bool) throws(StorageError) -> Int32
    {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw StorageError(.denied, "\(path) is not an absolute path.")
        }
        let parts = path.split(separator: "/")
        let parent = parts.dropLast().joined(separator: "/")
        if checksParents {
            do throws(StorageError) {
                let rule = ResolvedPath.Rule.trusted(owner: geteuid(), takesOwnGroups: true)
                _ = try ResolvedPath("/" + parent, rule, isPartial: true)
            } catch  where error.code == .unsafe {
                throw StorageError(.unsafe, "\(error.reason) So \(path) is not private. Choose another folder.")
            }
        }
        // From here on, no other user can change a path that was checked.
        var folder = ""
        for part in parts {
            folder += "/" + part
            guard let mode, FileStatus.ofEntry(folder) == nil else { continue }
            // Where the parents are not checked, the path may lead to another folder by now, so its mode is not changed.
            let isMade = unsafe mkdir(folder, 0o700) == 0
            let isReady = unsafe isMade ? !checksParents || chmod(folder, mode) == 0 : errno == EEXIST
            guard isReady else { throw .system("The folder \(folder) can't be created") }
        }
        let descriptor = unsafe Glibc.open(
            folder.isEmpty ? "/" : folder,
            O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        )
        guard descriptor >= 0 else { throw .system("The folder \(path) can't be opened") }
        return descriptor
    }
}

/// An exclusive claim on a file, among all processes. The claim is released with this object, and when the process ends
/// or crashes.
public final class FileClaim: Sendable {
    private let descriptor: Int32

    fileprivate init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

extension PrivateFolder {
    /// Claims a file, without waiting.
    ///
    /// The claim is on the file itself, so the claim remains when the file is renamed. Others can't claim the file, but
    /// can still read or remove it.
    ///
    /// - Throws: ``StorageError``, with code `inUse` when another claim exists, and `missing` when the file is gone.
    public func claim(_ name: String) throws(StorageError) -> FileClaim {
        let file: Int32
        do throws(StorageError) {
            // Opened for writing, because network file systems require that for an exclusive lock.
            file = try open(name, O_RDWR | O_NONBLOCK)
        } catch  where error.code == .denied {
            file = try open(name, O_RDONLY | O_NONBLOCK)
        }
        return try claim(file, name)
    }

    func claim(_ file: Int32, _ name: String) throws(StorageError) -> FileClaim {
        let claim = FileClaim(owning: file)
        guard try FileStatus.ofOpen(file, name).st_mode & S_IFMT == S_IFREG else { throw .notRegular(name) }
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: break
            case EWOULDBLOCK: throw StorageError(.inUse, "Another program is using \(path)/\(name).")
            // This file system has no locks, so it is unknown whether another program uses the file.
            case ENOLCK, EOPNOTSUPP, ENOSYS: return claim
            default: throw .system("\(path)/\(name) can't be locked")
            }
        }
        // The previous holder may have removed the file after it was opened here and before it was locked.
        guard try FileStatus.ofOpen(file, name).st_nlink > 0 else {
            throw StorageError(.missing, "\(path)/\(name) is gone.")
        }
        return claim
    }
}
