// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
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
