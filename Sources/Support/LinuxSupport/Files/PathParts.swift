// SPDX-License-Identifier: Apache-2.0

/// The folder and the file name of a path.
package struct PathParts: Sendable {
    /// The folder's path; `.` when the path has none.
    package let folder: String
    /// The file name.
    package let name: String

    /// Splits a path.
    ///
    /// - Returns: nil when the path has no file name, for example when it ends with a slash.
    package init?(_ path: String) {
        let end = path.utf8.lastIndex(of: 0x2F)
        name = String(path[(end.map(path.utf8.index(after:)) ?? path.startIndex)...])
        guard OpenFolder.isName(name) else { return nil }
        folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}
