// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc

/// Reports that the addresses or the routes of this machine have changed, from the kernel's messages (rtnetlink(7)), as
/// long as the service runs.
final class NetworkWatch {
    /// `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV4_ROUTE`, `RTMGRP_IPV6_IFADDR` and `RTMGRP_IPV6_ROUTE`.
    private static let groups: UInt32 = 0x10 | 0x40 | 0x100 | 0x400
    /// `NETLINK_ROUTE`, and the size of `sockaddr_nl`: family, padding, number, groups.
    private static let route: CInt = 0

    private let source: any DispatchSourceRead

    /// Starts to watch.
    ///
    /// - Returns: nil if the process can open no more.
    init?(onChange: @escaping () -> Void) {
        let type = CInt(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_NETLINK, type, Self.route)
        guard descriptor != -1 else { return nil }
        var address: (family: UInt16, padding: UInt16, number: UInt32, groups: UInt32) = (
            UInt16(AF_NETLINK),
            0,
            0, Self.groups
        )
        // A socket that can't be bound reports nothing.
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, 12) }
        }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
        source.setEventHandler {
            MainActor.assumeIsolated {
                // It does not matter what changed, or whether messages were lost: the sites are asked in any case. Each
                // further message is an event of its own.
                var buffer = [UInt8](repeating: 0, count: 8 << 10)
                _ = unsafe recv(descriptor, &buffer, buffer.count, 0)
                onChange()
            }
        }
        source.activate()
    }
}
