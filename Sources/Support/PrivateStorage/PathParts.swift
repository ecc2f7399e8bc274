// SPDX-License-Identifier: Apache-2.0

/// The folder and the name of a file's path.
package struct PathParts: Sendable {
    /// The folder's path; `.` where the path has none.
    package let folder: String
    /// The file's name in it.
    package let name: String

    /// Takes a path apart.
    ///
    /// - Returns: nil when the path names no file, as one with a slash at its end.
    package init?(_ path: String) {
        let end = path.utf8.lastIndex(of: 0x2F)
        name = String(path[(end.map(path.utf8.index(after:)) ?? path.startIndex)...])
        guard OpenFolder.isName(name) else { return nil }
        folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}
