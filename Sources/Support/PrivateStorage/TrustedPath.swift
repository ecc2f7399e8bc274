// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whether what a path leads to can be changed by anybody but root: a program that root runs may load it then.
public enum TrustedPath {
    /// The first part of a path that somebody else than root can change.
    ///
    /// - Parameters:
    ///   - path: an absolute path. Symbolic links are followed, and the way that they lead is looked at too.
    ///   - owner: a user who may change it too; nil for root alone.
    /// - Returns: the part; nil when only root can change the file and every folder on the way to it.
    public static func partOpenToOthers(_ path: String, owner: UInt32? = nil) -> String? {
        guard path.hasPrefix("/"), let resolved = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(resolved) }
        for way in [path, unsafe String(cString: resolved)] {
            var part = ""
            for name in way.split(separator: "/") where name != "." {
                part += "/" + name
                var status = stat()
                guard unsafe lstat(part, &status) == 0, status.st_uid == 0 || status.st_uid == owner else {
                    return part
                }
                // A link has no mode of its own; in a sticky folder only an entry's owner replaces it.
                let isLink = status.st_mode & S_IFMT == S_IFLNK
                let isSticky = status.st_mode & S_IFMT == S_IFDIR && status.st_mode & 0o1000 != 0
                if !isLink, !isSticky, status.st_mode & 0o022 != 0 { return part }
            }
        }
        return nil
    }

    /// The same, for what may be missing yet: the folders that are there are looked at.
    ///
    /// - Parameter path: an absolute path.
    public static func partOpenToOthers(existingPartOf path: String) -> String? {
        var parts = path.split(separator: "/")
        while !parts.isEmpty {
            let existing = "/" + parts.joined(separator: "/")
            var status = stat()
            if unsafe lstat(existing, &status) == 0 { return partOpenToOthers(existing) }
            parts.removeLast()
        }
        return nil
    }
}
