// SPDX-License-Identifier: Apache-2.0

/// A connection to the user's bus. It blocks, and belongs to one thread at a time.
public final class UserBus {
    let connection: BusConnection

    /// Connects to the bus of the session, or of the user.
    ///
    /// - Parameter address: where the bus is, as `DBUS_SESSION_BUS_ADDRESS` has it; nil is that of this process.
    /// - Throws: ``BusError``.
    public init(address: String? = nil) throws(BusError) {
        connection = try BusConnection(.user, address: address)
    }

    /// Whom and what to call.
    struct Method {
        /// The bus's own name of a connection, or that of the bus itself.
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
        limit: Duration = .seconds(5),
        arguments: (inout BusMessageWriter) -> Void = { _ in },
        answer: (BusMessageReader) -> Value?
    ) throws(BusError) -> Value {
        let name = method.shown ?? method.destination
        let reply = try connection.call(
            BusCall.Object(method.destination, method.path, method.interface),
            method.name,
            shownAs: name,
            within: limit,
            arguments: arguments
        )
        guard let value = answer(unsafe BusMessageReader(message: reply.message)) else {
            throw BusError(.badMessage, "\(name) answers with other values than it should.")
        }
        return value
    }
}
