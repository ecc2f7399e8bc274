// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file to append to, which only its owner may read.
///
/// Its path may also be a pipe or a device. Then the reader of the pipe or device gets the data.
package final class PrivateLog: Sendable {
    /// The file's path.
    package let path: String
    private let descriptor: Int32
    /// Whether this object created the file.
    private let isNew: Bool

    /// Whether a regular file has any content; always true for other files.
    package var isStarted: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFREG || status.st_size > 0
    }

    /// Creates the file, or empties an existing one. If others can read an existing file, their access is removed.
    ///
    /// - Parameters:
    ///   - path: the file's path.
    ///   - beginning: the bytes that an existing file must start with to be replaced, unless it is empty.
    /// - Throws: ``StorageError``, with code `occupied` when another file is there, and `unsafe` when it belongs to
    ///   another user.
    package init(_ path: String, replacing beginning: [UInt8]) throws(StorageError) {
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

    /// Appends bytes. When that fails, and this object created the file and it is empty, the file is removed.
    package func append(_ bytes: [UInt8]) throws(StorageError) {
        do throws(StorageError) {
            try OpenFile.write(descriptor, bytes, name: path)
        } catch {
            if isNew, !isStarted { remove() }
            throw error
        }
    }

    /// Removes the file, unless another file has its name now.
    private func remove() {
        guard let status = FileStatus.ofOpen(descriptor), let found = try? FoundFile.find(path),
            FileStatus.areOfOneFile(found.status, status), let (folder, name) = found.place()
        else { return }
        try? folder.remove(name)
    }

    /// Creates the file that was not there a moment ago.
    static func create(_ path: String) throws(StorageError) -> Int32 {
        // The system follows a link to a missing file, by its own rules for links of other users.
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("\(path) can't be written") }
        guard let status = FileStatus.ofOpen(file), status.st_mode & S_IFMT == S_IFREG, status.st_size == 0,
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
