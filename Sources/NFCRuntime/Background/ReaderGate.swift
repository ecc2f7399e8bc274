// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import SystemLibrary
import TagLink

/// Where apps ask the service that reads tags in the background for the reader: a socket of the user's.
///
/// Whoever connects says by one octet what for. The service gives the reader up and answers with one octet; it takes the
/// reader back when the connection is closed, as it is when the app's process ends.
public struct ReaderGate: Sendable, Hashable {
    /// What the reader is wanted for.
    public enum Purpose: UInt8, Sendable {
        /// A reader session.
        case session = 0x52
        /// A card that the app is itself.
        case card = 0x43
    }

    /// The longest that the service may take to give the reader up.
    static let limit = Duration.seconds(2)

    /// The socket's path.
    public let path: String

    /// Creates a gate.
    ///
    /// - Parameter path: the socket's path.
    public init(path: String) {
        self.path = path
    }

    /// The user's own gate: `nfc/background` in `XDG_RUNTIME_DIR`, which is `/run/user/UID` unless it is set.
    public static var ofUser: ReaderGate {
        var folder = "/run/user/\(geteuid())"
        if let value = unsafe getenv("XDG_RUNTIME_DIR") {
            let text = unsafe String(cString: value)
            if text.hasPrefix("/") { folder = text }
        }
        return ReaderGate(path: folder + "/nfc/background")
    }

    /// The folder of the socket.
    public var folder: String { String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)) }

    /// Asks for the reader, and waits until the service has given it up.
    ///
    /// - Returns: what keeps the reader; nil when there is no such service.
    package func claim(for purpose: Purpose, clock: any RuntimeClock) async -> ReaderClaim? {
        guard let descriptor = connect() else { return nil }
        let claim = ReaderClaim(descriptor: descriptor)
        var octet = purpose.rawValue
        guard unsafe send(descriptor, &octet, 1, Int32(MSG_NOSIGNAL)) == 1 else { return nil }
        await withCheckedContinuation { continuation in
            let waiting = Locked<CheckedContinuation<Void, Never>?>(continuation)
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
            let finish: @Sendable () -> Void = { waiting.withLock { $0.take() }?.resume() }
            source.setEventHandler(handler: finish)
            let limit = clock.schedule(after: Self.limit, finish)
            claim.answer = source
            claim.limit = limit
            source.activate()
        }
        claim.answer?.cancel()
        claim.limit?.cancel()
        return claim
    }

    /// A connection to a service of the same user.
    private func connect() -> Int32? {
        guard let descriptor = makeSocket() else { return nil }
        let status = unsafe withAddress { unsafe Glibc.connect(descriptor, $0, $1) }
        guard status == 0, Self.isOwn(descriptor) else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// A socket that is not connected yet, and never waits.
    func makeSocket() -> Int32? {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        return descriptor < 0 ? nil : descriptor
    }

    /// Calls a function of the system with the socket's address.
    ///
    /// - Returns: what it returned; -1 when the path is too long for an address.
    func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let octets = Array(path.utf8)
        guard octets.count < MemoryLayout.size(ofValue: address.sun_path) else { return -1 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: octets) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Whether who is at the other end of a connection is the same user.
    static func isOwn(_ descriptor: Int32) -> Bool {
        // Its process, its user and its group, as the system writes them.
        var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        let status = unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
        return status == 0 && credentials.1 == geteuid()
    }
}

/// Keeps the reader from the service for as long as it lives.
package final class ReaderClaim: @unchecked Sendable {
    // Sendable because what may change is touched only while the claim is made, by who makes it.
    fileprivate var answer: (any DispatchSourceRead)?
    fileprivate var limit: ScheduledEvent?
    private let descriptor: Int32

    fileprivate init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}

/// The service's side of a ``ReaderGate``.
public final class ReaderGateServer: Sendable {
    /// Why there is no gate, as a sentence for people.
    public struct Failure: Error, Sendable {
        /// The sentence.
        public var reason: String
    }

    /// More apps than that don't get an answer.
    static let maximumConnections = 64

    private struct Connection {
        var watch: ReadWatch
        var purpose: ReaderGate.Purpose?
        var isAnswered = false
    }

    private struct State {
        var connections: [Int32: Connection] = [:]
        var listener: (any DispatchSourceRead)?
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "org.opencorenfc.gate")
    private let onChange: @Sendable (Set<ReaderGate.Purpose>) -> Void

    /// Opens the gate.
    ///
    /// - Parameters:
    ///   - gate: where it is. Only one service at a time may open it.
    ///   - onChange: told what the reader is wanted for, whenever that changes or somebody new wants it. When the reader is
    ///     free, ``grant()`` has to be called.
    public init(
        _ gate: ReaderGate,
        onChange: @escaping @Sendable (Set<ReaderGate.Purpose>) -> Void
    ) throws(Failure) {
        self.onChange = onChange
        _ = unsafe mkdir(gate.folder, 0o700)
        guard let listener = gate.makeSocket() else { throw Failure(reason: "There are no sockets.") }
        unsafe unlink(gate.path)
        let mask = umask(0o177)
        defer { umask(mask) }
        guard unsafe gate.withAddress({ unsafe bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0 else {
            close(listener)
            throw Failure(reason: "The socket \(gate.path) can't be made.")
        }
        state.withLock { state in
            let source = DispatchSource.makeReadSource(fileDescriptor: listener, queue: queue)
            source.setEventHandler { [weak self] in self?.accept(listener) }
            source.setCancelHandler { close(listener) }
            source.activate()
            state.listener = source
        }
    }

    deinit {
        state.withLock { state in
            state.listener?.cancel()
            for connection in state.connections.values { connection.watch.cancel() }
        }
    }

    /// Tells all who wait that the reader is theirs.
    public func grant() {
        let waiting = state.withLock { state in
            let waiting = state.connections.filter { $0.value.purpose != nil && !$0.value.isAnswered }.map(\.key)
            for descriptor in waiting { state.connections[descriptor]?.isAnswered = true }
            return waiting
        }
        for descriptor in waiting {
            var octet: UInt8 = 0x59
            _ = unsafe send(descriptor, &octet, 1, Int32(MSG_NOSIGNAL))
        }
    }

    private func accept(_ listener: Int32) {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let isFull = state.withLock { $0.connections.count >= Self.maximumConnections }
        guard !isFull, ReaderGate.isOwn(descriptor) else {
            close(descriptor)
            return
        }
        state.withLock { state in
            let watch = ReadWatch(descriptor, queue: queue) { [weak self] in
                self?.take(descriptor) ?? false
            } onClose: {
                close(descriptor)
            }
            guard let watch else {
                close(descriptor)
                return
            }
            state.connections[descriptor] = Connection(watch: watch)
        }
    }

    /// Somebody says what for, or is gone.
    ///
    /// - Returns: whether there may be more.
    private func take(_ descriptor: Int32) -> Bool {
        var octet: UInt8 = 0
        let count = unsafe read(descriptor, &octet, 1)
        if count < 0, errno == EAGAIN || errno == EINTR { return true }
        let purpose = count == 1 ? ReaderGate.Purpose(rawValue: octet) : nil
        let purposes = state.withLock { state in
            if let purpose {
                state.connections[descriptor]?.purpose = purpose
            } else {
                state.connections[descriptor] = nil
            }
            return Set(state.connections.values.compactMap(\.purpose))
        }
        onChange(purposes)
        return purpose != nil
    }
}
