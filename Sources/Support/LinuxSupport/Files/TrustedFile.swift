// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file with security decisions, such as permissions. Only the user and root may have written it.
public enum TrustedFile {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - limit: the most bytes.
    /// - Throws: ``StorageError``, with code `unsafe` when it belongs to another user, when others can write it, or
    ///   when it is not a regular file.
    public static func read(_ path: String, limit: Int) throws(StorageError) -> [UInt8] {
        guard let found = try FoundFile.find(path) else {
            throw .system("\(path) can't be read", ENOENT)
        }
        guard found.kind == .regular else { throw StorageError(.unsafe, "\(path) is no ordinary file.") }
        guard found.status.st_uid == 0 || found.status.st_uid == geteuid() else {
            throw StorageError(.unsafe, "\(path) belongs to another user.")
        }
        guard found.status.st_mode & 0o022 == 0 else {
            throw StorageError(.unsafe, "\(path) can be written by others.")
        }
        return try InputFile(owning: found.open(O_RDONLY), name: path, limit: limit).readToEnd()
    }
}
