// SPDX-License-Identifier: Apache-2.0

/// A connection to a bus for a program that waits for what comes: signals, answers and calls. It belongs to one thread.
@safe public final class BusConnection {
    /// Which bus.
    public enum Bus: Sendable {
        /// The bus of the session, or of the user.
        case user
        /// The system's bus.
        case system
    }

    let library: LibSystemd
    let messages: LibSystemdMessages
    let bus: OpaquePointer

    /// Connects to a bus.
    ///
    /// - Throws: ``BusError``.
    public init(_ which: Bus) throws(BusError) {
        library = try LibSystemd.shared.get()
        messages = try LibSystemdMessages.shared.get()
        var bus: OpaquePointer?
        let number: CInt =
            switch which {
            case .user: unsafe library.openUser(&bus)
            case .system: unsafe messages.openSystem(&bus)
            }
        guard number >= 0, let bus = unsafe bus else {
            throw BusError(number: number, which == .user ? "There is no bus of the user" : "There is no system bus")
        }
        unsafe self.bus = bus
    }

    deinit { _ = unsafe library.closeBus(bus) }

    /// What becomes readable when something may have come.
    public var descriptor: CInt { unsafe messages.descriptor(bus) }

    /// Takes the next message that has come.
    ///
    /// - Returns: nil when there is none.
    /// - Throws: ``BusError`` when the bus is gone.
    public func receive() throws(BusError) -> ReceivedMessage? {
        while true {
            var message: OpaquePointer?
            let number = unsafe library.process(bus, &message)
            guard number >= 0 else { throw BusError(number: number, "The bus is gone") }
            guard number > 0 else { return nil }
            guard let message = unsafe message else { continue }
            return unsafe ReceivedMessage(message, self)
        }
    }

    /// Sends a call, whose answer comes by ``receive()``.
    ///
    /// - Returns: what the answer's ``ReceivedMessage/answersTo`` will be.
    public func send(_ call: BusCall) throws(BusError) -> UInt64 {
        let message = unsafe try make(call)
        defer { _ = unsafe library.unrefMessage(message) }
        var cookie: UInt64 = 0
        let number = unsafe library.send(bus, message, &cookie)
        guard number >= 0 else { throw BusError(number: number, "The call can't be sent") }
        _ = unsafe messages.flush(bus)
        return cookie
    }

    /// Calls a method and waits for the answer.
    ///
    /// - Parameters:
    ///   - call: whom to call.
    ///   - limit: how many seconds to wait.
    /// - Returns: the values of the answer.
    /// - Throws: ``BusError``; of code `refused` when the answer is an error or does not come.
    public func ask(_ call: BusCall, within limit: UInt64 = 2) throws(BusError) -> [BusValue] {
        let message = unsafe try make(call)
        defer { _ = unsafe library.unrefMessage(message) }
        var problem = unsafe BusCallError()
        defer { unsafe library.freeError(&problem) }
        var answer: OpaquePointer?
        guard unsafe library.call(bus, message, limit * 1_000_000, &problem, &answer) >= 0 else {
            let text = unsafe problem.message.map { unsafe String(cString: $0) } ?? "no answer"
            throw BusError(.refused, "\(call.destination) says: \(text)")
        }
        defer { _ = unsafe library.unrefMessage(answer) }
        let reader = unsafe BusMessageReader(library: library, message: answer)
        guard let values = reader.values(messages) else {
            throw BusError(.badMessage, "\(call.destination) answers with values that can't be read.")
        }
        return values
    }

    /// Asks for signals.
    ///
    /// - Parameter rule: the match rule; with `sender`, so that nobody else's come.
    public func listen(to rule: String) throws(BusError) {
        _ = try ask(BusCall(.daemon, "AddMatch", [.string("type='signal'," + rule)]))
    }

    /// Takes a name.
    ///
    /// - Throws: ``BusError``; of code `nameTaken` when somebody has it.
    public func take(_ name: String) throws(BusError) {
        let number = unsafe library.requestName(bus, name, 0)
        guard number >= 0 else { throw BusError(number: number, "The name \(name) can't be had") }
    }

