// SPDX-License-Identifier: Apache-2.0
import CMosquitto
import CSocketState
import FleetModel
import Glibc

/// One libmosquitto connection, from creation to loss. All calls and callbacks are on one queue.
@safe
final class MosquittoHandle {
    /// An event reported by a callback.
    enum Event {
        case accepted(hasSession: Bool)
        case refused(String)
        /// The broker does not support this protocol version.
        case tooNew
        /// Another client connected with the same name.
        case taken
        /// The broker closed the connection for the given reason.
        case ended(String)
        case acknowledged(UInt64)
        /// The broker rejected a message on a topic.
        case dropped(UInt64?, topic: String, String)
        /// The message is larger than the broker accepts.
        case oversized(UInt64?)
        case message(MQTTMessage)
        case subscribed(refused: [String])
    }

    /// Initializes the library. That is not thread-safe, but a static constant is initialized only once.
    private static let isReady: Bool = {
        // The library may write to closed connections, and does not block SIGPIPE, which would end the process.
        signal(SIGPIPE, SIG_IGN)
        return mosquitto_lib_init() == MOSQ_ERR_SUCCESS.code
    }()

    // Safe: created in `init` and destroyed in `deinit`.
    let mosquitto: OpaquePointer?
    let settings: MQTTSettings
    let version: Int32
    private let onEvent: (Event) -> Void
    /// The numbers and topics of unacknowledged messages, by the library's message ID.
    private var messages: [Int32: (number: UInt64?, topic: String)] = [:]
    private var filters: [Int32: [String]] = [:]
    /// Whether a callback was called since this was last set to false.
    private var hasReported = false
    /// How many bytes the peer had acknowledged at the last check; nil if no bytes were pending then.
    private var acknowledgedBytes: UInt64?
    /// Whether the broker has accepted the connection.
    private(set) var isAccepted = false
    let certificateCheck = CertificateCheck()
    /// Whether the socket was ever connected, so that a later failure counts as a loss.
    private(set) var wasConnected = false

    /// - Parameter usesVersion5: whether to use MQTT 5, with which the broker reports rejected messages. Otherwise MQTT
    ///   3.1.1 is used.
    init(_ settings: MQTTSettings, usesVersion5: Bool, onEvent: @escaping (Event) -> Void) {
        self.settings = settings
        version = usesVersion5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        self.onEvent = onEvent
        guard Self.isReady else {
            unsafe mosquitto = nil
            return
        }
        unsafe mosquitto = mosquitto_new(settings.client, !settings.keepsSession, nil)
        unsafe mosquitto_user_data_set(mosquitto, Unmanaged.passUnretained(self).toOpaque())
        setCallbacks()
    }

    deinit {
        unsafe mosquitto_destroy(mosquitto)
    }

    // MARK: Calls

    /// Starts connecting, without waiting for the broker. Resolving the broker's name may block.
    ///
    /// - Returns: why connecting failed; nil if it has started.
    func connect() -> MQTTFailure? {
        guard unsafe mosquitto != nil else { return MQTTFailure(.unreachable, "libmosquitto can't be started.") }
        if let failure = configure() { return failure }
        let address = settings.address
        if version == MQTT_PROTOCOL_V5 { setProperties() }
        let result = unsafe mosquitto_connect_async(
            mosquitto,
            address.host,
            Int32(address.port),
            Int32(settings.keepAlive)
        )
        // A local connection is made immediately, and may be closed before the first read.
        if result == MOSQ_ERR_ERRNO.code, errno == ECONNRESET || errno == EPIPE || errno == EPROTO {
            wasConnected = true
        } else {
            noteConnection()
        }
        if address.usesTLS { unsafe certificateCheck.observe(mosquitto_ssl_get(mosquitto)) }
        return failure(result)
    }

    /// The socket; nil if there is none.
    var socket: Int32? {
        let socket = unsafe mosquitto_socket(mosquitto)
        return socket >= 0 ? socket : nil
    }

    /// Whether data is waiting for the socket to become writable.
    var wantsToWrite: Bool { unsafe mosquitto_want_write(mosquitto) }

