// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Checks whether only root can change what a path leads to. Then a program that runs as root may load it.
package enum TrustedPath {
    /// Returns the first part of a path that a user other than root can change.
    ///
    /// - Parameters:
    ///   - path: an absolute path. Symbolic links are followed, and the paths that they lead to are checked too.
    ///   - owner: another user who may change it; nil when only root may.
    /// - Returns: the part; nil when only root can change the file and every folder on its path.
    package static func partOpenToOthers(_ path: String, owner: UInt32? = nil) -> String? {
        guard path.hasPrefix("/"), let resolved = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(resolved) }
        for way in [path, unsafe String(cString: resolved)] {
            var part = ""
            for name in way.split(separator: "/") where name != "." {
                part += "/" + name
                guard let status = FileStatus.ofEntry(part), status.st_uid == 0 || status.st_uid == owner else {
                    return part
                }
                // A link has no mode. In a sticky folder only its owner can replace an entry.
                let isLink = status.st_mode & S_IFMT == S_IFLNK
                let isSticky = status.st_mode & S_IFMT == S_IFDIR && status.st_mode & 0o1000 != 0
                if !isLink, !isSticky, status.st_mode & 0o022 != 0 { return part }
            }
        }
        return nil
    }

    /// Returns the same for a path that may not exist yet. The existing folders are checked.
    ///
    /// - Parameter path: an absolute path.
    package static func partOpenToOthers(existingPartOf path: String) -> String? {
        var parts = path.split(separator: "/")
        while !parts.isEmpty {
            let existing = "/" + parts.joined(separator: "/")
            if FileStatus.ofEntry(existing) != nil { return partOpenToOthers(existing) }
            parts.removeLast()
        }
        return nil
    }
}
