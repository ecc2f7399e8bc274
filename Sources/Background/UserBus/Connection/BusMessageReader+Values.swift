// SPDX-License-Identifier: Apache-2.0
import CSDBus
import Glibc

extension BusMessageWriter {
    /// Writes a value.
    mutating func value(_ value: BusValue) {
        switch value {
        case .string(let text): string(text)
        case .path(let text): basic("o", text)
        case .boolean(let value): boolean(value)
        case .byte(let value): basic("y", value)
        case .int32(let value): basic("i", value)
        case .uint32(let value): basic("u", value)
        case .bytes(let value): bytes(value)
        case .strings(let texts): array(of: "s") { writer in for text in texts { writer.string(text) } }
        case .properties(let members):
            array(of: "{sv}") { writer in
                for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                    writer.entry(name, value.signature) { $0.value(value) }
                }
            }
        case .number, .list: note(-EINVAL)
        }
    }

    private mutating func basic(_ type: Unicode.Scalar, _ text: String) {
        note(unsafe text.withCString { unsafe ocn_bus_message_append_basic(message, CChar(type.value), $0) })
    }

    private mutating func basic(_ type: Unicode.Scalar, _ number: some FixedWidthInteger) {
        var number = number
        note(unsafe ocn_bus_message_append_basic(message, CChar(type.value), &number))
    }
}

extension BusMessageReader {
    /// The limit for what is read of a message. A bus accepts messages of 128 MB from any program, and a value in
    /// memory is many times larger than in the message.
    struct Budget {
        /// The number of values. A container and each value in it count.
        var values = 1 << 14
        /// The number of bytes of texts and byte arrays. The largest picture of a notification is smaller.
        var bytes = 1 << 24

        /// Counts a value; false when there are too many.
        mutating func takeValue() -> Bool {
            values -= 1
            return values >= 0
        }

        /// Counts bytes; false when there are too many.
        mutating func take(_ size: Int) -> Bool {
            bytes -= min(size, bytes + 1)
            return bytes >= 0
        }
    }

    /// Reads all remaining values; nil when one can't be read, or the ``Budget`` is used up.
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
        case "b": return boolean().map(BusValue.boolean)
        case "y": return number(type, UInt8.self).map(BusValue.byte)
        case "n": return number(type, Int16.self).map { .number(Int64($0)) }
        case "q": return number(type, UInt16.self).map { .number(Int64($0)) }
        case "i": return number(type, Int32.self).map(BusValue.int32)
        case "u": return number(type, UInt32.self).map(BusValue.uint32)
        case "x": return number(type, Int64.self).map(BusValue.number)
        case "t": return number(type, UInt64.self).map { .number(Int64(clamping: $0)) }
        case "d":
            return number(type, UInt64.self).map { .number(Int64(exactly: Double(bitPattern: $0).rounded()) ?? 0) }
        // The file descriptor is not used. The message owns and closes it.
        case "h": return number(type, Int32.self).map { _ in .list([]) }
        case "a" where inside == "y": return bytes(&budget).map(BusValue.bytes)
        case "a", "v", "r", "e":
            guard unsafe ocn_bus_message_enter_container(message, type, inside) >= 0,
                let values = values(depth + 1, &budget),
                unsafe ocn_bus_message_exit_container(message) >= 0
            else {
                return nil
            }
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

    func bytes(_ budget: inout Budget) -> [UInt8]? {
        var start: UnsafeRawPointer?
        var count = 0
        guard unsafe ocn_bus_message_read_array(message, 0x79, &start, &count) >= 0 else { return nil }
        guard budget.take(count) else { return nil }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    func text(_ type: CChar, _ budget: inout Budget) -> String? {
        var text: UnsafePointer<CChar>?
        guard unsafe ocn_bus_message_read_basic(message, type, &text) > 0, let text = unsafe text,
            budget.take(unsafe strlen(text))
        else {
            return nil
        }
        return unsafe String(validatingCString: text)
    }

    func number<Number: FixedWidthInteger>(_ type: CChar, _: Number.Type) -> Number? {
        var number: Number = 0
        return unsafe ocn_bus_message_read_basic(message, type, &number) > 0 ? number : nil
    }
}
