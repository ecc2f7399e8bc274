// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A folder on the disk that only its owner can read, as are its files.
public final class DirectoryStore: FileStore {
    /// More files than that are not looked at.
    static let maximumCount = 10_000

    /// The folder's path.
    public let path: String
    private let descriptor: Int32

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - path: its absolute path. It may not be a symbolic link.
    ///   - creates: whether it is made, and those above it, when it is not there.
    /// - Throws: ``StorageError``; of code `unsafe` when the folder is another user's.
    public init(_ path: String, creates: Bool = true) throws(StorageError) {
        self.path = path
        if creates { try Self.create(path) }
        descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("The folder \(path) can't be opened") }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_uid == geteuid() else {
            throw StorageError(.unsafe, "The folder \(path) is another user's.")
        }
        if status.st_mode & 0o077 != 0, fchmod(descriptor, 0o700) != 0 {
            throw StorageError(.unsafe, "The folder \(path) can be read by others.")
        }
    }

    deinit { close(descriptor) }

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

    public func names() throws(StorageError) -> [String] {
        // A descriptor of its own, so that each reading begins at the beginning.
        let own = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0, let folder = unsafe fdopendir(own) else {
            throw .system("The folder \(path) can't be read")
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder), names.count < Self.maximumCount {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    public func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8] {
        let file = try open(name, O_RDONLY | O_NONBLOCK)
        defer { close(file) }
        return try OpenFile.read(file, limit: limit, name: name)
    }

    public func write(_ name: String, _ octets: [UInt8]) throws(StorageError) {
        try remove(name)
        let file = try open(name, O_WRONLY | O_CREAT | O_EXCL)
        defer { close(file) }
        try OpenFile.write(file, octets, name: name)
    }

    public func rename(_ name: String, to new: String) throws(StorageError) {
        try check(name)
        try check(new)
        guard unsafe renameat(descriptor, name, descriptor, new) == 0 else { throw .system("\(name) can't be renamed") }
    }

    public func remove(_ name: String) throws(StorageError) {
        try check(name)
        guard unsafe unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw .system("\(name) can't be removed")
        }
    }

    public func synchronize() throws(StorageError) {
        guard fsync(descriptor) == 0 else { throw .system("The folder \(path) can't be written") }
    }

    private func open(_ name: String, _ flags: Int32) throws(StorageError) -> Int32 {
        try check(name)
        let file = unsafe openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("\(name) can't be opened") }
        return file
    }

    private func check(_ name: String) throws(StorageError) {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(0x2F), !name.utf8.contains(0) else {
            throw StorageError(.denied, "'\(name)' is no name of a file.")
        }
    }
}
