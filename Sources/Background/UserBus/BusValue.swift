// SPDX-License-Identifier: Apache-2.0
import CSDBus
import Glibc

package struct BusCall: Sendable {
    package struct Object: Sendable {
        /// The name of the program that owns the object, or the unique name of its connection.
        package var destination: String
        package var path: String
        package var interface: String
        /// The name of the program to show in errors.
        var program: String

        /// - Parameter program: the name of the program to show in errors; nil for the destination.
        package init(_ destination: String, _ path: String, _ interface: String, program: String? = nil) {
            self.destination = destination
            self.path = path
            self.interface = interface
            self.program = program ?? destination
        }

        /// The bus itself.
        package static let daemon = Object("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")

        /// The program that shows notifications (Desktop Notifications Specification 1.2).
        package static let notifications = Object(
            "org.freedesktop.Notifications",
            "/org/freedesktop/Notifications",
            "org.freedesktop.Notifications"
        )

        package var properties: Object {
            Object(destination, path, "org.freedesktop.DBus.Properties", program: program)
        }
    }

    var object: Object
    var method: String
    var arguments: [BusValue]

    package init(_ object: Object, _ method: String, _ arguments: [BusValue] = []) {
        self.object = object
        self.method = method
        self.arguments = arguments
    }

    /// Creates a call that asks for a property.
    init(property: String, of object: Object) {
        self.init(object.properties, "Get", [.string(object.interface), .string(property)])
    }
}

/// A value in a message on a bus (D-Bus Specification 0.38, Type System).
package indirect enum BusValue: Sendable, Hashable {
    case string(String)
    case path(String)
    case boolean(Bool)
    case byte(UInt8)
    case int32(Int32)
    case uint32(UInt32)
    /// A received integer of another size. It can't be sent.
    case number(Int64)
    case bytes([UInt8])
    /// An array of strings to send.
    case strings([String])
    /// A dictionary with names as keys. In a received dictionary, each name occurs once.
    case properties([String: BusValue])
    /// An array to send, with the signature of its elements.
    case array(of: String, [BusValue])
    /// A structure to send.
    case structure([BusValue])
    /// A value to send together with its type.
    case variant(BusValue)
    /// A received array or structure. It can't be sent.
    case list([BusValue])

    package var text: String? {
        switch self {
        case .string(let text), .path(let text): text
        default: nil
        }
    }

    /// The number, of any size.
    package var integer: Int64? {
        switch self {
        case .byte(let value): Int64(value)
        case .int32(let value): Int64(value)
        case .uint32(let value): Int64(value)
        case .number(let value): value
        default: nil
        }
    }

    package var isTrue: Bool? { if case .boolean(let value) = self { value } else { nil } }

    package var values: [BusValue]? { if case .list(let values) = self { values } else { nil } }

    package var members: [String: BusValue]? { if case .properties(let members) = self { members } else { nil } }

    fileprivate var signature: String {
        switch self {
        case .string: "s"
        case .path: "o"
        case .boolean: "b"
        case .byte: "y"
        case .int32: "i"
        case .uint32: "u"
        case .bytes: "ay"
        case .strings: "as"
        case .properties: "a{sv}"
        case .array(let elements, _): "a" + elements
        case .structure(let values): "(" + values.map(\.signature).joined() + ")"
        case .variant: "v"
        case .number, .list: "x"
        }
    }
}

@safe struct BusMessageWriter {
    private let message: OpaquePointer?
    private var problem: CInt?

    private init(_ message: OpaquePointer?) { unsafe self.message = message }

    static func write(_ values: [BusValue], to message: OpaquePointer?) throws(BusError) {
        var writer = unsafe BusMessageWriter(message)
        for value in values { writer.write(value) }
        if let problem = writer.problem { throw BusError(number: problem, "The message can't be written") }
    }

    private mutating func note(_ number: CInt) {
        if problem == nil, number < 0 { problem = number }
    }

    private mutating func write(_ value: BusValue) {
        switch value {
        case .string(let text): basic("s", text)
        case .path(let text): basic("o", text)
        case .boolean(let value): basic("b", CInt(value ? 1 : 0))
        case .byte(let value): basic("y", value)
        case .int32(let value): basic("i", value)
        case .uint32(let value): basic("u", value)
        case .bytes(let value):
            note(
                unsafe value.withUnsafeBytes { buffer in
                    unsafe ocn_bus_message_append_array(message, 0x79, buffer.baseAddress, buffer.count)
                }
            )
        case .strings(let texts): container("a", "s", texts.map(BusValue.string))
        case .array(let signature, let values): container("a", signature, values)
        case .structure(let values): container("r", values.map(\.signature).joined(), values)
        case .variant(let value): container("v", value.signature, [value])
        case .properties(let members):
            open("a", "{sv}")
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                container("e", "sv", [.string(name), .variant(value)])
            }
            close()
        case .number, .list: note(-EINVAL)
        }
    }

    private mutating func container(_ kind: Unicode.Scalar, _ signature: String, _ values: [BusValue]) {
        open(kind, signature)
        for value in values { write(value) }
        close()
    }

    private mutating func open(_ kind: Unicode.Scalar, _ signature: String) {
        note(unsafe ocn_bus_message_open_container(message, CChar(kind.value), signature))
    }

    private mutating func close() { note(unsafe ocn_bus_message_close_container(message)) }

    private mutating func basic(_ type: Unicode.Scalar, _ text: String) {
        note(unsafe text.withCString { unsafe ocn_bus_message_append_basic(message, CChar(type.value), $0) })
    }

    private mutating func basic(_ type: Unicode.Scalar, _ number: some FixedWidthInteger) {
        var number = number
        note(unsafe ocn_bus_message_append_basic(message, CChar(type.value), &number))
    }
}

