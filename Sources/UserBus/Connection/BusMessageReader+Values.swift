// SPDX-License-Identifier: Apache-2.0

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
        case .octets(let value): octets(value)
        case .strings(let texts): array(of: "s") { writer in for text in texts { writer.string(text) } }
        case .properties(let members):
            array(of: "{sv}") { writer in
                for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                    writer.container("e", "sv") { writer in
                        writer.string(name)
                        writer.container("v", value.signature) { $0.value(value) }
                    }
                }
            }
        case .number, .list: basic("?", 0)
        }
    }

    private mutating func basic(_ type: Unicode.Scalar, _ text: String) {
        note(unsafe text.withCString { unsafe library.appendBasic(message, CChar(type.value), $0) })
    }

    private mutating func basic(_ type: Unicode.Scalar, _ number: some FixedWidthInteger) {
        var number = number
        note(unsafe library.appendBasic(message, CChar(type.value), &number))
    }

    private mutating func container(
        _ type: Unicode.Scalar,
        _ contents: String,
        _ body: (inout BusMessageWriter) -> Void
    ) {
        note(unsafe library.openContainer(message, CChar(type.value), contents))
        body(&self)
        note(unsafe library.closeContainer(message))
    }
}

extension BusMessageReader {
    /// More values than that of one container are not looked at.
    private static var maximumCount: Int { 4096 }

    /// Reads all values that are left; nil when one can't be read.
    func values(_ library: LibSystemdMessages, depth: Int = 0) -> [BusValue]? {
        var values: [BusValue] = []
        guard depth < 16 else { return nil }
        while values.count < Self.maximumCount {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let status = unsafe library.peekType(message, &type, &contents)
            guard status >= 0 else { return nil }
            guard status > 0 else { return values }
            let inside = unsafe contents.map { unsafe String(cString: $0) } ?? ""
            guard let value = value(type, inside, library, depth) else { return nil }
            values.append(value)
        }
        return nil
    }

    private func value(
        _ type: CChar,
        _ inside: String,
        _ library: LibSystemdMessages,
        _ depth: Int
    ) -> BusValue? {
        switch Unicode.Scalar(UInt8(bitPattern: type)) {
        case "s", "g": return text(type).map(BusValue.string)
        case "o": return text(type).map(BusValue.path)
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
        // A file is not taken: the message keeps it and closes it.
        case "h": return number(type, Int32.self).map { _ in .list([]) }
        case "a" where inside == "y": return octets().map(BusValue.octets)
        case "a", "v", "r", "e":
            guard unsafe library.enterContainer(message, type, inside) >= 0,
                let values = values(library, depth: depth + 1), unsafe library.exitContainer(message) >= 0
            else {
                return nil
            }
            return Self.collected(values, type, inside)
        default: return nil
        }
    }

    private static func collected(_ values: [BusValue], _ type: CChar, _ inside: String) -> BusValue {
        if type == CChar(("v" as Unicode.Scalar).value) { return values.first ?? .list([]) }
        guard inside.hasPrefix("{s") else { return .list(values) }
        var members: [String: BusValue] = [:]
        for entry in values {
            if let pair = entry.values, pair.count == 2, let name = pair[0].text { members[name] = pair[1] }
        }
        return .properties(members)
    }

    private func text(_ type: CChar) -> String? {
        var text: UnsafePointer<CChar>?
        guard unsafe self.library.readBasic(message, type, &text) > 0, let text = unsafe text else { return nil }
        return unsafe String(validatingCString: text)
    }

    private func number<Number: FixedWidthInteger>(_ type: CChar, _: Number.Type) -> Number? {
        var number: Number = 0
        return unsafe self.library.readBasic(message, type, &number) > 0 ? number : nil
    }
}
