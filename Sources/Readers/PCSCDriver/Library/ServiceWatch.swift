// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Waits for the service's socket without polling.
enum ServiceWatch {
    /// Waits until something changes in the folder of the socket.
    ///
    /// - Parameters:
    ///   - milliseconds: how long to wait.
    ///   - cut: ends the wait from another thread.
    static func wait(milliseconds: Int, _ cut: CancellationSignal) {
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        var alarm: [Int32] = [-1, -1]
        let status = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &alarm)
        defer { for descriptor in alarm + [watch] where descriptor >= 0 { close(descriptor) } }
        let (inlet, outlet) = (alarm[0], alarm[1])
        guard status == 0 else {
            try? cut.sleep(milliseconds: milliseconds)
            return
        }
        var folder = ServiceSocket.path
        var isWatched = false
        // Until the service runs, the folder may be missing. Then the nearest existing parent folder reports when it is
        // created.
        while !isWatched, let slash = folder.lastIndex(of: "/") {
            folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
            let events = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB)
            isWatched = unsafe inotify_add_watch(watch, folder, events) >= 0
            if folder == "/" {
                break
            }
        }
        // If no folder can be watched, only the time and the cut end the wait.
        var descriptors = [watch, inlet].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = try? cut.wait(endedBy: { shutdown(outlet, Int32(SHUT_RDWR)) }) {
            unsafe poll(&descriptors, nfds_t(descriptors.count), Int32(milliseconds))
        }
    }
}
