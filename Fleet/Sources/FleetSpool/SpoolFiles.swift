// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Keeps others out of the files of a spool, whatever the user's mask of permissions is.
enum SpoolFiles {
    /// Refuses a folder in which others can put files. One that is missing is made later.
    static func checkFolder(_ folder: String) throws(SpoolError) {
        var status = stat()
        guard unsafe lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return }
        guard status.st_mode & 0o022 == 0 else {
            throw SpoolError(
                .unusable,
                "Others can write the folder \(folder). Look at what is in it, and: chmod 700 \(folder)"
            )
        }
    }

    /// Makes the file of the database where it is missing, and sees to it that only its owner can use it and its logs.
    ///
    /// SQLite gives the logs the permissions of the file.
    static func make(_ path: String) throws(SpoolError) {
        try restrict(path, O_CREAT)
        for suffix in ["-wal", "-shm"] { try restrict(path + suffix, 0) }
    }

    private static func restrict(_ path: String, _ flags: Int32) throws(SpoolError) {
        let file = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0o600)
        guard file >= 0 else {
            if errno == ENOENT { return }
            if errno == ELOOP { throw SpoolError(.unusable, "\(path) is a symbolic link. Put the file itself there.") }
            if errno == ENOSPC { throw SpoolError(.diskFull, "There is no room on the disk for \(path). Make room.") }
            throw SpoolError(.unusable, "\(path) can't be opened. Check whose it is.")
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0 || fchmod(file, 0o600) == 0
        else {
            throw SpoolError(.unusable, "\(path) is no ordinary file of this user. Move it away.")
        }
    }
}
