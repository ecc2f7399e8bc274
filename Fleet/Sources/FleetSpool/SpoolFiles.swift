// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Protects spool files from other users, regardless of the umask.
enum SpoolFiles {
    /// Creates the database file if needed, and makes sure that only its owner can access it and its logs.
    ///
    /// SQLite creates its logs with the same permissions as the file.
    static func make(_ path: String) throws(SpoolError) {
        try restrict(path, O_CREAT)
        for suffix in ["-wal", "-shm"] { try restrict(path + suffix, 0) }
    }

    private static func restrict(_ path: String, _ flags: Int32) throws(SpoolError) {
        let file = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0o600)
        guard file >= 0 else {
            if errno == ENOENT { return }
            if errno == ELOOP { throw SpoolError(.unusable, "\(path) is a symbolic link. Put the file itself there.") }
            if errno == ENOSPC { throw SpoolError(.diskFull, "The disk has no room for \(path). Free some space.") }
            throw SpoolError(.unusable, "\(path) can't be opened. Check its owner and permissions.")
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0 || fchmod(file, 0o600) == 0
        else { throw SpoolError(.unusable, "\(path) is not a regular file of this user. Move it away.") }
    }
}
