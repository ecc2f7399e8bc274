// SPDX-License-Identifier: Apache-2.0
import CSDBus
import Glibc

/// A connection to a bus, for a program that waits for signals, answers and calls. Use it from one thread.
@safe package final class BusConnection {
    package enum Bus: Sendable {
        case user
        case system
    }

    let bus: OpaquePointer
    private var ledger = ReplyLedger()
    /// Messages that arrived during the wait for an answer. Messages beyond the maximum are dropped.
    private var waitingMessages: [ReceivedMessage] = []
    private static let maximumWaitingMessages = 4096
    /// How long the bus itself may take to accept this program, and to answer.
    var patience: Duration
    private static let start = "StartServiceByName"
    private let name: String
    /// Whether the bus failed to answer a call, or to accept a message, in time. Then calls fail at once. This ends
    /// when a message arrives, or when the bus has accepted all messages and owes no answer.
    package private(set) var isSilent = false

    /// Connects to a bus. Throws `silentBus` when the bus does not accept this program in time.
    ///
    /// - Parameter address: the address, in the format of `DBUS_SESSION_BUS_ADDRESS`; nil for this process's address.
    package init(_ which: Bus, address: String? = nil, patience: Duration = .seconds(5)) throws(BusError) {
        self.patience = patience
        try LibSystemd.open()
        name = which == .user ? "session bus" : "system bus"
        var bus: OpaquePointer?
        var number: CInt =
            if address == "" { -ENOMEDIUM } else if address != nil { unsafe ocn_bus_new(&bus) } else {
                switch which {
                case .user: unsafe ocn_bus_open_user(&bus)
                case .system: unsafe ocn_bus_open_system(&bus)
                }
            }
        if let address {
            let steps = [
                { unsafe ocn_bus_set_address(bus, address) },
                { unsafe ocn_bus_set_bus_client(bus, 1) },
                { unsafe ocn_bus_start(bus) },
            ]
            for step in steps where number >= 0 { number = step() }
        }
        guard number >= 0, let bus = unsafe bus else {
            _ = unsafe ocn_bus_close_unref(bus)
            let error = BusError(
                number: number,
                which == .user ? "The user has no bus" : "The system has no bus"
            )
            guard which == .user, error.code == .noBus else { throw error }
            throw BusError(.noBus, error.reason + " Log in to a desktop, or run the program in: dbus-run-session")
        }
        unsafe self.bus = bus
        try begin()
    }

    deinit {
        flush()
        _ = unsafe ocn_bus_close_unref(bus)
    }

    private func begin() throws(BusError) {
        let deadline = Deadline(after: patience)
        while true {
            // The first message announces this program's name on the bus. It is not needed.
            _ = try next()
            guard unsafe ocn_bus_is_ready(bus) <= 0 else { return }
            guard let left = deadline.left else { throw silence() }
            _ = unsafe ocn_bus_wait(bus, Self.microseconds(left))
        }
    }

    /// Sends waiting messages, as far as the bus accepts them before the time limit.
    private func flush() {
        let deadline = Deadline(after: patience)
        while !isSilent {
            guard isSending else { return }
            guard let left = deadline.left else {
                isSilent = true
                return
            }
            // While there is something to send, this wait also ends when the bus accepts more.
            _ = unsafe ocn_bus_wait(bus, Self.microseconds(left))
            do throws(BusError) {
                if let message = try next() { keep(message) }
            } catch {
                // The next read reports the error.
                return
            }
        }
    }

    /// Whether messages are waiting to be accepted by the bus. False when the connection to the bus was lost.
    private var isSending: Bool {
        guard let events = UInt16(exactly: unsafe ocn_bus_get_events(bus)) else { return false }
        return events & UInt16(POLLOUT) != 0
    }

    private func keep(_ message: ReceivedMessage) {
        if counts(message), waitingMessages.count < Self.maximumWaitingMessages { waitingMessages.append(message) }
    }

    private func silence() -> BusError {
        isSilent = true
        return BusError(
            .silentBus,
            "The \(name) does not answer. Check it with: systemctl \(name.hasPrefix("session") ? "--user " : "")status dbus"
        )
    }

    private func checkSilence() throws(BusError) {
        while isSilent {
            if let message = try next() { keep(message) } else if isSilent { throw silence() }
        }
    }

    /// The descriptor that becomes readable when messages may have arrived.
    package var descriptor: CInt { unsafe ocn_bus_get_fd(bus) }

    /// Returns the next message that has arrived; nil when there is none. Answers from connections that were not asked
    /// are ignored.
    package func receive() throws(BusError) -> ReceivedMessage? {
        if !waitingMessages.isEmpty { return waitingMessages.removeFirst() }
        while let message = try next() {
            if counts(message) { return message }
        }
        return nil
    }

    /// Returns whether to accept a message. An answer from a connection that was not asked is rejected.
    private func counts(_ message: ReceivedMessage) -> Bool {
        guard let cookie = message.answersTo else { return true }
        return ledger.take(cookie, from: message.sender, isError: message.isError)
    }

    func wait(_ limit: Duration) {
        guard waitingMessages.isEmpty else { return }
        _ = unsafe ocn_bus_wait(bus, Self.microseconds(limit))
    }

    private func next() throws(BusError) -> ReceivedMessage? {
        while true {
            var message: OpaquePointer?
            let number = unsafe ocn_bus_process(bus, &message)
            guard number >= 0 else { throw BusError(number: number, "The connection to the bus was lost") }
            guard number > 0 else {
                if !isSending, !ledger.awaits(ReplyLedger.daemon) { isSilent = false }
                return nil
            }
            guard let message = unsafe message else { continue }
            isSilent = false
            return unsafe ReceivedMessage(message, self)
        }
    }

    /// Sends a call. Returns the number that will be ``ReceivedMessage/answersTo`` of the answer. No program is
    /// started; if no program owns the name, the error is `nobody`.
    package func send(_ call: BusCall) throws(BusError) -> UInt64 {
        try send(call, to: owner(of: call.object.destination))
    }

    private func send(_ call: BusCall, to connection: String) throws(BusError) -> UInt64 {
        let object = call.object
        var message: OpaquePointer?
        let status = unsafe ocn_bus_message_new_method_call(
            bus,
            &message,
            connection,
            object.path,
            object.interface,
            call.method
        )
        guard status >= 0 else { throw BusError(number: status, "The call can't be created") }
        defer { _ = unsafe ocn_bus_message_unref(message) }
        unsafe try BusMessageWriter.write(call.arguments, to: message)
        try checkSilence()
        var cookie: UInt64 = 0
        let sendStatus = unsafe ocn_bus_send(bus, message, &cookie)
        guard sendStatus >= 0 else { throw BusError(number: sendStatus, "The call can't be sent") }
        ledger.note(cookie, to: connection)
        flush()
        return cookie
    }

    /// Returns the unique name of the connection that owns a name. Throws `nobody` when no connection owns it.
    package func owner(of name: String) throws(BusError) -> String {
        // A unique name is owned by its own connection.
        if name.hasPrefix(":") || name == ReplyLedger.daemon { return name }
        guard let owner = try ask(BusCall(.daemon, "GetNameOwner", [.string(name)])).first?.text else {
            throw .badAnswer(of: .daemon)
        }
        return owner
    }

    /// Calls a method and waits for the values of the answer. If no program owns the name, the bus starts the program
    /// if it can, and the call waits for the start too.
    ///
    /// - Parameter limit: the maximum wait. For calls to the bus itself, the bus's own limit applies, unless the call
    ///   starts a program.
    /// - Throws: ``BusError``, with `nobody` when no program owns the name, `refused` when the answer is another error,
    ///   or `silentBus` when the bus itself does not answer.
    package func ask(_ call: BusCall, within limit: Duration = .seconds(2)) throws(BusError) -> [BusValue] {
        let name = call.object.destination
        let owner: String
        do throws(BusError) {
            owner = try self.owner(of: name)
        } catch  where error.code == .nobody {
            _ = try ask(BusCall(.daemon, Self.start, [.string(name), .uint32(0)]), within: .seconds(25))
            owner = try self.owner(of: name)
        }
        let cookie = try send(call, to: owner)
        let isDaemonCall = name == ReplyLedger.daemon && call.method != Self.start
        guard let answer = try answers(to: [cookie], within: isDaemonCall ? patience : limit)[cookie] else {
            guard isDaemonCall else { throw BusError(.noAnswer, "\(call.object.program) does not answer in time.") }
            throw silence()
        }
        if answer.isError { throw answer.error(of: call.object.program) }
        guard let values = answer.contents else {
            throw BusError(.badMessage, "\(call.object.program) answers with unreadable values.")
        }
        return values
    }

    /// Waits for the answers to calls, and returns the answers that arrived in time. Other messages are kept for
    /// ``receive()``.
    package func answers(
        to cookies: Set<UInt64>,
        within limit: Duration
    ) throws(BusError) -> [UInt64: ReceivedMessage] {
        let deadline = Deadline(after: limit)
        var answers: [UInt64: ReceivedMessage] = [:]
        // Some answers may have arrived while other calls were sent.
        waitingMessages.removeAll { message in
            guard let cookie = message.answersTo, cookies.contains(cookie) else { return false }
            answers[cookie] = message
            return true
        }
        while answers.count < cookies.count {
            guard let message = try next() else {
                guard let left = deadline.left else { break }
                // An interruption by a signal is not a failure.
                _ = unsafe ocn_bus_wait(bus, Self.microseconds(left))
                continue
            }
            guard let cookie = message.answersTo, cookies.contains(cookie) else {
                keep(message)
                continue
            }
            if counts(message) { answers[cookie] = message }
        }
        return answers
    }

    /// Returns at least one microsecond, because zero means sd-bus's own limit.
    static func microseconds(_ limit: Duration) -> UInt64 {
        let (seconds, attoseconds) = limit.components
        return UInt64(max(seconds * 1_000_000 + attoseconds / 1_000_000_000_000, 1))
    }

    /// Emits a signal to all programs that subscribed to it. The object's destination is not used.
    package func emit(_ object: BusCall.Object, _ signal: String, _ values: [BusValue]) throws(BusError) {
        var message: OpaquePointer?
        let status = unsafe ocn_bus_message_new_signal(bus, &message, object.path, object.interface, signal)
        guard status >= 0 else { throw BusError(number: status, "The signal can't be created") }
        defer { _ = unsafe ocn_bus_message_unref(message) }
        unsafe try BusMessageWriter.write(values, to: message)
        try checkSilence()
        let sendStatus = unsafe ocn_bus_send(bus, message, nil)
        guard sendStatus >= 0 else { throw BusError(number: sendStatus, "The signal can't be sent") }
        flush()
    }

    func sendAnswer(_ answer: OpaquePointer?) {
        _ = unsafe ocn_bus_send(bus, answer, nil)
        flush()
    }

    // MARK: Names

    /// Subscribes to signals. The match rule should contain a `sender`, to exclude signals from other connections.
    package func listen(to rule: String) throws(BusError) {
        _ = try ask(BusCall(.daemon, "AddMatch", [.string("type='signal'," + rule)]))
    }

    /// Claims a name. Throws `nameTaken` when another program owns the name and does not yield it.
    ///
    /// - Parameters:
    ///   - yields: whether another program may later take over the name with `replaces`. The bus then reports
    ///     `NameLost`.
    ///   - replaces: whether to take over the name from a program that yields it.
    package func take(_ name: String, yields: Bool = false, replaces: Bool = false) throws(BusError) {
        // Does not wait in the queue (D-Bus Specification 0.38, RequestName): 1 is DBUS_NAME_FLAG_ALLOW_REPLACEMENT, 2
        // is DBUS_NAME_FLAG_REPLACE_EXISTING, 4 is DBUS_NAME_FLAG_DO_NOT_QUEUE. The answer 1 means that this program
        // now owns the name.
        let flags: UInt32 = 4 | (yields ? 1 : 0) | (replaces ? 2 : 0)
        let answer = try ask(BusCall(.daemon, "RequestName", [.string(name), .uint32(flags)]))
        guard answer.first?.integer == 1 else {
            throw BusError(.nameTaken, "The bus name \(name) is already taken by another program.")
        }
    }

    /// Returns whether any program owns a name on the bus. This does not start the program.
    package func hasOwner(_ name: String) throws(BusError) -> Bool {
        try ask(BusCall(.daemon, "NameHasOwner", [.string(name)])).first?.isTrue ?? false
    }

    /// Returns the unique name of the user's connection that owns a name; nil when no connection owns the name. Throws
    /// `foreign` when another user's program owns it.
    package func userOwner(of name: String) throws(BusError) -> String? {
        do throws(BusError) {
            let owner = try owner(of: name)
            guard try isOwn(owner) else {
                throw BusError(.foreign, "\(name) on the bus belongs to another user, so nothing is sent to it.")
            }
            return owner
        } catch  where error.code == .nobody {
            // No connection owns the name any more, or ever did.
            return nil
        }
    }

    /// Returns whether a connection belongs to a program of the same user. Throws `nobody` when the connection is gone.
    func isOwn(_ connection: String) throws(BusError) -> Bool {
        let user = try ask(BusCall(.daemon, "GetConnectionUnixUser", [.string(connection)])).first?.integer
        return user == Int64(geteuid())
    }

    /// Makes the bus start the program for a name. Returns the unique name of the connection that then owns the name.
    /// Throws `nobody` when the bus can't start a program for it.
    func startProgram(of name: String, limit: Duration) throws(BusError) -> String {
        do throws(BusError) {
            _ = try ask(BusCall(.daemon, Self.start, [.string(name), .uint32(0)]), within: limit)
        } catch  where error.code == .nobody {
            throw BusError(
                .nobody,
                """
                The bus can't start a program for \(name). Install \(name).service in dbus-1/services of a data folder, \
                or remove DBusActivatable from \(name).desktop.
                """
            )
        } catch  where error.code == .refused {
            // The bus reports how the program ended.
            throw BusError(.noAnswer, "\(name) was started and ended at once: \(error.reason)")
        }
        guard let owner = try userOwner(of: name) else {
            throw BusError(.noAnswer, "\(name) was started and ended at once.")
        }
        return owner
    }
}

