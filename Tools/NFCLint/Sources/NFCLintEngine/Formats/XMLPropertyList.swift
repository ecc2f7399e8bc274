// SPDX-License-Identifier: Apache-2.0

/// Parses a property list in XML, and records the position of each value.
///
/// Supports only the syntax of property lists. Declared entities are not expanded, so the output stays bounded.
struct XMLPropertyList {
    private var cursor: ByteCursor

    static func read(_ bytes: [UInt8]) throws(FormatError) -> ConfigValue {
        var reader = XMLPropertyList(cursor: ByteCursor(bytes))
        guard let tag = try reader.nextTag(), tag.name == "plist", !tag.isEmpty else {
            throw reader.cursor.error("The file is not a property list.")
        }
        guard let first = try reader.nextTag() else { throw reader.cursor.error("The property list is empty.") }
        return try reader.value(first, depth: 0)
    }

    private struct Tag {
        var name: String
        var isEnd: Bool
        var isEmpty: Bool
        var position: Position
        var offset: Int
    }

    /// The next tag, skipping comments, instructions and the document type; nil at the end.
    private mutating func nextTag() throws(FormatError) -> Tag? {
        while !cursor.isAtEnd {
            guard cursor.byte == 0x3C else {
                cursor.advance()
                continue
            }
            if cursor.starts(with: "<!--") {
                guard cursor.skip(past: "-->") else { throw cursor.error("A comment is not closed.") }
            } else if cursor.starts(with: "<?") {
                guard cursor.skip(past: "?>") else { throw cursor.error("A processing instruction is not closed.") }
            } else if cursor.starts(with: "<!") {
                try skipDocumentType()
            } else {
                return try tag()
            }
        }
        return nil
    }

    private mutating func skipDocumentType() throws(FormatError) {
        var depth = 0
        while let byte = cursor.byte {
            cursor.advance()
            switch byte {
            case 0x5B: depth += 1
            case 0x5D: depth -= 1
            case 0x3E where depth <= 0: return
            default: break
            }
        }
        throw cursor.error("The document type is not closed.")
    }

    private mutating func tag() throws(FormatError) -> Tag {
        let position = cursor.position
        let offset = cursor.offset
        cursor.advance()
        let isEnd = cursor.byte == 0x2F
        if isEnd { cursor.advance() }
        let start = cursor.offset
        while let byte = cursor.byte, byte != 0x3E, byte != 0x2F, byte > 0x20 { cursor.advance() }
        let name = cursor.text(from: start)
        var isEmpty = false
        while let byte = cursor.byte, byte != 0x3E {
            isEmpty = byte == 0x2F
            cursor.advance()
        }
        guard cursor.byte == 0x3E else { throw cursor.error("A tag is not closed.") }
        cursor.advance()
        return Tag(name: name, isEnd: isEnd, isEmpty: isEmpty, position: position, offset: offset)
    }

    /// Reads the text up to the closing tag.
    private mutating func text(_ tag: Tag) throws(FormatError) -> String {
        guard !tag.isEmpty else { return "" }
        var bytes: [UInt8] = []
        while let byte = cursor.byte {
            if cursor.starts(with: "<![CDATA[") {
                cursor.advance(9)
                let start = cursor.offset
                guard cursor.skip(past: "]]>") else { throw cursor.error("A CDATA section is not closed.") }
                bytes += cursor.bytes[start..<(cursor.offset - 3)]
            } else if cursor.starts(with: "<!--") {
                guard cursor.skip(past: "-->") else { throw cursor.error("A comment is not closed.") }
            } else if byte == 0x3C {
                let end = try self.tag()
                guard end.isEnd, end.name == tag.name else { throw cursor.error("<\(tag.name)> is not closed.") }
                return String(decoding: bytes, as: UTF8.self)
            } else if byte == 0x26 {
                bytes += entity()
            } else {
                bytes.append(byte)
                cursor.advance()
            }
        }
        throw cursor.error("<\(tag.name)> is not closed.")
    }

    private mutating func entity() -> [UInt8] {
        let start = cursor.offset
        cursor.advance()
        while let byte = cursor.byte, byte != 0x3B, cursor.offset - start < 12 { cursor.advance() }
        let name = cursor.text(from: start + 1)
        cursor.advance()
        switch name {
        case "amp": return [0x26]
        case "lt": return [0x3C]
        case "gt": return [0x3E]
        case "quot": return [0x22]
        case "apos": return [0x27]
        default:
            let isHex = name.hasPrefix("#x")
            let number = UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10)
            guard name.hasPrefix("#"), let scalar = number.flatMap(Unicode.Scalar.init) else { return [0x3F] }
            return Array(String(Character(scalar)).utf8)
        }
    }

    private mutating func value(_ tag: Tag, depth: Int) throws(FormatError) -> ConfigValue {
        guard depth < ByteCursor.deepest else { throw cursor.error("Values are nested too deep.") }
        guard !tag.isEnd else { throw cursor.error("A value is missing before </\(tag.name)>.") }
        let content: ConfigValue.Content
        switch tag.name {
        case "string": content = .string(try text(tag))
        case "integer", "real": content = .number(try text(tag))
        case "true", "false":
            content = .boolean(tag.name == "true")
            if !tag.isEmpty { _ = try text(tag) }
        case "date", "data":
            _ = try text(tag)
            content = .other("a \(tag.name)")
        case "array": content = .array(try array(tag, depth: depth))
        case "dict": content = .dictionary(try dictionary(tag, depth: depth))
        default: throw cursor.error("Property lists have no element <\(tag.name)>.")
        }
        return ConfigValue(content, tag.position, range: tag.offset..<cursor.offset)
    }

    private mutating func array(_ tag: Tag, depth: Int) throws(FormatError) -> [ConfigValue] {
        var values: [ConfigValue] = []
        guard !tag.isEmpty else { return values }
        while let next = try nextTag() {
            if next.isEnd, next.name == "array" { return values }
            values.append(try value(next, depth: depth + 1))
        }
        throw cursor.error("<array> is not closed.")
    }

    private mutating func dictionary(_ tag: Tag, depth: Int) throws(FormatError) -> [ConfigValue.Entry] {
        var entries: [ConfigValue.Entry] = []
        guard !tag.isEmpty else { return entries }
        while let next = try nextTag() {
            if next.isEnd, next.name == "dict" { return entries }
            guard next.name == "key", !next.isEnd else { throw cursor.error("A key is missing before <\(next.name)>.") }
            let key = try text(next)
            guard let following = try nextTag() else { break }
            let value = try value(following, depth: depth + 1)
            entries.append(
                ConfigValue.Entry(key: key, position: next.position, offset: next.offset, value: value)
            )
        }
        throw cursor.error("<dict> is not closed.")
    }
}
