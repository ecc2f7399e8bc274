// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A folder on the disk. Only its owner can read it and its files.
public final class DirectoryStore: FileStore {
    /// The most files in a folder. The names in a larger folder are not read.
    static let maximumCount = 1_000_000

    let folder: OpenFolder

    /// The folder's path.
    public var path: String { folder.path }

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - path: its absolute path. It may not be a symbolic link.
    ///   - creates: whether the folder and its parents are created if they are missing.
    /// - Throws: ``StorageError``, with code `unsafe` when the folder belongs to another user.
    public init(_ path: String, creates: Bool = true) throws(StorageError) {
        if creates { try Self.create(path) }
        folder = try OpenFolder(path, followsLink: false)
        let status = try folder.status()
        guard status.st_uid == geteuid() else {
            throw StorageError(.unsafe, "The folder \(path) is another user's.")
        }
        if status.st_mode & 0o077 != 0, fchmod(folder.descriptor, 0o700) != 0 {
            throw StorageError(.unsafe, "The folder \(path) can be read by others.")
        }
    }

    private static func create(_ path: String) throws(StorageError) {
        guard path.hasPrefix("/") else { throw StorageError(.denied, "\(path) is not an absolute path.") }
        var prefix = ""
        for part in path.split(separator: "/") {
            prefix += "/" + part
            if unsafe mkdir(prefix, 0o700) != 0, errno != EEXIST {
                throw .system("The folder \(prefix) can't be made")
            }
        }
    }

    public func names() throws(StorageError) -> [String] { try names(limit: Self.maximumCount) }

    /// Returns the names of all files.
    ///
    /// - Throws: ``StorageError``, with code `tooLarge` when there are more than the limit.
    func names(limit: Int) throws(StorageError) -> [String] {
        guard let names = FolderNames.read(folder.descriptor, limit: limit + 1, text: FileName.text) else {
            throw .system("The folder \(path) can't be read")
        }
        guard names.count <= limit else {
            throw StorageError(.tooLarge, "The folder \(path) has more than \(limit) files.")
        }
        return names
    }

    public func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8] {
        // Opened without waiting, because opening a pipe would wait for its writer.
        let file: Int32
        do throws(StorageError) {
            file = try folder.open(name, O_RDONLY | O_NONBLOCK)
        } catch  where [ENXIO, ENODEV].contains(error.number) {
            // A socket, or a device without a driver.
            throw StorageError(.unsafe, "\(name) is no ordinary file.")
        }
        guard let status = FileStatus.ofOpen(file), status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw StorageError(.unsafe, "\(name) is no ordinary file.")
        }
        return try InputFile(owning: file, name: name, limit: limit).readToEnd()
    }

    public func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        try remove(name)
        let file = try folder.open(name, O_WRONLY | O_CREAT | O_EXCL)
        defer { close(file) }
        try OpenFile.save(file, bytes, name: name)
    }

    public func rename(_ name: String, to new: String) throws(StorageError) { try folder.rename(name, to: new) }

    /// Removes a file or an empty folder.
    public func remove(_ name: String) throws(StorageError) {
        try OpenFolder.check(name)
        let bytes = FileName.bytes(name).map(CChar.init(bitPattern:)) + [0]
        if unsafe unlinkat(folder.descriptor, bytes, 0) == 0 || errno == ENOENT { return }
        if errno == EISDIR, unsafe unlinkat(folder.descriptor, bytes, AT_REMOVEDIR) == 0 { return }
        throw .system("\(path)/\(FileName.shown(name)) can't be removed")
    }

    /// Whether the folder is still at its path: it was not removed, moved or replaced.
    public var isInPlace: Bool {
        guard let own = try? folder.status(), let there = FileStatus.ofEntry(path) else { return false }
        return FileStatus.areOfOneFile(own, there)
    }

    public func synchronize() throws(StorageError) { try folder.synchronize() }
}
