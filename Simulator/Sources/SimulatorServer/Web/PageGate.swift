// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import SimulatorModel

/// Listens for browsers on 127.0.0.1, and forwards their requests to the web server.
///
/// The web server reads lines of any length, so the gate forwards only bounded requests, one per connection, over a
/// socket in the private folder. Its thread never blocks on one client, so that no client can stop the others.
final class PageGate: Sendable {
    /// The maximum number of connections.
    static let maximumConnections = 256
    /// How long pending answers may take when the gate stops.
    private static let patience = Duration.seconds(1)

    /// The port it listens on.
    let port: UInt16
    private let listener: Int32
    private let target: String
    private let wakeup: (read: Int32, write: Int32)
    private let ends: AsyncStream<Void>
    private let hasEnded: AsyncStream<Void>.Continuation

    /// Begins to listen. Connections are served after ``start(_:)``.
    ///
    /// - Parameters:
    ///   - port: the port; 0 for any free port.
    ///   - target: the path of the web server's socket.
    init(port: UInt16, target: String) throws(SimulatorFailure) {
        self.target = target
        (ends, hasEnded) = AsyncStream.makeStream()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var isOn: Int32 = 1
        _ = unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        address.sin_port = port.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let listens = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, size) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
        var pair: [Int32] = [-1, -1]
        let hasPair = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0
        wakeup = (pair[0], pair[1])
        self.port = UInt16(bigEndian: address.sin_port)
        guard listens, hasPair else {
            if descriptor >= 0 { close(descriptor) }
            throw SimulatorFailure(
                "port-in-use",
                port == 0
                    ? "The system has no free port."
                    : "Port \(port) is in use, or not allowed. Choose another with --port, or omit it for any free one."
            )
        }
    }

    /// - Parameter guardian: decides which requests are forwarded.
    func start(_ guardian: PageGuard) {
        let thread = Thread { [self] in serve(guardian) }
        thread.name = "page"
        thread.start()
    }

    /// Closes all connections, after sending the pending answers.
    func stop() async {
        var byte: UInt8 = 0
        _ = unsafe write(wakeup.write, &byte, 1)
        for await _ in ends {}
    }

    private func serve(_ guardian: PageGuard) {
        var connections: [GateConnection] = []
        var end: ContinuousClock.Instant?
        while end == nil || !connections.isEmpty {
            var entries = [
                pollfd(fd: end == nil ? wakeup.read : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: end == nil ? listener : -1, events: Int16(POLLIN), revents: 0),
            ]
            for connection in connections {
                let (client, server) = connection.entries
                entries.append(client)
                entries.append(server)
            }
            let count = unsafe poll(&entries, nfds_t(entries.count), Self.timeout(connections, end))
            let now = ContinuousClock.now
            if count > 0 {
                if entries[0].revents != 0 { end = now + Self.patience }
                for (index, connection) in connections.enumerated() {
                    let events = (entries[2 + 2 * index].revents, entries[3 + 2 * index].revents)
                    if events != (0, 0) { connection.handle(client: events.0, server: events.1) }
                }
            }
            for connection in connections {
                if let deadline = connection.deadline, deadline <= now { connection.close() }
                if let end, end <= now || !connection.isAnswering { connection.close() }
            }
            connections.removeAll { $0.isClosed }
            if count > 0, end == nil, entries[1].revents != 0 { accept(&connections, guardian) }
        }
        for descriptor in [listener, wakeup.read] { close(descriptor) }
        hasEnded.finish()
    }

    /// The milliseconds until the next deadline of a connection; -1 if there is none.
    private static func timeout(_ connections: [GateConnection], _ end: ContinuousClock.Instant?) -> Int32 {
        guard let next = (connections.compactMap(\.deadline) + [end].compactMap(\.self)).min() else { return -1 }
        let (seconds, attoseconds) = (next - .now).components
        return Int32(max(0, min(60_000, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)))
    }

    private func accept(_ connections: inout [GateConnection], _ guardian: PageGuard) {
        for _ in 0..<Self.maximumConnections {
            guard let descriptor = PrivateSocket.accept(listener) else {
                // Out of descriptors: the client stays in the queue and `poll` returns at once, so wait a little.
                if errno == EMFILE || errno == ENFILE { usleep(20_000) }
                return
            }
            // Disable Nagle's algorithm, which could delay small messages by up to 40 ms.
            var isOn: Int32 = 1
            _ = unsafe setsockopt(
                descriptor,
                Int32(IPPROTO_TCP),
                TCP_NODELAY,
                &isOn,
                socklen_t(MemoryLayout<Int32>.size)
            )
            let connection = GateConnection(descriptor, target: target, guardian: guardian)
            if connections.count >= Self.maximumConnections {
                guard let index = connections.firstIndex(where: \.canBeReplaced) else {
                    connection.refuse(.busy)
                    connection.close()
                    continue
                }
                connections.remove(at: index).close()
            }
            connections.append(connection)
        }
    }
}
