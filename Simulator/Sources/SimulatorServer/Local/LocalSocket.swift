// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import SimulatorModel

/// The local socket for programs, which exchange JSON lines. Each program is served by its own thread.
final class LocalSocket: Sendable {
    /// The maximum number of connections, including those that have not sent a line yet.
    static let maximumConnections = 64

    private struct State {
        var source: SocketSource?
        var connections: [Int32: LocalConnection] = [:]
        var isStopped = false
    }

    private let simulator: Simulator
    private let listener: Int32
    private let queue = DispatchQueue(label: "org.opencorenfc.simulator.socket")
    private let state = Locked(State())

    /// Listens on the socket in a folder.
    ///
    /// - Throws: `StorageError` with `inUse` if another simulator listens there.
    init(_ simulator: Simulator, in folder: PrivateFolder) throws(StorageError) {
        self.simulator = simulator
        listener = try PrivateSocket.listen(SimulatorLocation.socketName, in: folder, backlog: 64)
    }

    func start() {
        let source = DispatchSource.makeReadSource(fileDescriptor: listener, queue: queue)
        source.setEventHandler { [weak self] in self?.acceptAll() }
        let listener = listener
        source.setCancelHandler { close(listener) }
        source.activate()
        let kept = SocketSource(source)
        state.withLock { $0.source = kept }
    }

    /// Stops listening, and ends all connections.
    func stop() {
        let (source, connections) = state.withLock { state in
            state.isStopped = true
            return (state.source.take(), Array(state.connections.values))
        }
        source?.cancel()
        for connection in connections { connection.end() }
    }

    private func acceptAll() {
        while let descriptor = PrivateSocket.accept(listener) {
            guard let peer = PrivateSocket.peer(of: descriptor), peer.isOwnOrRoot else {
                Self.refuse(descriptor, "other-user", "The simulator belongs to another user.")
                continue
            }
            let connection = LocalConnection(descriptor, pid: peer.process)
            let isTaken = state.withLock { state in
                guard !state.isStopped, state.connections.count < Self.maximumConnections else { return false }
                state.connections[descriptor] = connection
                return true
            }
            guard isTaken else {
                Self.refuse(
                    descriptor,
                    "too-many-clients",
                    "\(Self.maximumConnections) programs are connected already. End one of them, and connect again."
                )
                continue
            }
            connection.run(simulator) { [weak self] in
                self?.state.withLock { _ = $0.connections.removeValue(forKey: descriptor) }
            }
        }
    }

    private static func refuse(_ descriptor: Int32, _ code: String, _ message: String) {
        let answer: JSON = ["error": .string(code), "message": .string(message)]
        let line = answer.bytes + [0x0A]
        _ = unsafe line.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        close(descriptor)
    }
}

/// A dispatch source that any thread may cancel.
private struct SocketSource: @unchecked Sendable {
    // Safe: Dispatch sources may be used from any thread.
    private let source: any DispatchSourceRead

    init(_ source: any DispatchSourceRead) { self.source = source }

    func cancel() { source.cancel() }
}
