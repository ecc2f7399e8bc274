// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
public import NFCSessions
import TagLink

/// The service's side of a ``ReaderGate``.
public final class ReaderGateServer: Sendable {
    /// Why the gate could not be opened, as a sentence for people.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The reason, as a sentence.
        public var reason: String

        public var description: String { reason }
    }

    /// The maximum number of connections. Further apps get no answer.
    static let maximumConnections = 64

    private struct Connection {
        var watch: ReadWatch
        var messages = GateMessages()
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
    private let onTags: @Sendable ([[UInt8]]) -> Void

    /// Opens the gate.
    ///
    /// - Parameters:
    ///   - gate: the gate. Only one service at a time may open it.
    ///   - onTags: called with the identifiers of the tags that an app's session has found, before the reader is free
    ///     again.
    ///   - onChange: called with the purpose whenever it changes, or another app asks. When the service has released
    ///     the reader, it has to call ``grant()``.
    public init(
        _ gate: ReaderGate,
        onTags: @escaping @Sendable ([[UInt8]]) -> Void = { _ in },
        onChange: @escaping @Sendable (Set<ReaderGate.Purpose>) -> Void
    ) throws(Failure) {
        self.onChange = onChange
        self.onTags = onTags
        let listener: Int32
        do throws(StorageError) {
            let folder = try PrivateFolder(gate.folder)
            listener = try PrivateSocket.listen(gate.name, in: folder, backlog: 16)
        } catch {
            throw Failure(reason: error.reason)
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

    /// Informs all waiting apps that the reader is theirs.
    public func grant() {
        state.withLock { state in
            let waiting = state.connections.filter { $0.value.purpose != nil && !$0.value.isAnswered }.map(\.key)
            for descriptor in waiting {
                state.connections[descriptor]?.isAnswered = true
                // Under the lock. Otherwise the connection could be closed meanwhile, and its number mean another file.
                ReaderGate.send([0x59], to: descriptor)
            }
        }
    }

    private func accept(_ listener: Int32) {
        guard let descriptor = PrivateSocket.accept(listener) else { return }
        let isFull = state.withLock { $0.connections.count >= Self.maximumConnections }
        guard !isFull, PrivateSocket.peer(of: descriptor)?.user == geteuid() else {
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

    /// Handles an app that sends its purpose, reports tags, or is gone. Returns whether more may follow.
    private func take(_ descriptor: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return true }
        let (purposes, tags, continues) = state.withLock { state -> (Set<ReaderGate.Purpose>?, [[UInt8]], Bool) in
            let taken = state.connections[descriptor]?.messages.take(buffer.prefix(max(count, 0))) ?? []
            var tags: [[UInt8]] = []
            var isChange = false
            var continues = count > 0
            for message in taken {
                switch message {
                case .purpose(let purpose):
                    state.connections[descriptor]?.purpose = purpose
                    isChange = true
                case .tag(let identifier): tags.append(identifier)
                case .invalid: continues = false
                }
            }
            if !continues { state.connections[descriptor] = nil }
            let purposes = Set(state.connections.values.compactMap(\.purpose))
            return (isChange || !continues ? purposes : nil, tags, continues)
        }
        if !tags.isEmpty { onTags(tags) }
        if let purposes { onChange(purposes) }
        return continues
    }
}
