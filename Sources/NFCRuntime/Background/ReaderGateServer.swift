// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import SystemLibrary
import TagLink

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
            guard let watch else { return _ = close(descriptor) }
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
