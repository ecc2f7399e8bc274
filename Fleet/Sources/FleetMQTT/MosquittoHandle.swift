// SPDX-License-Identifier: Apache-2.0
import CMosquitto
import CSocketState
import FleetModel
import Glibc

/// One connection of libmosquitto, from its making to its loss. All calls and callbacks are on one queue.
@safe
final class MosquittoHandle {
    /// What a callback reports.
    enum Event {
        case accepted(hasSession: Bool)
        case refused(String)
        /// The broker does not know the version of the protocol.
        case tooNew
        /// Another client has connected under this name.
        case taken
        /// The broker has ended the connection, for a reason.
        case ended(String)
        case acknowledged(UInt64)
        /// The broker does not take a message.
        case dropped(UInt64?, String)
        /// The broker takes no message of this size.
        case oversized(UInt64?)
        case message(MQTTMessage)
        case subscribed(refused: [String])
    }

    /// Initializes the library, which is not safe from several threads; a constant is made once.
    private static let isReady: Bool = {
        // The library writes to connections that may be closed, and does not keep the signal away that would end the process.
        signal(SIGPIPE, SIG_IGN)
        return mosquitto_lib_init() == MOSQ_ERR_SUCCESS.code
    }()

    // Safe: made in `init` and destroyed in `deinit`.
    let mosquitto: OpaquePointer?
    let settings: MQTTSettings
    let version: Int32
    private let onEvent: (Event) -> Void
    /// The numbers of the messages that are not acknowledged, by the library's own.
    private var numbers: [Int32: UInt64] = [:]
    private var filters: [Int32: [String]] = [:]
    /// Whether a callback was called since this was last set to false.
    private var hasReported = false
    /// How many bytes the other side had acknowledged while others waited for that; nil when none waited.
    private var acknowledgedBytes: UInt64?
    /// Whether the broker has accepted the connection.
    private(set) var isAccepted = false
    let certificateCheck = CertificateCheck()
    /// Whether the socket was connected, so that a later failure is a loss.
    private(set) var wasConnected = false

    /// - Parameter usesVersion5: whether to use MQTT 5, in which the broker says when it does not take a message; else
    ///   3.1.1.
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

    /// Begins to connect, without waiting for the broker. Finding its address may wait.
    ///
    /// - Returns: why that is not possible; nil when it has begun.
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
        // To this machine it is made at once, and may be closed before it is read for the first time.
        if result == MOSQ_ERR_ERRNO.code, errno == ECONNRESET || errno == EPIPE || errno == EPROTO {
            wasConnected = true
        } else {
            noteConnection()
        }
        if address.usesTLS { unsafe certificateCheck.observe(mosquitto_ssl_get(mosquitto)) }
        return failure(result)
    }

    /// The socket; nil without a connection.
    var socket: Int32? {
        let socket = unsafe mosquitto_socket(mosquitto)
        return socket >= 0 ? socket : nil
    }

    /// Whether something waits for the socket to be writable.
    var wantsToWrite: Bool { unsafe mosquitto_want_write(mosquitto) }

    /// Reads what has arrived, also what the encryption has read ahead.
    func read() -> MQTTFailure? {
        // Until the broker has accepted, the library takes a socket that has failed for one that is not ready.
        if !isAccepted, let loss { return loss }
        for _ in 0..<Self.mostReads {
            (hasReported, errno) = (false, 0)
            let result = unsafe mosquitto_loop_read(mosquitto, 1)
            let isEmpty = errno == EAGAIN || errno == EWOULDBLOCK
            if let failure = failure(result) { return failure }
            // A callback may have left its own error number.
            if isEmpty, !hasReported { return nil }
            if socket == nil { return closing }
            if !hasReported, let loss { return loss }
            // The loop calls again while there is more, but for what the encryption has read ahead.
            if hasReported, !settings.address.usesTLS { return nil }
        }
        // The watch calls again when there is more.
        return nil
    }

    /// How many packets are read before others get their turn.
    private static let mostReads = 10_000

    func write() -> MQTTFailure? {
        if !isAccepted {
            // It is reading that goes on with the handshake of the encryption.
            if let failure = settings.address.usesTLS ? read() : loss { return failure }
        }
        return failure(unsafe mosquitto_loop_write(mosquitto, 1000))
    }

    /// Why the socket is of no use any more; nil while it is. Call it when the socket can be read or written: then one
    /// that is not connected has failed.
    private var loss: MQTTFailure? {
        guard let socket, noteConnection() else { return closing }
        var byte: UInt8 = 0
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        if count > 0 || count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) { return nil }
        return closing
    }

    /// Notes that the socket is connected, if it is.
    ///
    /// - Returns: whether it is.
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

    /// Whether bytes wait for the other side, which has acknowledged none since the last call. Then they are discarded when
    /// the socket is closed: what arrives after a while would not be late.
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
        if result == MOSQ_ERR_SUCCESS.code, let number { numbers[id] = number }
        if result == MOSQ_ERR_OVERSIZE_PACKET.code {
            // The broker has said how much it takes, and the connection is as good as before.
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

    /// Says goodbye.
    ///
    /// - Returns: whether that will be sent.
    func disconnect() -> Bool { unsafe mosquitto_disconnect(mosquitto) == MOSQ_ERR_SUCCESS.code }

    // MARK: Callbacks

    func report(_ event: Event) {
        hasReported = true
        if case .accepted = event { isAccepted = true }
        onEvent(event)
    }

    func published(_ id: Int32, code: Int32) {
        hasReported = true
        let number = numbers.removeValue(forKey: id)
        if code == MQTT_RC_PACKET_TOO_LARGE.rawValue { return onEvent(.oversized(number)) }
        guard code < 128 else {
            return onEvent(.dropped(number, unsafe String(cString: mosquitto_reason_string(code))))
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
