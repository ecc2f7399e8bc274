// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A message that came.
@safe public final class ReceivedMessage {
    let message: OpaquePointer
    private let library: LibSystemd
    private let messages: LibSystemdMessages
    /// Weak: a connection keeps messages that wait.
    private weak var connection: BusConnection?
    /// The longest name or path that is looked at, in bytes. No object, interface or method here has a longer one.
    private static let maximumName = 4096

    init(_ message: OpaquePointer, _ connection: BusConnection) {
        unsafe self.message = message
        self.connection = connection
        library = connection.library
        messages = connection.messages
    }

    deinit { _ = unsafe library.unrefMessage(message) }

    private func text(_ get: LibSystemdMessages.GetText) -> String {
        unsafe get(message).flatMap { text in
            unsafe strnlen(text, Self.maximumName) < Self.maximumName ? unsafe String(cString: text) : nil
        } ?? ""
    }

    /// Who sent it, by the name that the bus gives each connection.
    public var sender: String { unsafe text(messages.sender) }
    /// The object.
    public var path: String { unsafe text(messages.path) }
    /// The interface and the signal or method, with a period between.
    public var name: String { unsafe text(messages.interface) + "." + text(messages.member) }

    /// Whether it is a call.
    public var isCall: Bool { kind == 1 }
    /// Whether it is an error in answer to a call.
    public var isError: Bool { kind == 3 }
    /// Whether it is a signal.
    public var isSignal: Bool { kind == 4 }

    private var kind: UInt8 {
        var kind: UInt8 = 0
        _ = unsafe messages.kind(message, &kind)
        return kind
    }

    /// The call that it answers; nil when it answers none.
    public var answersTo: UInt64? {
        var cookie: UInt64 = 0
        return unsafe messages.replyCookie(message, &cookie) >= 0 ? cookie : nil
    }

    /// What an error that answers a call says.
    ///
    /// - Parameter name: what people know the one by who was asked.
    func error(of name: String) -> BusError {
        let problem = unsafe messages.error(message)?.load(as: BusCallError.self)
        let kind = unsafe (problem?.name).map { unsafe String(cString: $0) } ?? ""
        let text = unsafe (problem?.message).map { text in
            let bytes = unsafe UnsafeRawBufferPointer(start: text, count: strnlen(text, Self.maximumName))
            return unsafe String(decoding: bytes, as: UTF8.self)
        }
        return BusError(answer: kind, text ?? "no answer", of: name)
    }

    /// The values of a signal or an answer, to be read once; none when they can't be read, or are too many.
    public func values() -> [BusValue] { reader.values(messages) ?? [] }

    /// The arguments of a call, to be read once.
    ///
    /// - Parameter signature: the types that they have to have (D-Bus Specification 0.38, Type System).
    /// - Returns: nil when they have other types, can't be read or are too many.
    public func arguments(_ signature: String) -> [BusValue]? {
        // The types are in the head of the message: what nobody expects is not read.
        reader.hasSignature(signature) ? reader.values(messages) : nil
    }

    private var reader: BusMessageReader { unsafe BusMessageReader(library: library, message: message) }

    private func liveConnection() throws(BusError) -> BusConnection {
        guard let connection else { throw BusError(.noBus, "The connection to the bus is closed.") }
        return connection
    }

    /// Answers a call.
    ///
    /// - Parameter values: the values; nil when there is no such method.
    public func answer(_ values: [BusValue]?) throws(BusError) {
        guard let values else { return try refuse("UnknownMethod", "There is no such method.") }
        var answer: OpaquePointer?
        let made = unsafe library.newAnswer(message, &answer)
        guard made >= 0 else { throw BusError(number: made, "The answer can't be made") }
        defer { _ = unsafe library.unrefMessage(answer) }
        let connection = try liveConnection()
        unsafe try connection.write(values, to: unsafe answer)
        unsafe connection.sendAnswer(answer)
    }

    /// Answers a call by an error.
    ///
    /// - Parameters:
    ///   - name: the last word of the error's name, after `org.freedesktop.DBus.Error.`.
    ///   - reason: what is wrong, as a sentence.
    public func refuse(_ name: String, _ reason: String) throws(BusError) {
        var answer: OpaquePointer?
        let made = unsafe "org.freedesktop.DBus.Error.\(name)".withCString { name in
            unsafe reason.withCString { text in
                var problem = unsafe BusCallError(name: name, message: text)
                return unsafe messages.newError(message, &answer, &problem)
            }
        }
        guard made >= 0 else { throw BusError(number: made, "The answer can't be made") }
        defer { _ = unsafe library.unrefMessage(answer) }
        unsafe try liveConnection().sendAnswer(answer)
    }
}
