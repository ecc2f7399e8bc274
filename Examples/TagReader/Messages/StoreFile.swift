// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A file that several processes change, one after the other. Only its owner can read it. At any moment it is either the
/// complete old file or the complete new one.
///
/// The lock is a separate file beside it, because each change replaces the file itself. The system releases the lock when
/// the process ends, in any way.
struct StoreFile: Sendable {
    /// The values that show whether the file has changed.
    struct State: Sendable, Equatable {
        var inode: UInt64
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    /// How long another instance may hold the lock, in milliseconds.
    private static let patience = 10_000

    /// The maximum size in bytes: more than the messages of a thousand full cards.
    private static let limit = 64 << 20

    /// The file's path.
    let path: String
    /// The target, if the path is a symbolic link.
    private let target: String

    init(_ path: String) {
        self.path = path
        target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    /// The state of the file now; nil when there is none.
    var state: State? {
        var status = stat()
        guard unsafe stat(target, &status) == 0 else { return nil }
        return State(
            inode: UInt64(status.st_ino),
            size: Int(status.st_size),
            seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec
        )
    }

    /// The failure of a save, for an errno.
    func notSaved(_ number: Int32) -> MessageStore.Failure {
        MessageStore.Failure(
            "The messages can't be saved in \(path)",
            number: number,
            next: "Check the folder and its free space."
        )
    }

    /// Reads the file, up to the limit. Its size is checked first.
    ///
    /// - Returns: nil when there is none.
    func read() throws(MessageStore.Failure) -> Data? {
        // Non-blocking: opening a pipe would wait for its writer.
        let descriptor = unsafe open(target, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 || errno != ENOENT else { return nil }
        guard descriptor >= 0 else { throw notRead(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw notRead(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw MessageStore.Failure(
                "\(path) is no file for messages. Name another one in TAGREADER_STORE.",
                cause: "their place is no file"
            )
        }
        guard Int(status.st_size) <= Self.limit else { throw tooLarge }
        let data: Data
        do {
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            data = try file.read(upToCount: Self.limit + 1) ?? Data()
        } catch {
            throw notRead(EIO)
        }
        // The file may have grown in the meantime.
        guard data.count <= Self.limit else { throw tooLarge }
        return data
    }

    private func notRead(_ number: Int32) -> MessageStore.Failure {
        MessageStore.Failure(
            "The saved messages can't be read from \(path)",
            number: number,
            next: "Check the folder, and who owns the file."
        )
    }

    private var full: MessageStore.Failure {
        MessageStore.Failure(
            "The list is full: \(path) would be larger than \(Self.limit >> 20) MiB. Delete some messages.",
            cause: "the list is full"
        )
    }

    private var tooLarge: MessageStore.Failure {
        MessageStore.Failure(
            """
            The saved messages in \(path) are larger than \(Self.limit >> 20) MiB, and are not read. They stay as they \
            are; move the file away, or name another one in TAGREADER_STORE.
            """,
            cause: "the file of the messages is too large"
        )
    }

    // MARK: Changing it

    /// Prevents other processes from changing the file.
    struct Lock: ~Copyable {
        fileprivate let descriptor: Int32

        /// Releases the lock.
        func unlock() { close(descriptor) }
    }

    /// Waits until no other process changes the file.
    func lock() throws(MessageStore.Failure) -> Lock {
        let folder = (target as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let descriptor = unsafe open(target + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw notSaved(errno) }
        for _ in 0..<Self.patience {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return Lock(descriptor: descriptor) }
            usleep(1000)
        }
        close(descriptor)
        throw MessageStore.Failure(
            "Another Tag Reader holds the saved messages and doesn't go on. End it and try again.",
            cause: "another window holds the messages"
        )
    }

    /// Replaces the file. Call it only under the lock.
    func replace(with data: Data) throws(MessageStore.Failure) {
        // Never write a file that could not be read again.
        guard data.count <= Self.limit else { throw full }
        // Under the lock only one process writes. A file that an interrupted process left is overwritten.
        let new = target + ".new"
        _ = unsafe unlink(new)
        let descriptor = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw notSaved(errno) }
        defer { close(descriptor) }
        let number = Self.write(data, to: descriptor)
        guard number == 0, fsync(descriptor) == 0, unsafe rename(new, target) == 0 else {
            let failure = notSaved(number == 0 ? errno : number)
            _ = unsafe unlink(new)
            throw failure
        }
        synchronizeFolder()
    }

    /// Writes all bytes.
    ///
    /// - Returns: the errno of the failure; 0 when all is written.
    private static func write(_ data: Data, to descriptor: Int32) -> Int32 {
        unsafe data.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = unsafe Glibc.write(
                    descriptor,
                    bytes.baseAddress?.advanced(by: written),
                    bytes.count - written
                )
                if count >= 0 { written += count } else if errno != EINTR { return errno }
            }
            return 0
        }
    }

    /// Gives the file an unused name. Call it only under the lock.
    ///
    /// - Returns: the new name; nil when no name is free, or the file can't be moved.
    func moveAside() -> String? {
        for number in 1...999 {
            let aside = "\(target).damaged-\(number)"
            if FileManager.default.fileExists(atPath: aside) { continue }
            return unsafe rename(target, aside) == 0 ? aside : nil
        }
        return nil
    }

    /// Waits until the rename is on the disk.
    private func synchronizeFolder() {
        let folder = unsafe open((target as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}
