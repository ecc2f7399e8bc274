// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// Where pcscd listens, and what this process knows of its own connections to it.
enum ServiceSocket {
    /// The socket's path: `PCSCLITE_CSOCK_NAME`, or the one that pcscd has from its packager.
    static var path: String {
        if let value = unsafe getenv("PCSCLITE_CSOCK_NAME") { return unsafe String(cString: value) }
        return "/run/pcscd/pcscd.comm"
    }

    /// Whether there is such a socket.
    static var isThere: Bool { unsafe access(path, F_OK) == 0 }

    /// Whether there is one, and this user may not use it.
    static var isForbidden: Bool { unsafe isThere && access(path, W_OK) != 0 }

    /// The descriptors of this process that are connected to a socket of that name.
    ///
    /// The library tells nobody which descriptor a context has, and has no way to end an exchange with a card that does
    /// not answer; shutting its connection down does.
    static func connections() -> Set<Int32> {
        guard let folder = unsafe opendir("/proc/self/fd") else { return [] }
        defer { unsafe closedir(folder) }
        let name = lastComponent(Array(path.utf8))
        var found: Set<Int32> = []
        while let entry = unsafe readdir(folder) {
            let text = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if let descriptor = Int32(text), lastComponent(peer(of: descriptor)) == name { found.insert(descriptor) }
        }
        return found
    }

    /// The path to which a descriptor is connected; nothing when it is not a local socket.
    private static func peer(of descriptor: Int32) -> [UInt8] {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getpeername(descriptor, $0, &length)
            }
        }
        guard status == 0, address.sun_family == sa_family_t(AF_UNIX) else { return [] }
        let octets = unsafe withUnsafeBytes(of: &address.sun_path) { unsafe Array($0) }
        return Array(octets.prefix { $0 != 0 })
    }

    private static func lastComponent(_ path: [UInt8]) -> ArraySlice<UInt8>? {
        path.split(separator: 0x2F).last
    }
}

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
