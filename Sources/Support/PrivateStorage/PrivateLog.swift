// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file that grows piece by piece, and that only its owner may read.
///
/// A pipe or a device may take its place: then it is whoever reads that who may read it.
public final class PrivateLog: Sendable {
    /// The file's path.
    public let path: String
    private let descriptor: Int32
    /// Whether the file was made here.
    private let isNew: Bool

    /// Whether the file has anything in it, as far as a regular file can tell; true for others.
    public var isStarted: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFREG || status.st_size > 0
    }

    /// Makes the file, or empties one that is there; a file that others could read is closed to them.
    ///
    /// - Parameters:
    ///   - path: the file's path.
    ///   - beginning: what a file that is there has to begin with to be replaced, unless it is empty.
    /// - Throws: ``StorageError``; of code `occupied` when another file is there, `unsafe` when it is another user's.
    public init(_ path: String, replacing beginning: [UInt8]) throws(StorageError) {
        self.path = path
        guard let found = try FoundFile.find(path) else {
            descriptor = try Self.create(path)
            isNew = true
            return
        }
        isNew = false
        switch found.kind {
        case .regular: descriptor = try Self.empty(found, beginning)
        case .pipe, .device: descriptor = try found.openForWriting(O_WRONLY | O_APPEND)
        case .folder, .disk, .socket: throw found.refusal
        }
    }

    deinit { close(descriptor) }

    /// Adds bytes at the end. When that fails, and nothing is in a file that was made here, the file is taken away.
    public func append(_ bytes: [UInt8]) throws(StorageError) {
        do throws(StorageError) {
            try OpenFile.write(descriptor, bytes, name: path)
        } catch {
            if isNew, !isStarted { remove() }
            throw error
        }
    }

    /// Takes the file away, unless another one has its name by now.
    private func remove() {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, let found = try? FoundFile.find(path),
            found.status.st_dev == status.st_dev, found.status.st_ino == status.st_ino,
            let (folder, name) = found.place()
        else { return }
        try? folder.remove(name)
    }

    private static func create(_ path: String) throws(StorageError) -> Int32 {
        // The system follows a link that leads to no file, by its own rules for links that others have made.
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("\(path) can't be written") }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0,
            status.st_uid == geteuid()
        else {
            close(file)
            throw StorageError(.occupied, "\(path) was made by somebody else meanwhile. Name another file.")
        }
        return file
    }

    private static func empty(_ found: FoundFile, _ beginning: [UInt8]) throws(StorageError) -> Int32 {
        guard found.status.st_uid == geteuid() else {
            throw StorageError(.unsafe, "\(found.path) belongs to another user. Name another file.")
        }
        let file = try found.open(O_RDWR | O_APPEND)
        do throws(StorageError) {
            var head = [UInt8](repeating: 0, count: beginning.count)
            let count = unsafe head.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, $0.count, 0) }
            guard count == 0 || count == head.count && head == beginning else {
                throw StorageError(.occupied, "\(found.path) is there already. Name another file.")
            }
            guard found.status.st_mode & 0o077 == 0 || fchmod(file, 0o600) == 0, ftruncate(file, 0) == 0 else {
                throw .system("\(found.path) can't be written")
            }
            return file
        } catch {
            close(file)
            throw error
        }
    }
}