    private func make(_ call: BusCall) throws(BusError) -> OpaquePointer? {
        var message: OpaquePointer?
        let object = call.object
        let made = unsafe library.newCall(
            bus,
            &message,
            object.destination,
            object.path,
            object.interface,
            call.method
        )
        guard made >= 0 else { throw BusError(number: made, "The call can't be made") }
        unsafe try write(call.arguments, to: unsafe message)
        return unsafe message
    }

    fileprivate func write(_ values: [BusValue], to message: OpaquePointer?) throws(BusError) {
        var writer = unsafe BusMessageWriter(library: library, message: message)
        for value in values { writer.value(value) }
        guard writer.status >= 0 else {
            _ = unsafe library.unrefMessage(message)
            throw BusError(number: writer.status, "The message can't be written")
        }
    }
}

/// A method of an object on a bus, with its arguments.
public struct BusCall: Sendable {
    /// An interface of an object.
    public struct Object: Sendable {
        /// The name of who has it.
        public var destination: String
        /// The object.
        public var path: String
        /// The interface.
        public var interface: String

        /// Names an interface.
        public init(_ destination: String, _ path: String, _ interface: String) {
            self.destination = destination
            self.path = path
            self.interface = interface
        }

        /// The bus itself.
        public static let daemon = Object("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")

        /// The properties of the object.
        public var properties: Object { Object(destination, path, "org.freedesktop.DBus.Properties") }
    }

    var object: Object
    var method: String
    var arguments: [BusValue]
    var destination: String { object.destination }

    /// Names a method.
    public init(_ object: Object, _ method: String, _ arguments: [BusValue] = []) {
        self.object = object
        self.method = method
        self.arguments = arguments
    }
}

/// A message that came.
@safe public final class ReceivedMessage {
    private let message: OpaquePointer
    private let connection: BusConnection

    fileprivate init(_ message: OpaquePointer, _ connection: BusConnection) {
        unsafe self.message = message
        self.connection = connection
    }

    deinit { _ = unsafe connection.library.unrefMessage(message) }

    private func text(_ get: LibSystemdMessages.GetText) -> String {
        unsafe get(message).map { unsafe String(cString: $0) } ?? ""
    }

    /// Who sent it, by the name that the bus gives each connection.
    public var sender: String { unsafe text(connection.messages.sender) }
    /// The object.
    public var path: String { unsafe text(connection.messages.path) }
    /// The interface and the signal or method, with a period between.
    public var name: String { unsafe text(connection.messages.interface) + "." + text(connection.messages.member) }

    /// Whether it is a call.
    public var isCall: Bool { kind == 1 }
    /// Whether it is an error in answer to a call.
    public var isError: Bool { kind == 3 }
    /// Whether it is a signal.
    public var isSignal: Bool { kind == 4 }

    private var kind: UInt8 {
        var kind: UInt8 = 0
        _ = unsafe connection.messages.kind(message, &kind)
        return kind
    }

    /// The call that it answers; nil when it answers none.
    public var answersTo: UInt64? {
        var cookie: UInt64 = 0
        return unsafe connection.messages.replyCookie(message, &cookie) >= 0 ? cookie : nil
    }

    /// The values, to be read once; none when they can't be read.
    public func values() -> [BusValue] {
        unsafe BusMessageReader(library: connection.library, message: message).values(connection.messages) ?? []
    }

    /// Answers a call.
    ///
    /// - Parameter values: the values; nil when there is no such method.
    public func answer(_ values: [BusValue]?) throws(BusError) {
        let library = connection.library
        var answer: OpaquePointer?
        let made: CInt
        if values != nil {
            made = unsafe library.newAnswer(message, &answer)
        } else {
            made = unsafe "org.freedesktop.DBus.Error.UnknownMethod".withCString { name in
                unsafe "There is no such method.".withCString { text in
                    var problem = unsafe BusCallError(name: name, message: text)
                    return unsafe connection.messages.newError(message, &answer, &problem)
                }
            }
        }
        guard made >= 0 else { throw BusError(number: made, "The answer can't be made") }
        if let values { unsafe try connection.write(values, to: unsafe answer) }
        defer { _ = unsafe library.unrefMessage(answer) }
        _ = unsafe library.send(connection.bus, answer, nil)
        _ = unsafe connection.messages.flush(connection.bus)
    }
}
