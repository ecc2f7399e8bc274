// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// Finds out whether the service answers at all, before libpcsclite connects to it.
///
/// If the service hangs, the library waits for it while it holds a lock that all of its calls need. If the service's
/// queue of connections is full, the library waits in connect(2), and no other thread can end that. So the probe
/// connects without waiting, closes its side at once, and waits for the service to hang up. Every pcscd hangs up on a
/// client that has sent nothing.
enum ServiceProbe {
    /// How long a service may take to hang up: its socket may be starting it.
    static let patience = 5000
    private static let step = 20

    /// Waits until the service has answered. It is not an error if there is no service: the library reports that at
    /// once.
    ///
    /// - Parameters:
    ///   - cut: ends the wait.
    ///   - probes: the descriptors of probes, so that they are not mistaken for those of the library.
    ///   - patience: how long to wait, in milliseconds.
    /// - Throws: `timeout` when the service does not answer, `cancelled`.
    static func check(
        _ cut: CancellationSignal,
        _ probes: Locked<Set<Int32>>,
        patience: Int = ServiceProbe.patience
    ) throws(SmartCardError) {
        let end = now + patience
        guard let descriptor = try connect(cut, probes, until: end) else { return }
        defer { close(descriptor, probes) }
        shutdown(descriptor, Int32(SHUT_WR))
        try cut.wait(endedBy: { shutdown(descriptor, Int32(SHUT_RDWR)) }) { () throws(SmartCardError) in
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while true {
                let count = unsafe poll(&waiting, 1, Int32(max(0, end - now)))
                if cut.isCut { throw SmartCardError(.cancelled, "connect") }
                if count > 0 { return }
                if count == 0 { throw SmartCardError(.timeout, "connect") }
            }
        }
    }

    /// Connects to the service.
    ///
    /// - Returns: the descriptor; nil when there is no service, or this user may not use it.
    private static func connect(
        _ cut: CancellationSignal,
        _ probes: Locked<Set<Int32>>,
        until end: Int
    ) throws(SmartCardError) -> Int32? {
        guard var address = ServiceSocket.address else { return nil }
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_UNIX, Int32(kind), 0)
        guard descriptor >= 0 else { return nil }
        probes.withLock { _ = $0.insert(descriptor) }
        while true {
            let status = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            if status == 0 { return descriptor }
            // The queue of connections is full.
            guard errno == EAGAIN || errno == EINTR else {
                close(descriptor, probes)
                return nil
            }
            do throws(SmartCardError) {
                guard now < end else { throw SmartCardError(.timeout, "connect") }
                try cut.sleep(milliseconds: step)
            } catch {
                close(descriptor, probes)
                throw error
            }
        }
    }

    private static func close(_ descriptor: Int32, _ probes: Locked<Set<Int32>>) {
        // Removed before it is closed, because the number may then mean another file.
        probes.withLock { _ = $0.remove(descriptor) }
        _ = Glibc.close(descriptor)
    }

    /// The time in milliseconds.
    private static var now: Int { Int(Monitor<Void>.now / Monitor<Void>.millisecond) }
}
