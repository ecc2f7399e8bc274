// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Writes a complete file to a path that a person chose.
///
/// - A regular file is replaced in one step: at any time it has the old or the new content. The file keeps its mode,
///   and symbolic links to it still work.
/// - A pipe or a device, such as `/dev/stdout`, is written to. Folders, disks, sockets and pipes without a reader are
///   refused.
public enum OutputFile {
    /// The users who may read a newly created file.
    public enum Readers: Sendable {
        /// Everyone that the process's mask (`umask`) allows.
        case everyone
        /// Only the owner, because the file has keys or passwords that aren't the factory defaults. Such data are never
        /// written to another user's file or pipe.
        case ownerAlone
    }

    /// Writes a file with this content. A relative path starts at the process's current folder. `readers` sets the mode
    /// of a new file. With `.ownerAlone`, nothing is written to another user's file or pipe.
    public static func write(_ bytes: [UInt8], to path: String, readers: Readers) throws(StorageError) {
        guard PathParts(path) != nil else {
            let isFolder = FileStatus.ofTarget(path).map(FileKind.init) == .folder
            throw isFolder ? Self.folder(path) : StorageError(.notAFile, "'\(path)' is not a file name.")
        }
        let found = try ResolvedPath(path, .output)
        guard let status = found.status else {
            return try replace(found, with: bytes, name: path, mode: readers == .everyone ? 0o644 : 0o600)
        }
        let kind = FileKind(status)
        guard kind == .regular else {
            let file = try openStream(found, kind, 0, name: path, readers)
            defer { close(file) }
            return try OutputDescriptor(file).append(bytes, name: path)
        }
        if readers == .ownerAlone, status.st_uid != geteuid() { throw foreign(path) }
        guard isWritable(found) else { throw .system("\(path) can't be written") }
        try replace(found, with: bytes, name: path, like: status)
    }

    /// Throws if a file can't be written now. Call this before work whose result would otherwise be lost.
    package static func check(_ path: String) throws(StorageError) {
        let found = try ResolvedPath(path, .output)
        if let status = found.status, FileKind(status) != .regular { return }
        // The file is replaced by a new one in its folder.
        guard found.status == nil || isWritable(found), unsafe faccessat(found.folder, ".", W_OK, AT_EACCESS) == 0
        else { throw .system("\(path) can't be written") }
    }

    private static func isWritable(_ found: ResolvedPath) -> Bool {
        unsafe faccessat(AT_FDCWD, found.descriptorPath, W_OK, AT_EACCESS) == 0
    }

    /// Returns whether two paths lead to the same file, so that writing one of them replaces the other.
    package static func isOneFile(_ one: String, _ other: String) -> Bool {
        guard let first = FileStatus.ofTarget(one), let second = FileStatus.ofTarget(other) else { return false }
        return FileStatus.areSameFile(first, second)
    }

