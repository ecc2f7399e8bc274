// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink

/// The socket of pcscd, and this process's connections to it.
enum ServiceSocket {
    /// The socket's path: `PCSCLITE_CSOCK_NAME`, or pcscd's default.
    static var path: String {
        if let value = EnvironmentVariable.value("PCSCLITE_CSOCK_NAME") { return value }
        return "/run/pcscd/pcscd.comm"
    }

    static var exists: Bool { unsafe access(path, F_OK) == 0 }

    /// Whether the socket exists, but this user may not use it.
    static var isForbidden: Bool { unsafe exists && access(path, W_OK) != 0 }

    /// Returns the descriptors of this process that are connected to a socket with the same file name.
    ///
    /// The library does not reveal which descriptor belongs to a context. It also lacks a call to end an exchange with
    /// a card that does not answer. Shutting down the connection ends the exchange.
    static func connections() -> Set<Int32> {
        let name = lastComponent(Array(path.utf8))
        let descriptors = (FolderNames.read("/proc/self/fd") ?? []).compactMap { Int32($0) }
        return Set(descriptors.filter { lastComponent(peer(of: $0)) == name })
    }

    /// Returns the path to which a descriptor is connected; empty when it is not a UNIX socket.
    private static func peer(of descriptor: Int32) -> [UInt8] {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        // The address remains unchanged if the descriptor is not a socket or is not connected.
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

/// Checks that the service answers, before libpcsclite connects to it.
///
/// If the service hangs, the library waits for it, with a lock that blocks all other calls of the library. If the
/// service's queue of connections is full, the library waits in connect(2), and no other thread can end that. So the
/// probe connects without waiting, closes its side at once, and waits for the service to hang up. Every pcscd hangs up
/// on a client that has sent nothing.
enum ServiceProbe {
    /// How long a service may take to hang up. It may still be starting.
    static let patience = 5000
    private static let step = 20

    /// Waits until the service has answered. Throws `timeout` or `cancelled`. A missing service is not an error,
    /// because the library reports that at once. The descriptors of probes are recorded, so that they are not mistaken
    /// for the library's.
    static func check(
        _ cut: CancellationSignal,
        _ probes: Locked<Set<Int32>>,
        patience: Int = ServiceProbe.patience
    ) throws(SmartCardError) {
        let end = ContinuousClock.now + .milliseconds(patience)
        guard let descriptor = try connect(cut, probes, until: end) else { return }
        defer { close(descriptor, probes) }
        shutdown(descriptor, Int32(SHUT_WR))
        try cut.wait(endedBy: { shutdown(descriptor, Int32(SHUT_RDWR)) }) { () throws(SmartCardError) in
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while true {
                let count = unsafe poll(&waiting, 1, Int32(max(0, ((end - .now) / .milliseconds(1)).rounded(.up))))
                if cut.isCut { throw SmartCardError(.cancelled, "connect") }
                if count > 0 { return }
                if count == 0 { throw SmartCardError(.timeout, "connect") }
            }
        }
    }

    /// Connects to the service. Returns the descriptor; nil when there is no service, or when this user may not use it.
    private static func connect(
        _ cut: CancellationSignal,
        _ probes: Locked<Set<Int32>>,
        until end: ContinuousClock.Instant
    ) throws(SmartCardError) -> Int32? {
        guard let address = SocketAddress(ServiceSocket.path) else { return nil }
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_UNIX, Int32(kind), 0)
        guard descriptor >= 0 else { return nil }
        probes.withLock { _ = $0.insert(descriptor) }
        while true {
            if unsafe address.with({ unsafe Glibc.connect(descriptor, $0, $1) }) == 0 { return descriptor }
            // EAGAIN means that the queue of connections is full.
            guard errno == EAGAIN || errno == EINTR else {
                close(descriptor, probes)
                return nil
            }
            do throws(SmartCardError) {
                guard .now < end else { throw SmartCardError(.timeout, "connect") }
                try cut.sleep(milliseconds: step)
            } catch {
                close(descriptor, probes)
                throw error
            }
        }
    }

    private static func close(_ descriptor: Int32, _ probes: Locked<Set<Int32>>) {
        // Removed before closing, because the number may then be reused for another file.
        probes.withLock { _ = $0.remove(descriptor) }
        _ = Glibc.close(descriptor)
    }
}

/// Waits for the service's socket without polling.
enum ServiceWatch {
    /// Waits until something on the socket's path changes, the time is over, or the wait is cut. It may end early, when
    /// something else in a folder on the path is removed or moved.
    static func wait(milliseconds: Int, _ cut: CancellationSignal) {
        let interrupt = Interrupt()
        let cancellation = Cancellation(interrupt)
        // Until the service runs, its folder may be missing. If nothing can be watched, the time or a cut ends the
        // wait.
        let watch = FolderWatch(ServiceSocket.path)
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        _ = try? cut.wait(endedBy: { cancellation.cancel() }) {
            interrupt.wait(for: POLLIN, on: watch?.descriptor ?? -1, before: end, cancellation)
        }
        withExtendedLifetime(watch) {}
    }
}
