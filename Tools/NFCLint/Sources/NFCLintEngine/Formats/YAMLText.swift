// SPDX-License-Identifier: Apache-2.0

/// Parses basic YAML: mappings and lists by indentation or in brackets, with quoted and plain texts.
///
/// Anchors, tags and multiple documents are not supported. A text that spans several lines becomes one line.
struct YAMLText {
    private struct Line {
        var indent: Int
        var text: String
        var number: Int
    }

    private var lines: [Line] = []
    private var index = 0

    /// - Parameter isWhole: whether a line that can't be parsed is an error. If false, parsing ends there.
    static func read(_ bytes: [UInt8], isWhole: Bool = false) throws(FormatError) -> ConfigValue {
        var reader = YAMLText()
        for (number, raw) in TextLines.read(bytes).enumerated() {
            let line = withoutComment(raw)
            let text = line.drop { $0 == " " }
            guard !text.isEmpty, text != "---" else { continue }
            reader.lines.append(
                Line(indent: line.count - text.count, text: trimmed(String(text)), number: number + 1)
            )
        }
        guard let first = reader.lines.first else { return ConfigValue(.dictionary([])) }
        let value = try reader.block(first.indent, depth: 0)
        if isWhole, reader.index < reader.lines.count {
            throw FormatError("This YAML is not supported.", reader.position(reader.lines[reader.index]))
        }
        return value
    }

    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }

    private static func withoutComment(_ line: String) -> String {
        var quote: Character?
        var previous: Character = " "
        for index in line.indices {
            let character = line[index]
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "\"" || character == "'", previous == " " || previous == "[" || previous == "," {
                quote = character
            } else if character == "#", previous == " " {
                return String(line[..<index])
            }
            previous = character
        }
        return line
    }

    private func position(_ line: Line) -> Position { Position(line: line.number, column: line.indent + 1) }

    private mutating func block(_ indent: Int, depth: Int) throws(FormatError) -> ConfigValue {
        let start = lines[index]
        guard depth < ByteCursor.deepest else { throw FormatError("Values are nested too deep.", position(start)) }
        if start.text == "-" || start.text.hasPrefix("- ") { return try list(indent, depth: depth) }
        guard Self.split(start.text) != nil else {
            index += 1
            return Self.scalar(start.text, position(start))
        }
        var entries: [ConfigValue.Entry] = []
        while index < lines.count, lines[index].indent == indent, let pair = Self.split(lines[index].text) {
            let line = lines[index]
            index += 1
            let value = try self.value(pair.value, line, indent, depth: depth)
            entries.append(ConfigValue.Entry(key: pair.key, position: position(line), value: value))
        }
        return ConfigValue(.dictionary(entries), position(start))
    }

    private mutating func list(_ indent: Int, depth: Int) throws(FormatError) -> ConfigValue {
        let start = lines[index]
        var values: [ConfigValue] = []
        while index < lines.count, lines[index].indent == indent,
            lines[index].text == "-" || lines[index].text.hasPrefix("- ")
        {
            let line = lines[index]
            let rest = line.text.dropFirst().drop { $0 == " " }
            if !rest.isEmpty, Self.split(String(rest)) != nil {
                // A mapping begins after the dash.
                let inner = indent + line.text.count - rest.count
                lines[index] = Line(indent: inner, text: String(rest), number: line.number)
                values.append(try block(inner, depth: depth + 1))
            } else {
                index += 1
                values.append(try value(String(rest), line, indent, depth: depth))
            }
        }
        return ConfigValue(.array(values), position(start))
    }

    /// Parses the value after a colon or a dash, which is on the same line or on the lines below.
    private mutating func value(
        _ text: String,
        _ line: Line,
        _ indent: Int,
        depth: Int
    ) throws(FormatError) -> ConfigValue {
        if text.isEmpty {
            guard index < lines.count else { return ConfigValue(.other("null"), position(line)) }
            let next = lines[index]
            let isList = next.indent == indent && next.text.hasPrefix("-") && !line.text.hasPrefix("-")
            guard next.indent > indent || isList else { return ConfigValue(.other("null"), position(line)) }
            return try block(next.indent, depth: depth + 1)
        }
        if text.hasPrefix("|") || text.hasPrefix(">") {
            var parts: [String] = []
            while index < lines.count, lines[index].indent > indent {
                parts.append(lines[index].text)
                index += 1
            }
            return ConfigValue(.string(parts.joined(separator: text.hasPrefix("|") ? "\n" : " ")), position(line))
        }
        return Self.scalar(text, position(line))
    }

    /// Splits a line into key and value; nil if the line has no key.
    private static func split(_ text: String) -> (key: String, value: String)? {
        var quote: Character?
        for index in text.indices {
            let character = text[index]
            if let open = quote {
                if character == open { quote = nil }
                continue
            }
            if index == text.startIndex, character == "\"" || character == "'" {
                quote = character
            } else if index == text.startIndex, character == "[" || character == "{" {
                return nil
            } else if character == ":" {
                let next = text.index(after: index)
                guard next == text.endIndex || text[next] == " " else { continue }
                return (unquoted(String(text[..<index])), String(text[next...].drop { $0 == " " }))
            }
        }
        return nil
    }

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, let first = text.first, first == text.last, first == "\"" || first == "'" else {
            return text
        }
        return String(text.dropFirst().dropLast())
    }

    private static func scalar(_ text: String, _ position: Position) -> ConfigValue {
        if text.hasPrefix("["), text.hasSuffix("]") {
            return ConfigValue(.array(pieces(text).map { scalar($0, position) }), position)
        }
        if text.hasPrefix("{"), text.hasSuffix("}") {
            let entries = pieces(text).compactMap { piece in
                split(piece).map {
                    ConfigValue.Entry(key: $0.key, position: position, value: scalar($0.value, position))
                }
            }
            return ConfigValue(.dictionary(entries), position)
        }
        let plain = unquoted(text)
        if plain.count < text.count { return ConfigValue(.string(plain), position) }
        switch text {
        case "true", "yes", "YES", "True": return ConfigValue(.boolean(true), position)
        case "false", "no", "NO", "False": return ConfigValue(.boolean(false), position)
        default: return ConfigValue(Double(text) == nil ? .string(text) : .number(text), position)
        }
    }

    /// Splits a list in brackets at its commas. Nested brackets stay whole.
    private static func pieces(_ text: String) -> [String] {
        var result: [String] = []
        var current = ""
        var depth = 0
        var quote: Character?
        for character in text.dropFirst().dropLast() {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if "[{".contains(character) {
                depth += 1
            } else if "]}".contains(character) {
                depth -= 1
            } else if character == ",", depth == 0 {
                result.append(current)
                current = ""
                continue
            }
            current.append(character)
        }
        result.append(current)
        let texts = result.map { trimmed(String($0.drop { $0 == " " })) }
        // Extremely nested brackets are treated as text.
        return depth == 0 && text.count < 10_000 ? texts.filter { !$0.isEmpty } : []
    }
}
