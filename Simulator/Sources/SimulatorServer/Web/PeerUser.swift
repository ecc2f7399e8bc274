// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport

/// The user at the other end of a connection over 127.0.0.1, according to `/proc/net/tcp` and `tcp6`.
enum PeerUser {
    /// The maximum size of a table, in bytes. Each connection of the computer takes about 150.
    private static let maximumSize = 64 << 20

    /// Whether the peer is this process's own user or root. False if the peer has already closed its end.
    static func isOwnOrRoot(_ connection: Int32) -> Bool {
        guard let own = unsafe address(connection, getsockname), let peer = unsafe address(connection, getpeername)
        else {
            return false
        }
        // A table that changes while being read may lack a row, so try three times.
        for _ in 0..<3 {
            for (table, prefix) in [("tcp", ""), ("tcp6", "0000000000000000FFFF0000")] {
                let row = Data("\(prefix)\(peer) \(prefix)\(own) ".utf8)
                guard let file = try? InputFile("/proc/net/\(table)", limit: maximumSize),
                    let text = try? Data(file.readToEnd()), let start = text.range(of: row)?.upperBound
                else { continue }
                // The fields: state, queues, timer, retransmissions, user, timeout, inode. A socket without an owner
                // has the inode 0, and the table names root as its user.
                let line = text[start...].prefix { $0 != 0x0A }
                let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
                guard fields.count > 6, let user = UInt32(fields[4]), let inode = UInt64(fields[6]), inode != 0 else {
                    return false
                }
                return user == geteuid() || user == 0
            }
        }
        return false
    }

    /// One end of a connection in the format of the tables: `0100007F:1F90`.
    private static func address(
        _ connection: Int32,
        _ end: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> String? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe end(connection, $0, &size) == 0 }
        }
        guard isKnown, address.sin_family == sa_family_t(AF_INET) else { return nil }
        return String(format: "%08X:%04X", address.sin_addr.s_addr, UInt16(bigEndian: address.sin_port))
    }
}
