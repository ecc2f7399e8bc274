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
