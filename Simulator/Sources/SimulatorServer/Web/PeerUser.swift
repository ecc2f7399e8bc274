// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport

/// The user at the other end of a connection over 127.0.0.1.
enum PeerUser {
    /// The maximum size of a table, in bytes. Each connection of the computer takes about 150.
    private static let maximumSize = 64 << 20

    /// `NETLINK_SOCK_DIAG`, which Swift's Glibc leaves out.
    private static let sockDiag: Int32 = 4

    /// Whether the peer is this process's own user or root. False if the peer has already closed its end.
    static func isOwnOrRoot(_ connection: Int32) -> Bool {
        guard let own = unsafe address(connection, getsockname), let peer = unsafe address(connection, getpeername)
        else { return false }
        var user = ask(peer, connectedTo: own)
        // "No such socket" and "no such question" have the same number. This end is certainly a socket.
        if user == nil, ask(own, connectedTo: peer) == nil { user = listed(peer, connectedTo: own) }
        return user == geteuid() || user == 0
    }

    /// Asks the kernel for the user of one socket (sock_diag(7)), which does not take longer with more connections.
    private static func ask(_ local: sockaddr_in, connectedTo remote: sockaddr_in) -> uid_t? {
        let kernel = socket(AF_NETLINK, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), sockDiag)
        guard kernel >= 0 else { return nil }
        defer { close(kernel) }
        let ports = bytes(local.sin_port) + bytes(remote.sin_port)
        let rest = [UInt8](repeating: 0, count: 12)
        // The header nlmsghdr: size, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, number, sender.
        let header = bytes(UInt32(72)) + bytes(UInt16(20)) + bytes(UInt16(1)) + [UInt8](repeating: 0, count: 8)
        // The question inet_diag_req_v2: IPv4 (also of an IPv6 socket), TCP, no extensions, every state; both ends; any
        // interface and cookie.
        let question: [UInt8] =
            [UInt8(AF_INET), UInt8(IPPROTO_TCP), 0, 0] + bytes(UInt32.max) + ports + bytes(local.sin_addr.s_addr) + rest
            + bytes(remote.sin_addr.s_addr) + rest + [0, 0, 0, 0] + bytes(UInt64.max)
        let message = header + question
        guard unsafe send(kernel, message, message.count, 0) == message.count else { return nil }
        var answer = [UInt8](repeating: 0, count: 512)
        let count = unsafe recv(kernel, &answer, answer.count, Int32(MSG_DONTWAIT))
        // Behind the header, inet_diag_msg: both ends at 4, the user at 64, the inode at 68. The answer may be about a
        // socket that listens on the port. A socket without an owner has the inode 0 and root as its user.
        guard count >= 88, answer[4..<6] == bytes(UInt16(20))[...], answer[20..<24] == ports[...],
            answer[84..<88] != [0, 0, 0, 0]
        else { return nil }
        return unsafe answer.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: 80, as: uid_t.self) }
    }

    /// Finds the user of a socket in `/proc/net/tcp` and `tcp6`, where the kernel can't be asked.
    private static func listed(_ local: sockaddr_in, connectedTo remote: sockaddr_in) -> uid_t? {
        // A table that changes while being read may lack a row, so try three times.
        for _ in 0..<3 {
            for (table, prefix) in [("tcp", ""), ("tcp6", "0000000000000000FFFF0000")] {
                let row = Data("\(prefix)\(text(local)) \(prefix)\(text(remote)) ".utf8)
                guard let file = try? InputFile("/proc/net/\(table)", limit: maximumSize),
                    let rows = try? Data(file.readToEnd()), let start = rows.range(of: row)?.upperBound
                else { continue }
                // The fields: state, queues, timer, retransmissions, user, timeout, inode. A socket without an owner
                // has the inode 0, and the table names root as its user.
                let line = rows[start...].prefix { $0 != 0x0A }
                let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
                guard fields.count > 6, let user = uid_t(fields[4]), let inode = UInt64(fields[6]), inode != 0 else {
                    return nil
                }
                return user
            }
        }
        return nil
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        unsafe withUnsafeBytes(of: number) { unsafe Array($0) }
    }

    /// One end of a connection in the format of the tables: `0100007F:1F90`.
    private static func text(_ address: sockaddr_in) -> String {
        String(format: "%08X:%04X", address.sin_addr.s_addr, UInt16(bigEndian: address.sin_port))
    }

    private static func address(
        _ connection: Int32,
        _ end: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> sockaddr_in? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe end(connection, $0, &size) == 0 }
        }
        return isKnown && address.sin_family == sa_family_t(AF_INET) ? address : nil
    }
}