@safe struct BusMessageReader {
    private let message: OpaquePointer?

    init(message: OpaquePointer?) { unsafe self.message = message }

    func hasSignature(_ signature: String) -> Bool { unsafe ocn_bus_message_has_signature(message, signature) > 0 }

    /// Limits how much of a message is read. A bus accepts messages of 128 MB from any program, and a value takes many
    /// times more space in memory than in the message.
    struct Budget {
        /// The number of values left. Containers and the values in them are counted.
        var values = 1 << 14
        /// The number of bytes left for strings and byte arrays. The largest picture in a notification is smaller.
        var bytes = 1 << 24

        mutating func takeValue() -> Bool {
            values -= 1
            return values >= 0
        }

        mutating func take(_ size: Int) -> Bool {
            bytes -= min(size, bytes + 1)
            return bytes >= 0
        }
    }

    /// Reads all remaining values; nil when a value can't be read, or the ``Budget`` is exceeded.
    func values() -> [BusValue]? {
        var budget = Budget()
        return values(0, &budget)
    }

    private func values(_ depth: Int, _ budget: inout Budget) -> [BusValue]? {
        var values: [BusValue] = []
        guard depth < 16 else { return nil }
        while true {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let status = unsafe ocn_bus_message_peek_type(message, &type, &contents)
            guard status >= 0 else { return nil }
            guard status > 0 else { return values }
            let inside = unsafe contents.map { unsafe String(cString: $0) } ?? ""
            guard budget.takeValue(), let value = value(type, inside, depth, &budget) else { return nil }
            values.append(value)
        }
    }

    private func value(
        _ type: CChar,
        _ inside: String,
        _ depth: Int,
        _ budget: inout Budget
    ) -> BusValue? {
        switch Unicode.Scalar(UInt8(bitPattern: type)) {
        case "s", "g": return text(type, &budget).map(BusValue.string)
        case "o": return text(type, &budget).map(BusValue.path)
        case "b": return number(type, CInt.self).map { .boolean($0 != 0) }
        case "y": return number(type, UInt8.self).map(BusValue.byte)
        case "n": return number(type, Int16.self).map { .number(Int64($0)) }
        case "q": return number(type, UInt16.self).map { .number(Int64($0)) }
        case "i": return number(type, Int32.self).map(BusValue.int32)
        case "u": return number(type, UInt32.self).map(BusValue.uint32)
        case "x": return number(type, Int64.self).map(BusValue.number)
        case "t": return number(type, UInt64.self).map { .number(Int64(clamping: $0)) }
        case "d":
            return number(type, UInt64.self).map { .number(Int64(exactly: Double(bitPattern: $0).rounded()) ?? 0) }
        // The file descriptor is not used. The message owns it and closes it.
        case "h": return number(type, Int32.self).map { _ in .list([]) }
        case "a" where inside == "y": return bytes(&budget).map(BusValue.bytes)
        case "a", "v", "r", "e":
            guard unsafe ocn_bus_message_enter_container(message, type, inside) >= 0,
                let values = values(depth + 1, &budget),
                unsafe ocn_bus_message_exit_container(message) >= 0
            else { return nil }
            return Self.collected(values, type, inside)
        default: return nil
        }
    }

    private static func collected(_ values: [BusValue], _ type: CChar, _ inside: String) -> BusValue {
        let variant = values.first
        if type == CChar(("v" as Unicode.Scalar).value), let variant { return variant }
        guard inside.hasPrefix("{s") else { return .list(values) }
        var members: [String: BusValue] = [:]
        for entry in values {
            if let pair = entry.values, pair.count == 2, let name = pair[0].text { members[name] = pair[1] }
        }
        return .properties(members)
    }

    private func bytes(_ budget: inout Budget) -> [UInt8]? {
        var start: UnsafeRawPointer?
        var count = 0
        guard unsafe ocn_bus_message_read_array(message, 0x79, &start, &count) >= 0, budget.take(count) else {
            return nil
        }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    private func text(_ type: CChar, _ budget: inout Budget) -> String? {
        var text: UnsafePointer<CChar>?
        guard unsafe ocn_bus_message_read_basic(message, type, &text) > 0, let text = unsafe text,
            budget.take(unsafe strlen(text))
        else { return nil }
        return unsafe String(validatingCString: text)
    }

    private func number<Number: FixedWidthInteger>(_ type: CChar, _: Number.Type) -> Number? {
        var number: Number = 0
        return unsafe ocn_bus_message_read_basic(message, type, &number) > 0 ? number : nil
    }
}
