// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc

/// A UNIX socket at a path, at which a program waits for others.
final class ListeningSocket: @unchecked Sendable {
    // Sendable because a dispatch source may be cancelled from any thread, and nothing else is done with it.
    private let source: any DispatchSourceRead
    private let path: String

    /// The longest path that a UNIX socket can have.
    static let maximumPathLength = 107

    /// Begins to listen. A socket that is there already is replaced unless somebody listens at it.
    ///
    /// - Parameters:
    ///   - path: where the socket is.
    ///   - queue: the queue on which `onConnection` is called.
    ///   - onConnection: takes the descriptor of each connection, which is its to close.
    init(
        path: String,
        queue: DispatchQueue,
        onConnection: @escaping @Sendable (Int32) -> Void
    ) throws(EmulationError) {
        let descriptor = try Self.descriptor(path: path, backlog: 4)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        self.path = path
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler {
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { return }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            onConnection(connection)
        }
        source.setCancelHandler { _ = Glibc.close(descriptor) }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// Stops listening and takes the socket away.
    func remove() {
        source.cancel()
        _ = unsafe unlink(path)
    }

    /// A socket that listens at a path. One that is there already is replaced unless somebody listens at it.
    static func descriptor(path: String, backlog: Int32) throws(EmulationError) -> Int32 {
        guard var address = Self.address(path) else {
            throw EmulationError("\(path) is too long for a socket: 107 octets are the most. Give a shorter path.")
        }
        if isInUse(&address) {
            throw EmulationError("Another program is the reader at \(path) already. Stop it, or give another path.")
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system("No socket can be made") }
        _ = unsafe unlink(path)
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, listen(descriptor, backlog) == 0 else {
            let error = EmulationError.system("\(path) can't be made")
            close(descriptor)
            throw error
        }
        // pcscd may run as another user than this program.
        _ = unsafe chmod(path, 0o666)
        return descriptor
    }

    private static func address(_ path: String) -> sockaddr_un? {
        let octets = Array(path.utf8)
        guard !octets.isEmpty, octets.count <= maximumPathLength, !octets.contains(0) else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: octets) }
        return address
    }

    /// Whether somebody listens at an address.
    private static func isInUse(_ address: inout sockaddr_un) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
