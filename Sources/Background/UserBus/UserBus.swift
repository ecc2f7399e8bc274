// SPDX-License-Identifier: Apache-2.0

/// A connection to the user's bus. Its calls block, and it belongs to one thread at a time.
package final class UserBus {
    let connection: BusConnection

    /// Connects to the bus of the session or of the user.
    ///
    /// - Parameter address: the address of the bus, in the format of `DBUS_SESSION_BUS_ADDRESS`; nil for the one of
    ///   this process.
    /// - Throws: ``BusError``.
    package init(address: String? = nil) throws(BusError) {
        connection = try BusConnection(.user, address: address)
    }

    /// The method to call.
    struct Method {
        /// The unique name of a connection, or the name of the bus itself.
        var destination: String
        var path: String
        var interface: String
        var name: String
        /// The name of the destination for people, if the destination is a unique name.
        var shown: String?
    }

    /// Calls a method and waits for the answer.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - limit: the maximum wait, including the start of the program.
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
