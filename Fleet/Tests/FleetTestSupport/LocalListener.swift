// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A port of this machine that never says anything by itself.
package final class LocalListener: Sendable {
    /// The number of the port.
    package let port: Int
    /// The listening socket. A test may accept connections on it.
    package let descriptor: Int32

    /// Takes a port.
    ///
    /// - Parameter isOpen: whether it takes connections. Otherwise it refuses them, and no other program gets the port.
    package init(isOpen: Bool = true) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 && (!isOpen || listen(descriptor, 16) == 0)
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        guard isListening else { throw TestProblem("There is no free port.") }
    }

    deinit { close(descriptor) }
}
