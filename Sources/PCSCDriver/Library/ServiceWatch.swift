// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Waits for the service's socket to come, without asking for it again and again.
enum ServiceWatch {
    /// Waits until something changes in the folder of the socket.
    ///
    /// - Parameter milliseconds: how long to wait.
    static func wait(milliseconds: Int) {
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        guard watch >= 0 else { return sleep(milliseconds) }
        defer { close(watch) }
        var folder = ServiceSocket.path
        var isWatched = false
        // The folder may not be there before the service is: then the nearest one above tells when it comes.
        while !isWatched, let slash = folder.lastIndex(of: "/") {
            folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
            let events = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB)
            isWatched = unsafe inotify_add_watch(watch, folder, events) >= 0
            if folder == "/" { break }
        }
        guard isWatched else { return sleep(milliseconds) }
        var descriptor = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
        unsafe poll(&descriptor, 1, Int32(milliseconds))
    }

    private static func sleep(_ milliseconds: Int) {
        var none = pollfd()
        unsafe poll(&none, 0, Int32(milliseconds))
    }
}
