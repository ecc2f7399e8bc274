// SPDX-License-Identifier: Apache-2.0

/// Parses a property list in the old style with braces, as used by Xcode projects and `.strings` files.
struct OldPropertyList {
    private var cursor: ByteCursor

    /// Parses a file. The outer braces may be missing, as in `.strings` files.
    static func read(_ bytes: [UInt8]) throws(FormatError) -> ConfigValue {
        var reader = OldPropertyList(cursor: ByteCursor(bytes))
        try reader.skip()
        if reader.cursor.byte == 0x7B || reader.cursor.byte == 0x28 { return try reader.value(depth: 0) }
        return ConfigValue(.dictionary(try reader.entries(depth: 0, isWhole: true)))
    }

    /// Skips whitespace and comments.
    private mutating func skip() throws(FormatError) {
        while true {
            cursor.skipBlanks()
            if cursor.starts(with: "//") {
                while let byte = cursor.byte, byte != 0x0A { cursor.advance() }
            } else if cursor.starts(with: "/*") {
                guard cursor.skip(past: "*/") else { throw cursor.error("A comment is not closed.") }
            } else {
                return
            }
        }
    }

    private mutating func value(depth: Int) throws(FormatError) -> ConfigValue {
        guard depth < ByteCursor.deepest else { throw cursor.error("Values are nested too deep.") }
        let position = cursor.position
        let start = cursor.offset
        let content: ConfigValue.Content
        switch cursor.byte {
        case 0x7B:
            cursor.advance()
            content = .dictionary(try entries(depth: depth, isWhole: false))
        case 0x28:
            cursor.advance()
            content = .array(try elements(depth: depth))
        case 0x3C:
            guard cursor.skip(past: ">") else { throw cursor.error("Data is not closed.") }
            content = .other("data")
        default: content = .string(try text())
        }
        return ConfigValue(content, position, range: start..<cursor.offset)
    }

    private mutating func entries(depth: Int, isWhole: Bool) throws(FormatError) -> [ConfigValue.Entry] {
        var entries: [ConfigValue.Entry] = []
        while true {
            try skip()
            if cursor.isAtEnd {
                guard isWhole else { throw cursor.error("A brace is not closed.") }
                return entries
            }
            if cursor.byte == 0x7D {
                cursor.advance()
                return entries
            }
            // Foundation stops at a second semicolon, and ignores the rest of a `.strings` file.
            if isWhole, cursor.byte == 0x3B { return entries }
            let position = cursor.position
            let offset = cursor.offset
            let key = try text()
            try skip()
            // In `.strings` files, a key without a value is its own value.
            var value = ConfigValue(.string(key), position)
            if cursor.byte == 0x3D {
                cursor.advance()
                try skip()
                value = try self.value(depth: depth + 1)
                try skip()
            }
            guard cursor.byte == 0x3B else { throw cursor.error("A semicolon is missing.") }
            cursor.advance()
            entries.append(ConfigValue.Entry(key: key, position: position, offset: offset, value: value))
        }
    }

    private mutating func elements(depth: Int) throws(FormatError) -> [ConfigValue] {
        var values: [ConfigValue] = []
        while true {
            try skip()
            guard let byte = cursor.byte else { throw cursor.error("A parenthesis is not closed.") }
            if byte == 0x29 {
                cursor.advance()
                return values
            }
            values.append(try value(depth: depth + 1))
            try skip()
            if cursor.byte == 0x2C { cursor.advance() }
        }
    }

    private mutating func text() throws(FormatError) -> String {
        let start = cursor.offset
        guard cursor.byte == 0x22 || cursor.byte == 0x27 else {
            while let byte = cursor.byte, byte > 0x20, !"{}()=;,\"<>".utf8.contains(byte) { cursor.advance() }
            guard cursor.offset > start else { throw cursor.error("A value is missing.") }
            return cursor.text(from: start)
        }
        let quote = cursor.byte
        cursor.advance()
        var bytes: [UInt8] = []
        while let byte = cursor.byte {
            cursor.advance()
            if byte == quote { return String(decoding: bytes, as: UTF8.self) }
            guard byte == 0x5C, let next = cursor.byte else {
                bytes.append(byte)
                continue
            }
            cursor.advance()
            switch next {
            case 0x6E: bytes.append(0x0A)
            case 0x74: bytes.append(0x09)
            case 0x72: bytes.append(0x0D)
            case 0x55, 0x75: bytes += escape()
            default: bytes.append(next)
            }
        }
        throw cursor.error("A string is not closed.")
    }

    /// Reads an escape of up to four hexadecimal digits.
    private mutating func escape() -> [UInt8] {
        let start = cursor.offset
        while cursor.offset - start < 4, let byte = cursor.byte, Character(Unicode.Scalar(byte)).isHexDigit {
            cursor.advance()
        }
        let scalar = UInt32(cursor.text(from: start), radix: 16).flatMap(Unicode.Scalar.init)
        return scalar.map { Array(String(Character($0)).utf8) } ?? [0x3F]
    }
}
