// SPDX-License-Identifier: Apache-2.0
package import FleetModel
import Glibc
import LinuxSupport

/// Reads files that other users must not be able to read.
package enum SecretFile {
    /// Reads a file. The file must belong to the user or root, and must not be accessible to others.
    ///
    /// - Parameters:
    ///   - path: the absolute path.
    ///   - limit: the maximum size in bytes.
    /// - Throws: ``ConfigurationError`` that says what to do.
    package static func read(_ path: String, limit: Int = 4096) throws(ConfigurationError) -> [UInt8] {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw ConfigurationError(
                errno == ENOENT
                    ? "The file \(path) does not exist."
                    : "\(path) can't be read. Check the owner and permissions of the file and its folders."
            )
        }
        // Named first: advice about the file itself does not help while others can replace the file.
        if let folder = foreignFolder(of: path) {
            throw ConfigurationError(
                "Other users can replace \(path), because they can write in the folder \(folder). Choose another folder."
            )
        }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw ConfigurationError("\(path) belongs to another user. Make this program's user its owner.")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw ConfigurationError("Other users can read \(path). Run: chmod 600 \(path)")
        }
        do throws(StorageError) {
            return try TrustedFile.read(path, limit: limit)
        } catch {
            throw ConfigurationError(error.reason)
        }
    }

    /// Returns a folder on the path that belongs to another user, or that everyone can change; nil if there is none.
    /// ``TrustedFile`` also checks links and groups.
    private static func foreignFolder(of path: String) -> String? {
        var folder = ""
        for part in path.split(separator: "/").dropLast() {
            folder += "/" + part
            var status = stat()
            guard unsafe lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { continue }
            let isOwn = status.st_uid == 0 || status.st_uid == geteuid()
            if !isOwn || status.st_mode & 0o1002 == 0o002 { return folder }
        }
        return nil
    }

    /// Reads a file that contains one line.
    package static func readLine(_ path: String) throws(ConfigurationError) -> [UInt8] {
        var bytes = try read(path)
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        guard !bytes.isEmpty, !bytes.contains(0x0A), !bytes.contains(0) else {
            throw ConfigurationError("\(path) must have exactly one line.")
        }
        return bytes
    }
}
