// SPDX-License-Identifier: Apache-2.0
import CSDBus
import Glibc

@safe package final class ReceivedMessage {
    let message: OpaquePointer
    /// Weak, because the connection stores waiting messages.
    private weak var connection: BusConnection?
    /// The limit for names and paths, in bytes. Longer ones count as empty, because this module has no object,
    /// interface or method with such a long name.
    private static let maximumName = 4096

    init(_ message: OpaquePointer, _ connection: BusConnection) {
        unsafe self.message = message
        self.connection = connection
    }

    deinit { _ = unsafe ocn_bus_message_unref(message) }

    @unsafe private static func string(_ text: UnsafePointer<CChar>?) -> String {
        unsafe text.flatMap { text in
            unsafe strnlen(text, Self.maximumName) < Self.maximumName ? unsafe String(cString: text) : nil
        } ?? ""
    }

    /// The unique name of the sender's connection.
    package var sender: String { unsafe Self.string(ocn_bus_message_get_sender(message)) }
    package var path: String { unsafe Self.string(ocn_bus_message_get_path(message)) }
    /// The interface, a period, and the name of the signal or method.
    package var name: String {
        let interface = unsafe Self.string(ocn_bus_message_get_interface(message))
        let member = unsafe Self.string(ocn_bus_message_get_member(message))
        return interface + "." + member
    }

    package var isCall: Bool { kind == 1 }
    package var isError: Bool { kind == 3 }
    package var isSignal: Bool { kind == 4 }

    private var kind: UInt8 {
        var kind: UInt8 = 0
        _ = unsafe ocn_bus_message_get_type(message, &kind)
        return kind
    }

    /// The number of the call that this message answers; nil when it is not an answer.
    package var answersTo: UInt64? {
        var cookie: UInt64 = 0
        return unsafe ocn_bus_message_get_reply_cookie(message, &cookie) >= 0 ? cookie : nil
    }

    /// Returns the error in an answer to a call. `name` is the called program's name to show to people.
    func error(of name: String) -> BusError {
        let problem = unsafe ocn_bus_message_get_error(message)?.pointee
        let kind = unsafe (problem?.name).map { unsafe String(cString: $0) } ?? ""
        let text = unsafe (problem?.message).map { text in
            let bytes = unsafe UnsafeRawBufferPointer(start: text, count: strnlen(text, Self.maximumName))
            return unsafe String(decoding: bytes, as: UTF8.self)
        }
        return BusError(answer: kind, text ?? "no answer", of: name)
    }

    private(set) lazy var contents = reader.values()

    /// The values; empty when they can't be read, or when there are too many.
    package func values() -> [BusValue] { contents ?? [] }

    /// Returns the arguments of a call; nil when their types differ from a signature (D-Bus Specification 0.38, Type
    /// System), when they can't be read, or when there are too many.
    package func arguments(_ signature: String) -> [BusValue]? {
        // The head of the message contains the types, so unexpected values are not even read.
        reader.hasSignature(signature) ? contents : nil
    }

    private var reader: BusMessageReader { unsafe BusMessageReader(message: message) }

    private func liveConnection() throws(BusError) -> BusConnection {
        guard let connection else { throw BusError(.noBus, "The connection to the bus is closed.") }
        return connection
    }

    /// Answers a call. Nil answers with the error that the method does not exist.
    package func answer(_ values: [BusValue]?) throws(BusError) {
        guard let values else { return try refuse("UnknownMethod", "This method does not exist.") }
        var answer: OpaquePointer?
        let status = unsafe ocn_bus_message_new_method_return(message, &answer)
        guard status >= 0 else { throw BusError(number: status, "The answer can't be created") }
        defer { _ = unsafe ocn_bus_message_unref(answer) }
        unsafe try BusMessageWriter.write(values, to: answer)
        unsafe try liveConnection().sendAnswer(answer)
    }

    /// Answers a call with an error.
    ///
    /// - Parameter name: the last word of the error's name, after `org.freedesktop.DBus.Error.`.
    package func refuse(_ name: String, _ reason: String) throws(BusError) {
        var answer: OpaquePointer?
        let status = unsafe "org.freedesktop.DBus.Error.\(name)".withCString { name in
            unsafe reason.withCString { text in
                var problem = unsafe sd_bus_error(name: name, message: text, needs_free: 0)
                return unsafe ocn_bus_message_new_method_error(message, &answer, &problem)
            }
        }
        guard status >= 0 else { throw BusError(number: status, "The answer can't be created") }
        defer { _ = unsafe ocn_bus_message_unref(answer) }
        unsafe try liveConnection().sendAnswer(answer)
    }
}

/// A change of the owner of a name on the bus (D-Bus Specification 0.38, NameOwnerChanged).
package struct OwnerChange: Sendable, Hashable {
    package var name: String
    /// The connection that owned the name before; empty when there was none.
    package var old: String
    /// The connection that owns the name now; empty when there is none.
    package var new: String

    /// Parses a message; nil when it does not report a change of owner, or was not sent by the bus itself.
    package init?(_ message: ReceivedMessage) {
        guard message.sender == ReplyLedger.daemon,
            message.name == "org.freedesktop.DBus.NameOwnerChanged",
            let texts = message.arguments("sss")?.compactMap(\.text)
        else { return nil }
        (name, old, new) = (texts[0], texts[1], texts[2])
    }
}
