// SPDX-License-Identifier: Apache-2.0
import Glibc

package struct PathParts: Sendable {
    /// The folder's path; `.` when the path has none.
    package let folder: String
    /// The file name.
    package let name: String

    /// Splits a path; nil when it has no file name, for example when it ends with a slash.
    package init?(_ path: String) {
        let end = path.lastIndex(of: "/")
        name = String(path[(end.map(path.index(after:)) ?? path.startIndex)...])
        guard Self.isName(name) else { return nil }
        folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// Returns whether a text is a file name and not a path.
    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(0x2F) && !name.utf8.contains(0)
    }

    static func check(_ name: String) throws(StorageError) {
        guard isName(name) else { throw StorageError(.denied, "'\(name)' is not a file name.") }
    }
}

package enum FolderNames {
    /// Reads the names in a folder that `isWanted` accepts, up to a limit. Examines at most a hundred times as many
    /// entries. Returns the names, sorted, without `.` and `..`; nil when the folder can't be read, with the reason in
    /// `errno`. Names that aren't UTF-8 are left out, or with `repairsNames` have replacement characters, so that no
    /// entry has such a name.
    package static func read(
        _ path: String,
        limit: Int = .max,
        repairsNames: Bool = false,
        where isWanted: (String) -> Bool = { _ in true }
    ) -> [String]? {
        guard let stream = unsafe opendir(path) else { return nil }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        var seen = 0
        let (entryLimit, isUnlimited) = limit.multipliedReportingOverflow(by: 100)
        while names.count < limit, isUnlimited || seen < entryLimit, let entry = unsafe readdir(stream) {
            seen += 1
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                let name = unsafe bytes.prefix { $0 != 0 }
                return unsafe repairsNames
                    ? String(decoding: name, as: UTF8.self) : String(validating: name, as: UTF8.self)
            }
            if let name, name != ".", name != "..", isWanted(name) { names.append(name) }
        }
        return names.sorted()
    }
}

enum FileKind: String {
    case regular = "file"
    case folder
    case pipe
    case device
    case disk
    case socket
    case link

    init(_ status: stat) {
        self =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .folder
            case S_IFIFO: .pipe
            case S_IFBLK: .disk
            case S_IFSOCK: .socket
            case S_IFLNK: .link
            default: .device
            }
    }
}

/// The status of a file: its kind, its owner and its mode.
enum FileStatus {
    static func ofOpen(_ file: Int32, _ name: String) throws(StorageError) -> stat {
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .system("\(name) can't be read") }
        return status
    }

    /// Returns the status of the entry at a path. A symbolic link is not followed.
    static func ofEntry(_ path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    /// Returns the status of the file that a path leads to, after all symbolic links.
    static func ofTarget(_ path: String) -> stat? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    static func areSameFile(_ one: stat, _ other: stat) -> Bool {
        one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }
}

/// `O_PATH`, which the Glibc module does not export: opens without reading or writing.
let openPathOnly: Int32 = 0o10000000
