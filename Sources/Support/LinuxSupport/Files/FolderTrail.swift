// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a folder's path goes through now: every folder from the root on, and every symbolic link.
///
/// Two trails are equal when the path meant the same both times.
struct FolderTrail: Equatable {
    /// A folder or a symbolic link on the way.
    struct Step: Equatable {
        /// Its path, without a link in it, ending with a zero. Names are any bytes.
        var path: [CChar]
        var device: UInt64
        var inode: UInt64
        /// Who may read it.
        var mode: UInt32
        var user: UInt32
        var group: UInt32
    }

    /// As many links as the system follows.
    private static let maximumLinks = 40

    /// What is on the way, the folder where it ends too, but not the root.
    private(set) var steps: [Step] = []
    /// The folder where the way ends; nil for the root.
    private(set) var end: Step?
    /// Whether the way ends at the folder that the path names, and not at one above it since the next is missing.
    private(set) var isComplete = false

    /// The path of the folder where the way ends.
    var endPath: [CChar] { end?.path ?? Self.root }

    /// The path of everything on the way, of the root too, and the names in it that are on the way.
    var names: [[CChar]: Set<[UInt8]>] {
        let paths = [Self.root] + steps.map(\.path)
        var names = Dictionary(paths.map { ($0, Set<[UInt8]>()) }) { first, _ in first }
        for step in steps {
            guard let above = Self.path(above: step.path), let name = Self.names(step.path).first else { continue }
            names[above]?.insert(name.map(UInt8.init(bitPattern:)))
        }
        return names
    }

    private static let slash = CChar(0x2F)
    private static let root = [slash, 0]

    /// Follows an absolute path.
    init(_ path: String) {
        var names = Self.names(path.utf8.map { CChar(bitPattern: $0) })
        // The folders from the root to where the way has come.
        var folders: [Step] = []
        var links = 0
        defer { end = folders.last }
        while let name = names.popLast() {
            if name == [CChar(0x2E)] { continue }
            if name == [CChar(0x2E), CChar(0x2E)] {
                _ = folders.popLast()
                continue
            }
            let path = (folders.last?.path.dropLast() ?? []) + [Self.slash] + name + [0]
            var status = stat()
            guard unsafe lstat(path, &status) == 0 else { return }
            let step = Step(
                path: Array(path),
                device: UInt64(status.st_dev),
                inode: UInt64(status.st_ino),
                mode: status.st_mode,
                user: status.st_uid,
                group: status.st_gid
            )
            switch status.st_mode & S_IFMT {
            case S_IFDIR: folders.append(step)
            case S_IFLNK:
                links += 1
                guard links <= Self.maximumLinks, let written = unsafe SymbolicLink.target(of: step.path) else {
                    return
                }
                let target = written.map { CChar(bitPattern: $0) }
                if target.first == Self.slash { folders = [] }
                names += Self.names(target)
            default: return
            }
            steps.append(step)
        }
        isComplete = true
    }

    /// The path of the folder above another one; nil for the root.
    static func path(above path: [CChar]) -> [CChar]? {
        guard path != root, let end = path.lastIndex(of: slash) else { return nil }
        return end == 0 ? root : path[..<end] + [0]
    }

    /// The names of a path, the last one first.
    private static func names(_ path: [CChar]) -> [[CChar]] {
        path.prefix { $0 != 0 }.split(separator: slash).reversed().map(Array.init)
    }
}
