// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SimulatorModel

/// A program's connection. A separate thread reads its lines; any thread may write.
final class LocalConnection: Sendable {
    /// How long the first line may take. Limits how long a silent program can occupy a connection.
    private static let greetingTime = Duration.seconds(10)

    private let descriptor: Int32
    private let pid: Int32
    /// Whether the connection can be written to.
    private let isOpen = Locked(true)

    init(_ descriptor: Int32, pid: Int32) {
        self.descriptor = descriptor
        self.pid = pid
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK)
    }

    /// Serves the program until either side closes the connection.
    ///
    /// - Parameter onEnd: called when the connection has ended, before its descriptor is closed.
    func run(_ simulator: Simulator, onEnd: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            serve(simulator)
            isOpen.withLock { $0 = false }
            // Call this before `close`, because another connection may reuse the descriptor's number.
            onEnd()
            close(descriptor)
        }
        thread.name = "program \(pid)"
        thread.start()
    }

    /// Shuts the connection down. Its thread then ends.
    func end() {
        isOpen.withLock { isOpen in
            if isOpen { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Sends an object. Disconnects a program that doesn't read, so that it can't block the simulator.
    private func send(_ object: JSON) {
        var line = object.bytes
        line.append(0x0A)
        isOpen.withLock { [line] isOpen in
            guard isOpen else { return }
            var rest = line[...]
            while !rest.isEmpty {
                let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
                let count = unsafe rest.withUnsafeBytes {
                    unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags)
                }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EINTR {
                    continue
                } else if errno == EAGAIN, waitsUntilWritable() {
                    continue
                } else {
                    shutdown(descriptor, Int32(SHUT_RDWR))
                    isOpen = false
                    return
                }
            }
        }
    }

    private func waitsUntilWritable() -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&entry, 1, 2000) == 1
    }

    /// Waits until data can be read.
    ///
    /// - Returns: false if no data arrived in time.
    private func waitsUntilReadable(until limit: ContinuousClock.Instant) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let (seconds, attoseconds) = (limit - .now).components
            let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
            guard milliseconds > 0 else { return false }
            let count = unsafe poll(&entry, 1, Int32(milliseconds))
            if count > 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
    }

    private func serve(_ simulator: Simulator) {
        let pid = pid
        let program = ProgramConnection(
            simulator,
            pid: pid,
            ancestors: Self.ancestors(of: pid),
            onApp: { [weak simulator] app in
                guard let found = BundledApp(pid: pid) else { return }
                simulator?.describe(app, found.app, associations: found.associations)
            },
            send: { [weak self] in self?.send($0) }
        )
        defer { program.close() }
        var pending: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var hasGreeted = false
        let limit = ContinuousClock.now + Self.greetingTime
        while true {
            guard hasGreeted || waitsUntilReadable(until: limit) else {
                send(["error": "no-greeting", "message": "The first line must arrive within 10 seconds."])
                return
            }
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            var rest = buffer[..<count]
            while let end = rest.firstIndex(of: 0x0A) {
                let line = pending.isEmpty ? Array(rest[..<end]) : pending + rest[..<end]
                pending = []
                rest = rest[(end + 1)...]
                guard line.count <= Limits.line else { return tooLong() }
                if !line.isEmpty {
                    hasGreeted = true
                    if !program.receive(line) { return }
                }
            }
            pending += rest
            guard pending.count <= Limits.line else { return tooLong() }
        }
    }

    private func tooLong() {
        send(["error": "line-too-long", "message": .string("A line can have at most \(Limits.line) bytes.")])
        // Read the rest for a while: closing a connection with unread bytes may discard the error that was just sent.
        shutdown(descriptor, Int32(SHUT_WR))
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var rest = 256
        while rest > 0,
            unsafe buffer.withUnsafeMutableBytes({ unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }) > 0
        {
            rest -= 1
        }
    }

    /// A process and its ancestors, nearest first, as far as `/proc` shows them.
    static func ancestors(of pid: Int32) -> [Int32] {
        var found: [Int32] = []
        var next = pid
        while next > 1, found.count < 64, !found.contains(next) {
            found.append(next)
            guard let data = FileManager.default.contents(atPath: "/proc/\(next)/stat"),
                let text = String(validating: data, as: UTF8.self), let end = text.lastIndex(of: ")")
            else { break }
            let fields = text[text.index(after: end)...].split(separator: " ")
            guard fields.count > 1, let parent = Int32(fields[1]) else { break }
            next = parent
        }
        return found
    }
}
