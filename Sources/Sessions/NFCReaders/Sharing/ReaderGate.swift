// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
public import NFCSessions
import TagLink

/// A per-user socket through which apps ask the background service for the reader.
///
/// An app connects and sends one byte with its purpose. The service releases the reader and answers with one byte. When
/// the connection is closed, or the app's process ends, the service takes the reader back. Meanwhile, a session reports
/// each tag that it finds: the byte 0x54, the length of the tag's identifier, and the identifier.
public struct ReaderGate: ReaderSharing, Hashable {
    /// The purpose for which an app needs the reader.
    public typealias Purpose = ReaderPurpose

    /// The first byte of a message that reports a tag.
    static let tagMark: UInt8 = 0x54
    /// The maximum length of an identifier: the longest UID of an NFC-A tag.
    static let maximumIdentifier = 10

    /// The maximum time for the service to release the reader.
    static let limit = Duration.seconds(2)

    /// The socket's path.
    public let path: String

    /// Creates a gate.
    public init(path: String) { self.path = path }

    /// The user's own gate: `nfc/background` in `XDG_RUNTIME_DIR`, by default `/run/user/UID`.
    public static var ofUser: ReaderGate {
        let value = EnvironmentVariable.value("XDG_RUNTIME_DIR") ?? ""
        let folder = value.hasPrefix("/") ? value : "/run/user/\(geteuid())"
        return ReaderGate(path: folder + "/nfc/background")
    }

    /// The folder of the socket.
    public var folder: String { PathParts(path)?.folder ?? "" }
    var name: String { PathParts(path)?.name ?? "" }

    /// Asks the service for the reader, and waits until the service has released the reader.
    ///
    /// - Returns: a claim that reserves the reader for as long as the claim exists; nil when no service runs.
    public func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)? {
        guard let descriptor = PrivateSocket.connect(path) else { return nil }
        let claim = GateClaim(descriptor: descriptor)
        guard Self.send([purpose.rawValue], to: descriptor) else { return nil }
        await withCheckedContinuation { continuation in
            let waiter = Locked<CheckedContinuation<Void, Never>?>(continuation)
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
            let finish: @Sendable () -> Void = { waiter.withLock { $0.take() }?.resume() }
            source.setEventHandler(handler: finish)
            // The claim closes the descriptor, which has to wait for the source's end.
            source.setCancelHandler { withExtendedLifetime(claim) {} }
            let limit = clock.schedule(after: Self.limit, finish)
            claim.answer = source
            claim.limit = limit
            source.activate()
        }
        claim.answer?.cancel()
        claim.limit?.cancel()
        return claim
    }

    /// Sends a few bytes without waiting. Returns false when the other side is disconnected or does not read.
    @discardableResult
    static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            == bytes.count
    }
}

/// A connection to the service's gate. While it is open, the app has the reader.
final class GateClaim: ReaderClaim, @unchecked Sendable {
    // Sendable because the variables are only changed by the claim's creator, before anyone else uses the claim.
    var answer: (any DispatchSourceRead)?
    var limit: ScheduledEvent?
    private let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Reports tags that the app's session has found. The service does not offer these tags again if they are still in
    /// the field after the session.
    func note(_ identifiers: [[UInt8]]) {
        for identifier in identifiers where identifier.count <= ReaderGate.maximumIdentifier {
            ReaderGate.send([ReaderGate.tagMark, UInt8(identifier.count)] + identifier, to: descriptor)
        }
    }

    deinit { close(descriptor) }
}

/// Parses the messages that an app sends through the gate. The bytes may arrive in pieces of any size.
struct GateMessages: Sendable {
    enum Message: Sendable, Hashable {
        /// The purpose for which the app needs the reader. This is the first message.
        case purpose(ReaderGate.Purpose)
        /// The identifier of a tag that the app's session has found.
        case tag([UInt8])
        /// Bytes that no app sends. No further messages are parsed.
        case invalid
    }

    private var pending: [UInt8] = []
    private var hasPurpose = false
    private var isOver = false

    /// Parses bytes. Returns the messages that these bytes complete, in order.
    mutating func take(_ bytes: some Collection<UInt8>) -> [Message] {
        guard !isOver else { return [] }
        pending += bytes
        var messages: [Message] = []
        while let message = next() {
            messages.append(message)
            if message == .invalid {
                isOver = true
                break
            }
        }
        return messages
    }

    private mutating func next() -> Message? {
        guard let first = pending.first else { return nil }
        guard hasPurpose else {
            guard let purpose = ReaderPurpose(rawValue: first) else { return .invalid }
            hasPurpose = true
            pending.removeFirst()
            return .purpose(purpose)
        }
        guard first == ReaderGate.tagMark else { return .invalid }
        guard pending.count >= 2 else { return nil }
        let count = Int(pending[1])
        guard count <= ReaderGate.maximumIdentifier else { return .invalid }
        guard pending.count >= 2 + count else { return nil }
        defer { pending.removeFirst(2 + count) }
        return .tag(Array(pending[2..<2 + count]))
    }
}

/// The service's side of a ``ReaderGate``.
public final class ReaderGateServer: Sendable {
    /// Why the gate could not be opened.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// A sentence for people about the cause.
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
    ///   - onTags: called with the identifiers of the tags that an app's session has found, before the reader is
    ///     released.
    ///   - onChange: called with the purposes of all connected apps whenever an app asks for the reader or disconnects.
    ///     The service has to call ``grant()`` after it has released the reader.
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

    /// Informs all waiting apps that they may use the reader.
    public func grant() {
        state.withLock { state in
            let waiting = state.connections.filter { $0.value.purpose != nil && !$0.value.isAnswered }.map(\.key)
            for descriptor in waiting {
                state.connections[descriptor]?.isAnswered = true
                // Sent under the lock, because otherwise the descriptor could be closed and reused for another file.
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

    /// Reads and handles an app's messages, or its disconnection. Returns whether more messages may follow.
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
