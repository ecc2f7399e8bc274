// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the system knows of a file, such as its kind, its owner and its mode; nil when it does not know the file.
enum FileStatus {
    /// Returns the status of an open file.
    static func ofOpen(_ file: Int32) -> stat? {
        var status = stat()
        return unsafe fstat(file, &status) == 0 ? status : nil
    }

    /// Returns the status of what is at a path. A symbolic link there is not followed.
    static func ofEntry(_ path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    /// Returns the status of the file that a path leads to.
    static func ofTarget(_ path: String) -> stat? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    /// Returns whether both are of the same file.
    static func areOfOneFile(_ one: stat, _ other: stat) -> Bool {
        one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }
}