    /// Creates or replaces a file. The new file gets the mode and, if the system allows it, the owner of the file in
    /// `status`. Without `status`, it gets `mode`, reduced by the process's mask.
    private static func replace(
        _ found: ResolvedPath,
        with bytes: [UInt8],
        name: String,
        like status: stat? = nil,
        mode: mode_t = 0o600
    ) throws(StorageError) {
        let temporary = ".nfc-\(UInt64.random(in: 0 ... .max)).tmp"
        let file = unsafe openat(found.folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else { throw .system("\(name) can't be written") }
        defer { close(file) }
        do throws(StorageError) {
            if let status { _ = fchown(file, status.st_uid, status.st_gid) }
            try save(bytes, to: file, name: name, mode: status.map { $0.st_mode & 0o777 })
            guard unsafe renameat(found.folder, temporary, found.folder, found.name) == 0 else {
                throw .system("\(name) can't be written")
            }
        } catch {
            _ = unsafe unlinkat(found.folder, temporary, 0)
            throw error
        }
    }

    /// Writes all bytes of a new file, and waits until they are on the disk.
    static func save(_ bytes: [UInt8], to file: Int32, name: String, mode: mode_t? = nil) throws(StorageError) {
        try OutputDescriptor(file).append(bytes, name: name)
        if let mode, fchmod(file, mode) != 0 { throw .system("\(name) can't be written") }
        guard fsync(file) == 0 else { throw .system("\(name) can't be written") }
    }

    private static func folder(_ name: String) -> StorageError {
        StorageError(.notAFile, "\(name) is a folder. Name a file in it.")
    }

    private static func foreign(_ name: String) -> StorageError {
        StorageError(
            .unsafe,
            "\(name) belongs to another user, who may not read keys or passwords. Name another file."
        )
    }

    /// Opens a pipe or a device for writing, without waiting for a reader. Later writes may wait.
    static func openStream(
        _ found: ResolvedPath,
        _ kind: FileKind,
        _ flags: Int32,
        name: String,
        _ readers: Readers
    ) throws(StorageError) -> Int32 {
        switch kind {
        case .pipe where readers == .ownerAlone && ![0, geteuid()].contains(found.status?.st_uid): throw foreign(name)
        case .pipe, .device: break
        case .folder: throw folder(name)
        default: throw StorageError(.notAFile, "\(name) is a \(kind.rawValue), which is not written to. Name a file.")
        }
        let file = unsafe open(found.descriptorPath, flags | O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else {
            guard kind == .pipe, errno == ENXIO else { throw .system("\(name) can't be written") }
            throw StorageError(.failed, "\(name) is a pipe without a reader. Start its reader first.")
        }
        _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK)
        return file
    }
}

/// A file to append to, which only its owner may read.
///
/// The path may also lead to a pipe or a device. Then the reader of the pipe or device gets the data.
package final class PrivateLog: Sendable {
    package let path: String
    private let output: OutputDescriptor
    private let found: ResolvedPath

    /// Whether a regular file has any content; always true for other files.
    package var isStarted: Bool {
        guard let status = try? FileStatus.ofOpen(output.fileDescriptor, path) else { return true }
        return FileKind(status) != .regular || status.st_size > 0
    }

    /// Creates the file. An existing file must be empty or start with `beginning`; it is emptied, and other users lose
    /// their access to it. Throws ``StorageError``, with code `occupied` for any other existing file, and `unsafe` for
    /// another user's file.
    package init(_ path: String, replacing beginning: [UInt8]) throws(StorageError) {
        self.path = path
        found = try ResolvedPath(path, .output)
        let kind = found.status.map(FileKind.init)
        if let kind, kind != .regular {
            output = OutputDescriptor(try OutputFile.openStream(found, kind, O_APPEND, name: path, .ownerAlone))
            return
        }
        let flags = O_RDWR | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        output = OutputDescriptor(
            kind == nil
                ? unsafe openat(found.folder, found.name, flags | O_CREAT | O_EXCL, 0o600)
                : unsafe open(found.descriptorPath, flags)
        )
        guard output.fileDescriptor >= 0 else { throw .system("\(path) can't be written") }
        let status = try FileStatus.ofOpen(output.fileDescriptor, path)
        guard status.st_uid == geteuid() else {
            throw StorageError(.unsafe, "\(path) belongs to another user. Name another file.")
        }
        guard status.st_size == 0 || begins(with: beginning) else {
            throw StorageError(.occupied, "\(path) already exists. Name another file.")
        }
        guard status.st_mode & 0o077 == 0 || fchmod(output.fileDescriptor, 0o600) == 0,
            ftruncate(output.fileDescriptor, 0) == 0
        else { throw .system("\(path) can't be written") }
    }

    deinit { close(output.fileDescriptor) }

    private func begins(with beginning: [UInt8]) -> Bool {
        var head = [UInt8](repeating: 0, count: beginning.count)
        let count = unsafe pread(output.fileDescriptor, &head, head.count, 0)
        return count == head.count && head == beginning
    }

    /// Appends bytes. If that fails, and the file is empty and was created by this object, the file is removed.
    package func append(_ bytes: [UInt8]) throws(StorageError) {
        do throws(StorageError) {
            try output.append(bytes, name: path)
        } catch {
            if found.status == nil, !isStarted { _ = unsafe unlinkat(found.folder, found.name, 0) }
            throw error
        }
    }
}

/// A file descriptor for output. Writing continues until all bytes are written.
package struct OutputDescriptor: Sendable {
    package let fileDescriptor: Int32

    package init(_ fileDescriptor: Int32) { self.fileDescriptor = fileDescriptor }

    package static let standardError = OutputDescriptor(STDERR_FILENO)
    package static let standardOutput = OutputDescriptor(STDOUT_FILENO)

    /// Writes a whole text. If nobody reads any more, the rest is dropped. Returns the number of the error that stopped
    /// the writing; nil when all is written.
    @discardableResult
    package func write(_ text: String) -> Int32? {
        var text = text
        return text.withUTF8 { unsafe write(UnsafeRawBufferPointer($0)) }
    }

    /// Writes all bytes, like ``write(_:)`` for a text.
    package func write(_ bytes: [UInt8]) -> Int32? { unsafe bytes.withUnsafeBytes { unsafe write($0) } }

    /// Writes all bytes. Writing to a pipe without a reader is an error, and does not end the process.
    func append(_ bytes: [UInt8], name: String) throws(StorageError) {
        let number = Self.withoutPipeSignal { unsafe bytes.withUnsafeBytes { unsafe write($0) } }
        if let number { throw .system("\(name) can't be written", number) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int32? {
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            let count = unsafe Glibc.write(fileDescriptor, rest.baseAddress, rest.count)
            if count > 0 {
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if count == 0 {
                // The file accepted no bytes and reported no error, so it may never accept more.
                return EIO
            } else if errno == EAGAIN {
                var poller = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&poller, 1, 1000)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    /// Runs a function with the signal `SIGPIPE` blocked, so that writing to a pipe without a reader only returns
    /// `EPIPE`. By default, that signal ends the process.
    private static func withoutPipeSignal(_ write: () -> Int32?) -> Int32? {
        var signal = sigset_t()
        unsafe sigemptyset(&signal)
        unsafe sigaddset(&signal, SIGPIPE)
        var pending = sigset_t()
        unsafe sigpending(&pending)
        let wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, &signal, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let number = write()
        if number == EPIPE, !wasPending {
            // Removes the signal that was sent to this thread, without waiting.
            var atOnce = timespec()
            _ = unsafe sigtimedwait(&signal, nil, &atOnce)
        }
        return number
    }
}
