// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import FleetModel
import Foundation

/// A connection to a broker that reconnects whenever it is lost.
///
/// Everything runs on one thread, including calls to libmosquitto, so its own threads are not needed.
package final class MQTTConnection: @unchecked Sendable {
    // Sendable because every variable is used only on the loop's thread.

    /// How long connecting may take.
    static let patience = Duration.seconds(15)
    /// How often to check the keep-alive timer and whether the machine was suspended.
    static let interval = Duration.seconds(5)
    /// How long closing may take.
    static let longestStop = DispatchTimeInterval.seconds(1)

    let settings: MQTTSettings
    private let loop: EventLoop
    private let ownsLoop: Bool
    private let onEvent: @Sendable (MQTTEvent) -> Void
    private var handle: MosquittoHandle?
    private var watch: UInt64?
    private var isWriting = false
    private var timer: UInt64?
    private var retry: UInt64?
    /// Acknowledgements, reported together once all received data has been read.
    private var acknowledged: [UInt64] = []
    private var backoff = Backoff()
    /// The delays used after another client has taken the name.
    private var backoffWhenTaken = Backoff(first: .seconds(2), longest: Backoff.longestWhenTaken)
    private var accepted = SystemTime.now
    /// How many connections in a row ended soon after they were made.
    private var endings = 0
    /// After this many, the name may be taken by another client.
    private static let maximumEndings = 3
    private var isStopped = true
    private var isConnected = false
    /// Whether to wait for the socket to become writable. Until the broker accepts the connection, each received packet
    /// allows one write: the library wants to write even while it waits for the broker's side of the handshake.
    private var mayWrite = true
    /// Whether to use MQTT 5. With older brokers, MQTT 3.1.1 is used.
    private var usesVersion5 = true
    private var isTooNew = false
    private var began = SystemTime.now
    private var failure: MQTTFailure?
    private var stopHandlers: [@Sendable () -> Void] = []

    /// Creates a connection. ``start()`` connects.
    ///
    /// - Parameters:
    ///   - settings: the broker, the client ID and the login.
    ///   - loop: the thread to use; nil creates a separate thread. Resolving the broker's name blocks the thread.
    ///   - onEvent: called on that thread.
    package init(
        _ settings: MQTTSettings,
        loop: EventLoop? = nil,
        onEvent: @escaping @Sendable (MQTTEvent) -> Void
    ) {
        self.settings = settings
        self.onEvent = onEvent
        ownsLoop = loop == nil
        self.loop = loop ?? EventLoop("mqtt")
    }

    deinit {
        if ownsLoop { loop.close() }
    }

    /// The broker's address.
    package var address: BrokerAddress { settings.address }

    /// Describes the user that the broker's access list applies to.
    package var login: String { settings.login }

    /// Whether a lost connection is re-established.
    package var isPatient: Bool { settings.reconnects }

    // MARK: From any thread

    /// Starts connecting.
    package func start() {
        loop.async { [self] in
            guard isStopped else { return }
            isStopped = false
            startTimer()
            connect()
        }
    }

    /// Publishes a message with QoS 1. Without a connection, the message is dropped and never acknowledged.
    ///
    /// - Parameters:
    ///   - number: the number that ``MQTTEvent/acknowledged(_:)`` reports; nil if no acknowledgement is needed.
    package func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool = false, number: UInt64? = nil) {
        loop.perform { [self] in
            guard isConnected, let handle else { return }
            check(handle.publish(topic, payload, isRetained: isRetained, number: number))
        }
    }

    /// Publishes messages with QoS 1, in order.
    package func publish(_ messages: [(topic: String, payload: [UInt8], number: UInt64)]) {
        loop.perform { [self] in
            for message in messages {
                guard isConnected, let handle else { return }
                check(handle.publish(message.topic, message.payload, isRetained: false, number: message.number))
            }
        }
    }

    /// Subscribes to topics with QoS 1. Call this after each ``MQTTEvent/connected(hasSession:)``.
    package func subscribe(_ filters: [String]) {
        loop.perform { [self] in
            guard isConnected, let handle else { return }
            check(handle.subscribe(filters))
        }
    }

    /// Closes the connection without publishing the will. Waits up to a second for pending messages to be sent, even if
    /// the thread is blocked by resolving the broker's name.
    package func stop() async {
        await withCheckedContinuation { continuation in
            let waiter = StopWaiter(continuation)
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.longestStop) { waiter.resume() }
            loop.async { [self] in
                guard !isStopped else { return waiter.resume() }
                stopHandlers.append { waiter.resume() }
                isStopped = true
                if let retry { loop.cancel(retry) }
                if isConnected, handle?.disconnect() == true {
                    guard !isClosed else { return end() }
                    updateInterest()
                    _ = loop.after(.milliseconds(400)) { [self] in end() }
                } else {
                    end()
                }
            }
        }
    }

    // MARK: On the thread

    private func connect() {
        guard !isStopped, handle == nil else { return }
        (failure, began, mayWrite) = (nil, SystemTime.now, true)
        let newHandle = MosquittoHandle(settings, usesVersion5: usesVersion5) { [weak self] event in self?.take(event) }
        handle = newHandle
        let result = newHandle.connect()
        guard result == nil, let socket = newHandle.socket else {
            return lose(result ?? MQTTFailure(.unreachable, "\(settings.address) can't be reached."))
        }
        // Otherwise child processes would inherit the socket and keep it open, and after this process closes its own
        // descriptor, the socket would wake the loop again and again.
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        isWriting = false
        let ready = EventLoop.Watch(socket: socket) { [weak self] isReadable, isWritable in
            if isReadable { self?.read() }
            if isWritable { self?.write() }
        }
        watch = loop.add(ready)
        guard watch != nil else { return lose(MQTTFailure(.lost, "The process has too many open files.")) }
        updateInterest()
    }

    private func read() {
        guard let handle else { return }
        mayWrite = true
        let result = handle.read()
        reportAcknowledged()
        check(result)
    }

    /// Whether the library has disconnected and closed its socket. It reports no event for this.
    private var isClosed: Bool { handle?.socket == nil }

    private func write() {
        guard let handle else { return }
        let result = handle.write()
        if isStopped, isClosed { return end() }
        mayWrite = handle.isAccepted
        check(result)
    }

    /// Handles the result of a call, and checks whether more data has to be written.
    private func check(_ result: MQTTFailure?) {
        if let result { return lose(result) }
        updateInterest()
    }

    private func updateInterest() {
        guard let handle, let watch else { return }
        let wants = handle.wantsToWrite && mayWrite
        guard wants != isWriting else { return }
        isWriting = wants
        loop.setWriting(watch, wants)
    }

    private func reportAcknowledged() {
        guard !acknowledged.isEmpty else { return }
        defer { acknowledged.removeAll(keepingCapacity: true) }
        onEvent(.acknowledged(acknowledged))
    }

    private func take(_ event: MosquittoHandle.Event) {
        switch event {
        case .accepted(let hasSession):
            isConnected = true
            accepted = SystemTime.now
            backoff.reset()
            onEvent(.connected(hasSession: hasSession))
        case .refused(let reason): failure = MQTTFailure(.refused, reason)
        case .tooNew:
            isTooNew = usesVersion5
            usesVersion5 = false
            failure = MQTTFailure(.lost, "The broker does not support MQTT 5. Trying MQTT 3.1.1.")
        case .taken:
            let reason = "Another client uses the name \(settings.client) at this broker. Give each client its own."
            failure = MQTTFailure(.taken, reason)
        case .ended(let reason): failure = MQTTFailure(.lost, reason, isExplained: true)
        case .acknowledged(let number): acknowledged.append(number)
        case .dropped(let number, let topic, let reason): onEvent(.dropped(number, topic: topic, reason: reason))
        case .oversized(let number): onEvent(.oversized(number))
        case .message(let message): onEvent(.message(message))
        case .subscribed(let refused): onEvent(.subscribed(refused: refused))
        }
    }

    private func lose(_ reason: MQTTFailure) {
        guard handle != nil else { return }
        reportAcknowledged()
        let wasTooNew = isTooNew
        let (reason, wait) = wasTooNew ? (reason, .zero) : judge(failure ?? reason)
        isTooNew = false
        dismantle()
        if isStopped { return end() }
        if wasTooNew { return connect() }
        onEvent(.disconnected(reason))
        guard settings.reconnects, !isStopped else { return }
        retry = loop.after(wait) { [weak self] in self?.connect() }
    }

    /// Determines whether another client uses the same name, and how long to wait.
    ///
    /// Not every broker reports that another client took the name. Some brokers just end each connection soon after it
    /// was made.
    private func judge(_ reason: MQTTFailure) -> (reason: MQTTFailure, wait: Duration) {
        // The other client waits as long as this one, so only a longer connection shows that it has given up.
        let limit = endings < Self.maximumEndings ? .seconds(10) : Backoff.longestWhenTaken * 2
        let isSoon = isConnected && SystemTime.now - accepted < limit
        if !isSoon || reason.code != .taken && reason.code != .lost {
            endings = 0
            backoffWhenTaken.reset()
        }
        guard reason.code == .taken || reason.code == .lost && isSoon else { return (reason, backoff.next()) }
        endings += 1
        if reason.code == .taken { return (reason, backoffWhenTaken.next()) }
        guard endings >= Self.maximumEndings else { return (reason, backoff.next()) }
        if reason.isExplained { return (reason, backoffWhenTaken.next()) }
        let text = """
            The broker closes each connection soon after it opens. Perhaps another client uses the name \
            \(settings.client).
            """
        return (MQTTFailure(.lost, text), backoffWhenTaken.next())
    }

    private func dismantle() {
        isConnected = false
        // The library may have closed its socket already.
        if let watch { loop.remove(watch, isOpen: handle?.socket != nil) }
        watch = nil
        handle = nil
    }

    private func end() {
        guard isStopped else { return }
        dismantle()
        if let timer { loop.cancel(timer) }
        timer = nil
        let handlers = stopHandlers
        stopHandlers = []
        for handler in handlers { handler() }
    }

    // MARK: Time

    private func startTimer() {
        let last = SystemTime.suspended
        timer = loop.after(Self.interval) { [weak self] in
            guard let self else { return }
            startTimer()
            tick(wasSuspended: SystemTime.suspended - last > .seconds(2))
        }
    }

    private func tick(wasSuspended: Bool) {
        guard let handle else { return }
        // By now the broker has closed the connection. The library would notice only after the keep-alive interval.
        if wasSuspended { return lose(MQTTFailure(.suspended, "The machine was suspended.")) }
        if !isConnected, SystemTime.now - began > Self.patience {
            return lose(MQTTFailure(.unreachable, "\(settings.address) does not answer. Is it a broker?"))
        }
        if isConnected, handle.isStalled() {
            return lose(
                MQTTFailure(
                    .lost,
                    "The broker has not accepted any data for a while. Check the network.",
                    isExplained: true
                )
            )
        }
        check(handle.checkKeepAlive())
    }
}
