// SPDX-License-Identifier: Apache-2.0

/// A connection to the user's bus. It blocks, and belongs to one thread at a time.
@safe public final class UserBus {
    let library: LibSystemd
    let bus: OpaquePointer

    /// Connects to the bus of the session, or of the user.
    ///
    /// - Parameter address: where the bus is, as `DBUS_SESSION_BUS_ADDRESS` has it; nil is that of this process.
    /// - Throws: ``BusError``.
    public init(address: String? = nil) throws(BusError) {
        let library = try LibSystemd.shared.get()
        self.library = library
        var bus: OpaquePointer?
        var number = unsafe address == nil ? library.openUser(&bus) : library.newBus(&bus)
        if let address, number >= 0 {
            let steps = [
                { unsafe library.setAddress(bus, address) }, { unsafe library.setClient(bus, 1) },
                { unsafe library.startBus(bus) },
            ]
            number = steps.lazy.map { $0() }.first { $0 < 0 } ?? 0
        }
        guard number >= 0, let bus = unsafe bus else {
            _ = unsafe library.closeBus(bus)
            throw BusError(number: number, "There is no bus of the user")
        }
        unsafe self.bus = bus
    }

    deinit { _ = unsafe library.closeBus(bus) }

    /// Whom and what to call.
    struct Method {
        var destination: String
        var path: String
        var interface: String
        var name: String
        /// What people know the destination by, where it is the bus's own name of a connection.
        var shown: String?
    }

    /// Calls a method and waits for the answer.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - limit: how long to wait; the start of the one that is called is part of it.
    ///   - arguments: writes the arguments.
    ///   - answer: reads the answer.
    func call<Value>(
        _ method: Method,
        limit: Duration = .seconds(20),
        arguments: (inout BusMessageWriter) -> Void = { _ in },
        answer: (BusMessageReader) -> Value?
    ) throws(BusError) -> Value {
        var message: OpaquePointer?
        let made = unsafe library.newCall(
            bus,
            &message,
            method.destination,
            method.path,
            method.interface,
            method.name
        )
        guard made >= 0 else { throw BusError(number: made, "The call can't be made") }
        defer { _ = unsafe library.unrefMessage(message) }
        var writer = unsafe BusMessageWriter(library: library, message: message)
        arguments(&writer)
        guard writer.status >= 0 else { throw BusError(number: writer.status, "The call can't be written") }
        var problem = unsafe BusCallError()
        defer { unsafe library.freeError(&problem) }
        var reply: OpaquePointer?
        let number = unsafe library.call(bus, message, Self.microseconds(limit), &problem, &reply)
        guard number >= 0 else {
            let name = unsafe problem.name.map { unsafe String(cString: $0) } ?? ""
            let text = unsafe problem.message.map { unsafe String(cString: $0) } ?? "no answer"
            let code = Self.code(name)
            let what = code == .noAnswer ? "does not answer" : "says"
            throw BusError(code, "\(method.shown ?? method.destination) \(what): \(text)")
        }
        defer { _ = unsafe library.unrefMessage(reply) }
        guard let value = answer(unsafe BusMessageReader(library: library, message: reply)) else {
            throw BusError(
                .badMessage,
                "\(method.shown ?? method.destination) answers with other values than it should."
            )
        }
        return value
    }

    /// At least one: zero is sd-bus's own limit.
    private static func microseconds(_ limit: Duration) -> UInt64 {
        let (seconds, attoseconds) = limit.components
        return UInt64(max(seconds * 1_000_000 + attoseconds / 1_000_000_000_000, 1))
    }

    private static func code(_ name: String) -> BusError.Code {
        switch name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner": .nobody
        case "org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.UnknownInterface",
            "org.freedesktop.DBus.Error.UnknownObject":
            .noMethod
        case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
            "org.freedesktop.DBus.Error.TimedOut":
            .noAnswer
        default: .refused
        }
    }
}
