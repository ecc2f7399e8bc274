// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
public import NFCRuntime
import PrivateStorage
import SystemLibrary
import TagLink

/// Where apps ask the service that reads tags in the background for the reader: a socket of the user's.
///
/// Whoever connects sends one byte that says what for. The service gives the reader up and answers with one byte; it takes
/// the reader back when the connection is closed, as it is when the app's process ends. Meanwhile a session reports which
/// tags it finds: ``tagMark``, the length of the identifier, and the identifier.
public struct ReaderGate: ReaderSharing, Hashable {
    /// What the reader is wanted for.
    public typealias Purpose = ReaderPurpose

    /// What begins the report of a tag.
    static let tagMark: UInt8 = 0x54
    /// The longest identifier, which is that of an NFC-A tag.
    static let maximumIdentifier = 10

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
        let value = EnvironmentVariable.value("XDG_RUNTIME_DIR") ?? ""
        let folder = value.hasPrefix("/") ? value : "/run/user/\(geteuid())"
        return ReaderGate(path: folder + "/nfc/background")
    }

    /// The folder of the socket.
    public var folder: String { PathParts(path)?.folder ?? "" }
    /// The socket's name in it.
    var name: String { PathParts(path)?.name ?? "" }

    /// Asks for the reader, and waits until the service has given it up.
    ///
    /// - Returns: what keeps the reader; nil when there is no such service.
    public func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)? {
        guard let descriptor = PrivateSocket.connect(path) else { return nil }
        let claim = GateClaim(descriptor: descriptor)
        guard Self.send([purpose.mark], to: descriptor) else { return nil }
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

    /// Sends a few bytes, without waiting.
    ///
    /// - Returns: false when the other side is gone, or does not read.
    @discardableResult
    static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            == bytes.count
    }
}

extension ReaderPurpose {
    /// The byte that says the purpose.
    var mark: UInt8 {
        switch self {
        case .session: 0x52
        case .card: 0x43
        }
    }

    /// The purpose that a byte says; nil when it says none.
    init?(mark: UInt8) {
        switch mark {
        case 0x52: self = .session
        case 0x43: self = .card
        default: return nil
        }
    }
}
