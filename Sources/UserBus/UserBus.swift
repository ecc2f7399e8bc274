// SPDX-License-Identifier: Apache-2.0

/// A connection to the user's bus. It blocks, and belongs to one thread at a time.
@safe public final class UserBus {
    let library: LibSystemd
    let bus: OpaquePointer

    /// Connects to the bus of the session, or of the user.
    ///
    /// - Throws: ``BusError``.
    public init() throws(BusError) {
        library = try LibSystemd.shared.get()
        var bus: OpaquePointer?
        let number = unsafe library.openUser(&bus)
        guard number >= 0, let bus = unsafe bus else { throw BusError(number: number, "There is no bus of the user") }
        unsafe self.bus = bus
    }

    deinit { _ = unsafe library.closeBus(bus) }

    /// Whom and what to call.
    struct Method {
        var destination: String
        var path: String
        var interface: String
        var name: String
    }

    /// Calls a method and waits for the answer.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - seconds: how long to wait; the start of the one that is called is part of it.
    ///   - arguments: writes the arguments.
    ///   - answer: reads the answer.
    func call<Value>(
        _ method: Method,
        seconds: UInt64 = 25,
        arguments: (inout BusMessageWriter) -> Void,
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
        let number = unsafe library.call(bus, message, seconds * 1_000_000, &problem, &reply)
        guard number >= 0 else {
            let name = unsafe problem.name.map { unsafe String(cString: $0) } ?? ""
            let text = unsafe problem.message.map { unsafe String(cString: $0) } ?? "no answer"
            throw BusError(Self.code(name), "\(method.destination) says: \(text)")
        }
        defer { _ = unsafe library.unrefMessage(reply) }
        guard let value = answer(unsafe BusMessageReader(library: library, message: reply)) else {
            throw BusError(.badMessage, "\(method.destination) answers with other values than it should.")
        }
        return value
    }

    private static func code(_ name: String) -> BusError.Code {
        switch name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner": .nobody
        case "org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.UnknownInterface",
            "org.freedesktop.DBus.Error.UnknownObject":
            .noMethod
        default: .refused
        }
    }
}
