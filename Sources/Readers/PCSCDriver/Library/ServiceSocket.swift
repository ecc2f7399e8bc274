// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// The socket of pcscd, and this process's connections to it.
enum ServiceSocket {
    /// The socket's path: `PCSCLITE_CSOCK_NAME`, or pcscd's default.
    static var path: String {
        if let value = EnvironmentVariable.value("PCSCLITE_CSOCK_NAME") { return value }
        return "/run/pcscd/pcscd.comm"
    }

    /// The socket's address; nil when its path is too long.
    static var address: sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isShort = unsafe withUnsafeMutableBytes(of: &address.sun_path) { memory in
            guard bytes.count < memory.count else { return false }
            unsafe memory.copyBytes(from: bytes)
            return true
        }
        return isShort ? address : nil
    }

    /// Whether the socket exists.
    static var isThere: Bool { unsafe access(path, F_OK) == 0 }

    /// Whether the socket exists, but this user may not use it.
    static var isForbidden: Bool { unsafe isThere && access(path, W_OK) != 0 }

    /// The descriptors of this process that are connected to a socket with that name.
    ///
    /// The library does not reveal which descriptor belongs to a context. It also has no call to end an exchange with a
    /// card that does not answer; shutting down the connection ends it.
    static func connections() -> Set<Int32> {
        let name = lastComponent(Array(path.utf8))
        let descriptors = (FolderNames.read("/proc/self/fd") ?? []).compactMap { Int32($0) }
        return Set(descriptors.filter { lastComponent(peer(of: $0)) == name })
    }

    /// The path to which a descriptor is connected; empty when it is not a local socket.
    private static func peer(of descriptor: Int32) -> [UInt8] {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        // What is no socket, or has no other side, leaves the address as it is.
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getpeername(descriptor, $0, &length)
            }
        }
        guard address.sun_family == sa_family_t(AF_UNIX) else { return [] }
        let bytes = unsafe withUnsafeBytes(of: &address.sun_path) { unsafe Array($0) }
        return Array(bytes.prefix { $0 != 0 })
    }

    private static func lastComponent(_ path: [UInt8]) -> ArraySlice<UInt8>? {
        path.split(separator: 0x2F).last
    }
}
