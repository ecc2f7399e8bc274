// SPDX-License-Identifier: Apache-2.0
import Glibc
import PeerSupport

/// A UDP socket on a port of the loopback interface that the system chooses.
///
/// It is closed with the last reference. Child processes do not inherit it.
final class DatagramSocket: Sendable {
    let descriptor: Int32
    let port: UInt16

    init() throws {
        let descriptor = socket(
            AF_INET,
            Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
            Int32(IPPROTO_UDP)
        )
        guard descriptor >= 0 else { throw PeerError("There is no socket: error \(errno).") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isBound else {
            let code = errno
            close(descriptor)
            throw PeerError("The socket can't be bound: error \(code).")
        }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        close(descriptor)
    }

    /// The next datagram and its sender; nil when there is none.
    func receive() -> (bytes: [UInt8], sender: sockaddr_in)? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var sender = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = unsafe withUnsafeMutablePointer(to: &sender) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { sender in
                unsafe recvfrom(descriptor, &bytes, bytes.count, 0, sender, &length)
            }
        }
        return count >= 0 ? (Array(bytes.prefix(count)), sender) : nil
    }

    /// Sends a datagram. It is lost if it can't be sent.
    func send(_ bytes: [UInt8], to receiver: sockaddr_in) {
        var receiver = receiver
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe withUnsafeMutablePointer(to: &receiver) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { receiver in
                unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), receiver, length)
            }
        }
    }
}
