// SPDX-License-Identifier: Apache-2.0

/// Reads JSON and records the place of each value.
struct JSONText {
    private var cursor: ByteCursor

    static func read(_ bytes: [UInt8]) throws(FormatError) -> ConfigValue {
        var reader = JSONText(cursor: ByteCursor(bytes))
        reader.cursor.skipBlanks()
        let value = try reader.value(depth: 0)
        reader.cursor.skipBlanks()
        guard reader.cursor.isAtEnd else { throw reader.cursor.error("Something stands behind the JSON.") }
        return value
    }

    private mutating func value(depth: Int) throws(FormatError) -> ConfigValue {
        guard depth < ByteCursor.deepest else { throw cursor.error("Values are nested too deep.") }
        let position = cursor.position
        let start = cursor.offset
        let content: ConfigValue.Content
        switch cursor.byte {
        case 0x7B: content = .dictionary(try entries(depth: depth))
        case 0x5B: content = .array(try elements(depth: depth))
        case 0x22: content = .string(try text())
        default:
            while let byte = cursor.byte, byte > 0x20, !",]}:\"".utf8.contains(byte) { cursor.advance() }
            let word = cursor.text(from: start)
            switch word {
            case "true", "false": content = .boolean(word == "true")
            case "null": content = .other("null")
            default:
                guard Double(word) != nil else { throw cursor.error("This is no JSON.") }
                content = .number(word)
            }
        }
        return ConfigValue(content, position, range: start..<cursor.offset)
    }

    private mutating func entries(depth: Int) throws(FormatError) -> [ConfigValue.Entry] {
        var entries: [ConfigValue.Entry] = []
        cursor.advance()
        cursor.skipBlanks()
        while cursor.byte != 0x7D {
            let position = cursor.position
            let offset = cursor.offset
            guard cursor.byte == 0x22 else { throw cursor.error("A key is missing.") }
            let key = try text()
            cursor.skipBlanks()
            guard cursor.byte == 0x3A else { throw cursor.error("A colon is missing.") }
            cursor.advance()
            cursor.skipBlanks()
            let value = try value(depth: depth + 1)
            entries.append(ConfigValue.Entry(key: key, position: position, offset: offset, value: value))
            try separate(0x7D)
        }
        cursor.advance()
        return entries
    }

    private mutating func elements(depth: Int) throws(FormatError) -> [ConfigValue] {
        var values: [ConfigValue] = []
        cursor.advance()
        cursor.skipBlanks()
        while cursor.byte != 0x5D {
            values.append(try value(depth: depth + 1))
            try separate(0x5D)
        }
        cursor.advance()
        return values
    }

    private mutating func separate(_ end: UInt8) throws(FormatError) {
        cursor.skipBlanks()
        if cursor.byte == 0x2C {
            cursor.advance()
            cursor.skipBlanks()
        } else if cursor.byte != end {
            throw cursor.error("A comma or a bracket is missing.")
        }
    }

    private mutating func text() throws(FormatError) -> String {
        cursor.advance()
        var bytes: [UInt8] = []
        while let byte = cursor.byte {
            cursor.advance()
            if byte == 0x22 { return String(decoding: bytes, as: UTF8.self) }
            guard byte == 0x5C, let next = cursor.byte else {
                bytes.append(byte)
                continue
            }
            cursor.advance()
            switch next {
            case 0x6E: bytes.append(0x0A)
            case 0x74: bytes.append(0x09)
            case 0x72: bytes.append(0x0D)
            case 0x62: bytes.append(0x08)
            case 0x66: bytes.append(0x0C)
            case 0x75: bytes += escape()
            default: bytes.append(next)
            }
        }
        throw cursor.error("A text has no end.")
    }

    /// Four hex digits, or two such escapes for a character beyond the basic plane.
    private mutating func escape() -> [UInt8] {
        let first = unit()
        var units = [first]
        if (0xD800..<0xDC00).contains(first), cursor.starts(with: "\\u") {
            cursor.advance(2)
            units.append(unit())
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private mutating func unit() -> UInt16 {
        let start = cursor.offset
        while cursor.offset - start < 4, let byte = cursor.byte, Character(Unicode.Scalar(byte)).isHexDigit {
            cursor.advance()
        }
        return UInt16(cursor.text(from: start), radix: 16) ?? 0xFFFD
    }
}
