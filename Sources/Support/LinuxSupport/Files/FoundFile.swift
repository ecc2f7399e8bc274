// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport
import Glibc

/// The file that a path leads to, found without opening it for reading or writing. So looking at a pipe or a device
/// does not wait and changes nothing.
///
/// The system follows the path's symbolic links once, by its own rules for links of other users. Later operations apply
/// to exactly the file that was found.
final class FoundFile {
    /// The kind of a file.
    enum Kind: String {
        case regular = "file"
        case folder
        case pipe
        case device
        case disk
        case socket
    }

    /// The path that the file was found by.
    let path: String
    /// The file's status.
    let status: stat
    private let descriptor: Int32

    private init(path: String, status: stat, descriptor: Int32) {
        self.path = path
        self.status = status
        self.descriptor = descriptor
    }

    /// Follows a path.
    ///
    /// - Returns: the file that it leads to; nil when there is none.
    static func find(_ path: String) throws(StorageError) -> FoundFile? {
        let descriptor = unsafe ocn_open_target(path)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .system("\(path) can't be opened")
        }
        guard let status = FileStatus.ofOpen(descriptor) else {
            let error = StorageError.system("\(path) can't be opened")
            close(descriptor)
            throw error
        }
        return FoundFile(path: path, status: status, descriptor: descriptor)
    }

    deinit { close(descriptor) }

    var kind: Kind {
        switch status.st_mode & S_IFMT {
        case S_IFREG: .regular
        case S_IFDIR: .folder
        case S_IFIFO: .pipe
        case S_IFBLK: .disk
        case S_IFSOCK: .socket
        default: .device
        }
    }

    /// The size of a regular file.
    var size: Int { Int(status.st_size) }

    /// Whether the process may write it.
    var isWritable: Bool { unsafe faccessat(AT_FDCWD, link, W_OK, AT_EACCESS) == 0 }

    /// Opens the file for reading or writing. A terminal never becomes the controlling terminal of the process.
    func open(_ flags: Int32) throws(StorageError) -> Int32 {
        let flags = flags | O_CLOEXEC | O_NOCTTY
        while true {
            let file = unsafe Glibc.open(link, flags)
            if file >= 0 { return file }
            if errno == EINTR { continue }
            throw .system("\(path) can't be \(flags & O_ACCMODE == O_RDONLY ? "read" : "written")")
        }
    }

    /// Returns the file's current folder and its name there. Nil when this is unknown, or when another file has that
    /// name.
    func place() -> (folder: OpenFolder, name: String)? {
        guard let target = unsafe SymbolicLink.target(of: link), let real = String(validating: target, as: UTF8.self),
            let parts = PathParts(real),
            let open = try? OpenFolder(
                parts.folder,
                followsLink: false,
                lists: false
            ),
            let now = open.status(of: parts.name), FileStatus.areOfOneFile(now, status)
        else { return nil }
        return (open, parts.name)
    }

    /// Whether the file has attributes besides mode and owner, such as an access control list.
    var hasAttributes: Bool {
        var names = [CChar](repeating: 0, count: 64 << 10)
        let count = unsafe max(0, ocn_attribute_names(link, &names, UInt(names.count)))
        // Security modules attach their attributes to a new file too.
        return names[..<count].split(separator: 0).contains { name in
            !name.lazy.map { UInt8(bitPattern: $0) }.starts(with: "security.".utf8)
        }
    }

    /// The path by which the system opens exactly the file that was found.
    private var link: String { "/proc/self/fd/\(descriptor)" }
}