/// Decides which answers to calls are accepted.
///
/// Any program on the bus may answer a call that was made to another program: call numbers are easy to guess, and
/// sd-bus checks nothing else. So the ledger stores, for each call, the unique name of the connection that was asked,
/// and only accepts an answer from that connection. The bus itself sets the sender of each message.
struct ReplyLedger {
    /// The bus's own name. If a connection is gone, the bus answers in its place, always with an error.
    static let daemon = "org.freedesktop.DBus"
    static let capacity = 1024

    private var callees: [UInt64: String] = [:]
    private var order: [UInt64] = []

    /// Records a call to the unique name of a connection (`:1.42`), or to ``daemon``.
    mutating func note(_ cookie: UInt64, to connection: String) {
        callees[cookie] = connection
        order.append(cookie)
        while order.count > Self.capacity { callees[order.removeFirst()] = nil }
    }

    /// Returns whether a connection, or ``daemon``, still has to answer a recorded call.
    func awaits(_ connection: String) -> Bool { callees.values.contains(connection) }

    /// Returns whether to accept an answer. Only the first answer to a call is accepted.
    mutating func take(_ cookie: UInt64, from sender: String, isError: Bool) -> Bool {
        guard let connection = callees[cookie], sender == connection || (isError && sender == Self.daemon) else {
            return false
        }
        callees[cookie] = nil
        order.removeAll { $0 == cookie }
        return true
    }
}

struct Deadline {
    private let end: ContinuousClock.Instant

    init(after limit: Duration) { end = ContinuousClock.now + limit }

    var left: Duration? {
        let left = ContinuousClock.now.duration(to: end)
        return left > .zero ? left : nil
    }
}

/// The system's libsystemd with sd-bus, opened when it is first needed. So the package builds and runs without it.
enum LibSystemd {
    static func open() throws(BusError) {
        try check(missing: unsafe ocn_bus_missing().map { unsafe String(cString: $0) })
    }

    /// - Parameter name: the missing function; empty if the whole library is missing, nil if nothing is.
    static func check(missing name: String?) throws(BusError) {
        guard let name else { return }
        throw BusError(
            .libraryMissing,
            name.isEmpty
                ? "libsystemd.so.0 is not installed. Install it with: apt-get install libsystemd0"
                : "The system's libsystemd lacks \(name)."
        )
    }
}
