// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import FleetModel
import Foundation

/// A connection to a broker, which is made again whenever it is lost.
///
/// Everything happens on one thread, also the calls of libmosquitto: then none of its threads are needed. After a loss nothing is sent again from here. Who publishes keeps the message until it was acknowledged.
package final class MQTTConnection: @unchecked Sendable {
    // Sendable because every variable is only used on the loop's thread.

    /// How long a connection may take to be made.
    static let patience = Duration.seconds(15)
    /// How often keep-alive and suspension are checked.
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
    /// Acknowledgements that are reported together, after everything that has arrived was read.
    private var acknowledged: [UInt64] = []
    private var backoff = Backoff()
    /// The waits after another client has taken the name.
    private var backoffOfTaken = Backoff(first: .seconds(2), longest: Backoff.longestOfTaken)
    private var accepted = SystemTime.now
    /// How many connections in a row were ended soon after they were made.
    private var endings = 0
    /// After this many the name is perhaps taken.
    private static let mostEndings = 3
    private var isStopped = true
    private var isConnected = false
    /// Whether it may be waited for the socket to be writable. Before the broker has accepted, each arrival allows one
    /// write: the library asks to write while it waits for the broker's part of the handshake.
    private var mayWrite = true
    /// Whether the broker is asked for MQTT 5. An older one gets 3.1.1.
    private var usesVersion5 = true
    private var isTooNew = false
    private var began = SystemTime.now
    private var failure: MQTTFailure?
    private var stopHandlers: [@Sendable () -> Void] = []

    /// Creates a connection. ``start()`` makes it.
    ///
    /// - Parameters:
    ///   - settings: the broker, and who this is.
    ///   - loop: the thread that does the work; nil for one of its own. Finding the broker's address holds it.
    ///   - onEvent: called on this thread.
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

    /// The broker.
    package var address: BrokerAddress { settings.address }

    /// Whether a lost connection is made again.
    package var isPatient: Bool { settings.reconnects }

    // MARK: From any thread

    /// Makes the connection.
    package func start() {
        loop.async { [self] in
            guard isStopped else { return }
            isStopped = false
            startTimer()
            connect()
        }
    }

    /// Publishes a message with QoS 1. Without a connection it is dropped, and never acknowledged.
    ///
    /// - Parameters:
    ///   - number: what ``MQTTEvent/acknowledged(_:)`` reports; nil when nobody waits for it.
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

    /// Subscribes to topics with QoS 1. Call it after each ``MQTTEvent/connected(hasSession:)``.
    package func subscribe(_ filters: [String]) {
        loop.perform { [self] in
            guard isConnected, let handle else { return }
            check(handle.subscribe(filters))
        }
    }

    /// Closes the connection, so that the will is not published. Waits until what was published is sent, a second
    /// at most, also while finding the broker's address holds the thread.
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
        let made = MosquittoHandle(settings, usesVersion5: usesVersion5) { [weak self] event in self?.take(event) }
        handle = made
        let result = made.connect()
        guard result == nil, let socket = made.socket else {
            return lose(result ?? MQTTFailure(.unreachable, "\(settings.address) can't be reached."))
        }
        // A program that the process starts would keep a copy. Then the end of the connection wakes the loop again and again.
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

    /// Whether the library has said goodbye and closed its socket, of which no event comes.
    private var isClosed: Bool { handle?.socket == nil }

    private func write() {
        guard let handle else { return }
        let result = handle.write()
        if isStopped, isClosed { return end() }
        mayWrite = handle.isAccepted
        check(result)
    }

    /// Looks at the result of a call, and whether more has to be written.
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
            failure = MQTTFailure(.lost, "The broker does not know MQTT 5. It is tried again with MQTT 3.1.1.")
        case .taken:
            let reason = "Another client uses the name \(settings.client) at this broker. Give each its own."
            failure = MQTTFailure(.taken, reason)
        case .ended(let reason): failure = MQTTFailure(.lost, reason, isExplained: true)
        case .acknowledged(let number): acknowledged.append(number)
        case .dropped(let number, let reason): onEvent(.dropped(number, reason: reason))
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

    /// Finds whether another client has taken the name, and how long to wait.
    ///
    /// Not every broker says that it was taken. Then connections are ended again and again, soon after they were made.
    private func judge(_ reason: MQTTFailure) -> (reason: MQTTFailure, wait: Duration) {
        // The other one waits as long as this one. So it has given up only after a longer time.
        let limit = endings < Self.mostEndings ? .seconds(10) : Backoff.longestOfTaken * 2
        let isSoon = isConnected && SystemTime.now - accepted < limit
        if !isSoon || reason.code != .taken && reason.code != .lost {
            endings = 0
            backoffOfTaken.reset()
        }
        guard reason.code == .taken || reason.code == .lost && isSoon else { return (reason, backoff.next()) }
        endings += 1
        if reason.code == .taken { return (reason, backoffOfTaken.next()) }
        guard endings >= Self.mostEndings else { return (reason, backoff.next()) }
        if reason.isExplained { return (reason, backoffOfTaken.next()) }
        let text = "The broker ends each connection soon. Perhaps another client uses the name \(settings.client)."
        return (MQTTFailure(.lost, text), backoffOfTaken.next())
    }

    private func dismantle() {
        isConnected = false
        // The library closes its socket whenever it likes.
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
        // The broker has given up meanwhile, and the library would notice only after its keep-alive.
        if wasSuspended { return lose(MQTTFailure(.suspended, "The machine was suspended.")) }
        if !isConnected, SystemTime.now - began > Self.patience {
            return lose(MQTTFailure(.unreachable, "\(settings.address) does not answer. Is it a broker?"))
        }
        if isConnected, handle.isStalled() {
            return lose(
                MQTTFailure(
                    .lost,
                    "The broker has not taken anything for a while. Check the network.",
                    isExplained: true
                )
            )
        }
        check(handle.checkKeepAlive())
    }
}
