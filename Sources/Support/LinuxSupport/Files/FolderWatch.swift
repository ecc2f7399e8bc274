// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Watches the files of the folder that a path means now. Every folder and symbolic link on the way is watched too, so that
/// it is noticed when the path comes to mean another folder, or none. While there is none, the last folder on the way is
/// watched for what comes. The system does not say that a file system was mounted over the folder or one above it.
///
/// One thread uses it at a time.
package final class FolderWatch: @unchecked Sendable {
    // Sendable because it is made by one thread and then used on one queue.

    /// What has happened since the last time.
    package struct Changes {
        /// The names of files that were written, or came whole.
        package var written: Set<String>
        /// Whether any file may have been written: there was more than the system keeps, or the folder is another one.
        package var isAll = false
        /// Whether the folder is there.
        package var isThere: Bool
        /// Whether anything has happened to the folder or in it. Otherwise something else has changed in a folder above it.
        package var isAny = false

        /// Creates changes of which every file is named.
        package init(written: Set<String>, isThere: Bool) {
            self.written = written
            self.isThere = isThere
        }
    }

    /// What becomes readable when something has happened.
    package let descriptor: Int32
    /// Whether the folder is there.
    package private(set) var isThere = false
    /// The folder's absolute path.
    package let path: String
    /// The watch on the folder where the path ends. The system gives a folder another one after it was deleted.
    private var watched: Int32 = -1
    /// The watches on everything that the path goes through, and the names in each that are on the way.
    ///
    /// The system says that a folder itself was deleted when no program has it open or is in it any more. The folder above
    /// says so at once.
    private var way: [Int32: Set<[UInt8]>] = [:]
    /// Whether a folder or a link on the way was gone when it was about to be watched.
    private var isGone = false
    /// Folders on the way may come and go meanwhile.
    private static let maximumLooks = 100

    private static let files = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
    /// What takes a name away, or gives it to something else.
    private static let leaving = IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
    private static let ending = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED
    /// What brings the folder that is waited for.
    private static let coming = IN_CREATE | IN_MOVED_TO | IN_ATTRIB

    /// Begins to watch.
    ///
    /// - Parameter path: the folder's path, from the folder that the process is in now.
    /// - Returns: nil where the system has no such watch.
    package init?(_ path: String) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        self.path = Self.absolute(path)
        guard descriptor >= 0 else { return nil }
        watch()
        // What is not returned ends here too, and its end closes the descriptor. Closed twice, it could be another thread's.
        guard watched != -1 else { return nil }
    }

    deinit { close(descriptor) }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }

    /// Watches what the path goes through now, and the folder where it ends.
    private func watch() {
        for _ in 0..<Self.maximumLooks {
            isGone = false
            let trail = FolderTrail(path)
            // What this user can't read can't be watched: folders of others, which stay where they are.
            var next: [Int32: Set<[UInt8]>] = [:]
            let names = trail.names
            for (path, names) in names where path != trail.endPath {
                next[add(path, Self.leaving), default: []].formUnion(names)
            }
            watched = add(trail.endPath, trail.isComplete ? Self.files : Self.coming | Self.leaving)
            isThere = trail.isComplete && watched != -1
            var folder = trail.endPath
            while watched == -1, let above = FolderTrail.path(above: folder) {
                folder = above
                watched = add(folder, Self.coming | Self.leaving)
            }
            next[watched, default: []].formUnion(names[folder] ?? [])
            // After the new ones are there: what is on both ways stays watched all the time. The system ignores the
            // number of what could not be watched.
            for number in way.keys where next[number] == nil { inotify_rm_watch(descriptor, number) }
            way = next
            // What changed before it was watched is not reported. What went meanwhile and came again may have the same number.
            if !isGone, FolderTrail(path) == trail { return }
        }
    }

    private func add(_ path: [CChar], _ events: Int32) -> Int32 {
        let mask = UInt32(events | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW)
        let number = unsafe inotify_add_watch(descriptor, path, mask)
        if number == -1, errno == ENOENT { isGone = true }
        return number
    }

    /// Reads what has happened.
    package func changes() -> Changes {
        var changes = Changes(written: [], isThere: isThere)
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
                let name = Array(buffer[(offset + 16)..<end].prefix { $0 != 0 })
                offset = end
                if mask & IN_Q_OVERFLOW != 0 {
                    changes.isAll = true
                } else if let names = way[number] {
                    if mask & Self.ending != 0 || (number == watched && !isThere) || names.contains(name) {
                        isMoved = true
                    }
                    if number == watched, isThere {
                        changes.isAny = true
                        if mask & (IN_CLOSE_WRITE | IN_MOVED_TO) != 0 {
                            changes.written.insert(String(decoding: name, as: UTF8.self))
                        }
                    }
                }
            }
        }
        if isMoved || changes.isAll {
            let last = watched
            watch()
            // What was deleted and made again in one go is not the folder of before, and has another watch.
            if watched != last { changes.isAll = true }
        }
        if changes.isThere != isThere || (isThere && changes.isAll) { changes.isAny = true }
        changes.isThere = isThere
        return changes
    }
}
