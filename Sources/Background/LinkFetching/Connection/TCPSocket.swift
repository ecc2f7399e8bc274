// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A moment after which nothing is waited for any more.
struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant

    init(after duration: Duration) { instant = ContinuousClock.now + duration }

    /// The milliseconds that are left, at least 0.
    var milliseconds: Int32 {
        let left = max(instant - ContinuousClock.now, .zero) / Duration.milliseconds(1)
        return Int32(min(left.rounded(.up), 1e9))
    }
}

/// A connection of TCP that never waits longer than until a deadline.
@safe final class TCPSocket {
    let descriptor: Int32
    private let deadline: Deadline

    /// Connects.
    init(to address: NetworkAddress, port: UInt16, until deadline: Deadline) throws(FetchError) {
        self.deadline = deadline
        let family = address.octets.count == 4 ? AF_INET : AF_INET6
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw FetchError(.noConnection, "No connection can be made.") }
        let status = unsafe address.withSocketAddress(port: port) { unsafe Glibc.connect(descriptor, $0, $1) }
        if status != 0 {
            guard errno == EINPROGRESS else { throw Self.refused(address, errno) }
            try wait(for: POLLOUT)
            var code: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0, code == 0 else {
                throw Self.refused(address, code)
            }
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private static func refused(_ address: NetworkAddress, _ code: Int32) -> FetchError {
        FetchError(.noConnection, "\(address) can't be reached: \(unsafe String(cString: strerror(code))).")
    }

    /// Waits until the socket can be read or written.
    func wait(for events: Int32) throws(FetchError) {
        while true {
            var poll = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let left = deadline.milliseconds
            let count = left > 0 ? unsafe Glibc.poll(&poll, 1, left) : 0
            if count > 0 { return }
            guard count < 0, errno == EINTR else { throw FetchError(.timeout, "The site takes too long to answer.") }
        }
    }
}
