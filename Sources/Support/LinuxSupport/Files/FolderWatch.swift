// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Watches the files of a folder. The folder may be missing at first, and be removed or replaced later.
///
/// The folders on the path are watched too, to notice when the path leads to another folder or to none. Symbolic links
/// are followed, but only links that are named in the path itself are watched for changes. The system does not report
/// file systems that are mounted over a part of the path.
///
/// Only one thread at a time may use a watch.
package final class FolderWatch: @unchecked Sendable {
    // Sendable because one thread creates the watch, and one queue then uses it.

    /// The changes since the last call of ``FolderWatch/changes()``.
    package struct Changes {
        package var written: Set<String>
        /// Whether any file may have been written: the system dropped events, or the path leads to another folder.
        package var isAll = false
        package var exists: Bool
        /// Whether the folder or its entries changed, and not only a folder above it.
        package var isAny = false

        package init(written: Set<String>, exists: Bool) {
            self.written = written
            self.exists = exists
        }
    }

    /// Becomes readable when there are changes to read.
    package let descriptor: Int32
    package var exists: Bool { watched != -1 }
    /// The folder's absolute path.
    package let path: String
    /// The watch on the folder; -1 while it is missing. A folder that was deleted and created again gets another watch.
    private var watched: Int32 = -1
    /// The watches on the folders along the path, with the names to watch in each folder.
    private var above: [Int32: Set<String>] = [:]

    private static let files = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
    /// Events in a folder above: an entry is removed or replaced.
    private static let replacing = IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
    /// Events in the last existing folder, when the next one is missing or can't be read.
    private static let appearing = IN_CREATE | IN_ATTRIB | replacing
    private static let ending = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED

    /// Starts watching a folder; a relative path starts at the current folder. Nil if the system can't watch.
    package init?(_ path: String) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        self.path = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        guard descriptor >= 0 else { return nil }
        watch()
        guard exists || !above.isEmpty else { return nil }
    }

    deinit { close(descriptor) }

    /// Watches every folder that the path leads through now. It starts at the root, so that later changes below a
    /// folder are reported by the watch on that folder.
    private func watch() {
        var old = Set(above.keys).union([watched])
        // Repeats this, because folders may appear meanwhile.
        for _ in 0..<100 {
            (above, watched) = ([:], -1)
            var folder = "/"
            var last = (folder: folder, next: folder)
            for name in path.split(separator: "/") {
                // A folder that this user can't read can't be watched. Such a folder seldom changes.
                if let number = add(folder, Self.replacing) {
                    above[number, default: []].insert(String(name))
                    last = (folder, folder + name + "/")
                }
                folder += name + "/"
            }
            watched = add(folder, Self.files) ?? -1
            old.formUnion(above.keys)
            if exists || add(last.folder, Self.appearing) == nil || add(last.next, Self.files) == nil { break }
        }
        for number in old where number != watched && above[number] == nil { inotify_rm_watch(descriptor, number) }
    }

    private func add(_ path: String, _ events: Int32) -> Int32? {
        let mask = UInt32(events | IN_DELETE_SELF | IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
        let number = unsafe inotify_add_watch(descriptor, path, mask)
        guard number != -1 else { return nil }
        // With `..` in the path, a folder may be on the path twice.
        if above[number] != nil {
            _ = unsafe inotify_add_watch(descriptor, path, mask | UInt32(Self.replacing) | UInt32(IN_MASK_ADD))
        }
        return number
    }

    /// Reads and returns the changes since the last call.
    package func changes() -> Changes {
        let existed = exists
        var changes = Changes(written: [], exists: exists)
        var isMoved = false
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count != -1 else { break }
            var offset = 0
            // wd, mask, cookie, length of the name, name.
            while offset + 16 <= count {
                func word(_ index: Int) -> UInt32 {
                    unsafe buffer.withUnsafeBytes {
                        unsafe $0.loadUnaligned(fromByteOffset: offset + 4 * index, as: UInt32.self)
                    }
                }
                let (number, mask) = (Int32(bitPattern: word(0)), Int32(bitPattern: word(1)))
                let end = min(offset + 16 + Int(word(3)), count)
                let name = String(decoding: buffer[(offset + 16)..<end].prefix { $0 != 0 }, as: UTF8.self)
                offset = end
                if mask & IN_Q_OVERFLOW != 0 { changes.isAll = true }
                let names = above[number]
                guard names != nil || number == watched else { continue }
                if mask & Self.ending != 0 || names?.contains(name) == true { isMoved = true }
                if number == watched {
                    changes.isAny = true
                    if mask & (IN_CLOSE_WRITE | IN_MOVED_TO) != 0 { changes.written.insert(name) }
                }
            }
        }
        if isMoved || changes.isAll {
            let last = watched
            watch()
            if watched != last { changes.isAll = true }
        }
        changes.exists = exists
        if exists != existed || (exists && changes.isAll) { changes.isAny = true }
        return changes
    }
}