    /// Reads all received data, including data buffered by TLS.
    func read() -> MQTTFailure? {
        // Until the broker accepts the connection, the library mistakes a failed socket for one that is not ready.
        if !isAccepted, let loss { return loss }
        for _ in 0..<Self.maximumReads {
            (hasReported, errno) = (false, 0)
            let result = unsafe mosquitto_loop_read(mosquitto, 1)
            let isEmpty = errno == EAGAIN || errno == EWOULDBLOCK
            if let failure = failure(result) { return failure }
            // A callback may have changed `errno`.
            if isEmpty, !hasReported { return nil }
            if socket == nil { return closing }
            if !hasReported, let loss { return loss }
            // The event loop reports remaining socket data again, but not data already buffered by TLS.
            if hasReported, !settings.address.usesTLS { return nil }
        }
        // The event loop reports again if there is more data.
        return nil
    }

    /// The maximum number of packets to read before other sockets get a turn.
    private static let maximumReads = 10_000

    func write() -> MQTTFailure? {
        if !isAccepted {
            // Reading advances the TLS handshake.
            if let failure = settings.address.usesTLS ? read() : loss { return failure }
        }
        return failure(unsafe mosquitto_loop_write(mosquitto, 1000))
    }

    /// Why the socket is no longer usable; nil if it is usable. Call this only when the socket is readable or writable:
    /// a socket that is not connected by then has failed.
    private var loss: MQTTFailure? {
        guard let socket, noteConnection() else { return closing }
        var byte: UInt8 = 0
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        if count > 0 || count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) { return nil }
        return closing
    }

    /// Checks whether the socket is connected, and records it if so.
    ///
    /// - Returns: whether the socket is connected.
    @discardableResult
    private func noteConnection() -> Bool {
        guard let socket else { return false }
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isConnected = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            unsafe getpeername(socket, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length) == 0
        }
        if isConnected || fleet_was_connected(socket) { wasConnected = true }
        return isConnected
    }

    func checkKeepAlive() -> MQTTFailure? { failure(unsafe mosquitto_loop_misc(mosquitto)) }

    /// Whether bytes are pending and the peer has acknowledged none since the last call. If so, pending bytes are
    /// discarded when the socket closes: they would arrive late without being marked late.
    func isStalled() -> Bool {
        guard let socket else { return false }
        var isWaiting = false
        let count = unsafe fleet_acknowledged(socket, &isWaiting)
        defer { acknowledgedBytes = isWaiting ? count : nil }
        guard isWaiting, count == acknowledgedBytes else { return false }
        fleet_discard(socket)
        return true
    }

    func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool, number: UInt64?) -> MQTTFailure? {
        var id: Int32 = 0
        let result = unsafe payload.withUnsafeBytes { bytes in
            unsafe mosquitto_publish(mosquitto, &id, topic, Int32(bytes.count), bytes.baseAddress, 1, isRetained)
        }
        if result == MOSQ_ERR_SUCCESS.code { messages[id] = (number, topic) }
        if result == MOSQ_ERR_OVERSIZE_PACKET.code {
            // The broker has announced its limit, and the connection is still usable.
            onEvent(.oversized(number))
            return nil
        }
        return failure(result)
    }

    func subscribe(_ filters: [String]) -> MQTTFailure? {
        var id: Int32 = 0
        var names = unsafe filters.map { unsafe strdup($0) }
        defer { unsafe names.forEach { unsafe free($0) } }
        let count = Int32(filters.count)
        let result = unsafe mosquitto_subscribe_multiple(mosquitto, &id, count, &names, 1, 0, nil)
        if result == MOSQ_ERR_SUCCESS.code { self.filters[id] = filters }
        return failure(result)
    }

    /// Starts a clean disconnect.
    ///
    /// - Returns: whether the disconnect packet will be sent.
    func disconnect() -> Bool { unsafe mosquitto_disconnect(mosquitto) == MOSQ_ERR_SUCCESS.code }

    // MARK: Callbacks

    func report(_ event: Event) {
        hasReported = true
        if case .accepted = event { isAccepted = true }
        onEvent(event)
    }

    func published(_ id: Int32, code: Int32) {
        hasReported = true
        let (number, topic) = messages.removeValue(forKey: id) ?? (nil, "")
        if code == MQTT_RC_PACKET_TOO_LARGE.rawValue { return onEvent(.oversized(number)) }
        guard code < 128 else {
            return onEvent(.dropped(number, topic: topic, unsafe String(cString: mosquitto_reason_string(code))))
        }
        if let number { onEvent(.acknowledged(number)) }
    }

    func subscribed(_ id: Int32, refused: [Int]) {
        let names = filters.removeValue(forKey: id) ?? []
        report(.subscribed(refused: refused.compactMap { names.indices.contains($0) ? names[$0] : nil }))
    }
}

extension mosq_err_t {
    var code: Int32 { rawValue }
}
