// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Parses the members of one JSON object, and keeps each value's text (RFC 8259). The depth is limited.
struct JSONScanner {
    /// A member of the object.
    struct Member: Sendable {
        /// The key with its escapes resolved.
        var key: String
        /// The key as it is in the text, including quotes.
        var keyText: [UInt8]
        /// The value as it is in the text.
        var text: [UInt8]
        /// The line where the value starts, counted from 1.
        var line: Int
        /// The range of the value in the text; empty for a member that is not from a text.
        var range: Range<Int> = 0..<0
    }

    private static let maximumDepth = 32

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses the object. Nothing may follow it.
    mutating func members() throws(TagImageError) -> [Member] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        skipSpace()
        var members: [Member] = []
        var lines: [String: Int] = [:]
        try expect("{")
        skipSpace()
        if peek == UInt8(ascii: "}") {
            position += 1
        } else {
            while true {
                skipSpace()
                let keyStart = position
                let key = try string()
                let keyText = Array(bytes[keyStart..<position])
                if let earlier = lines[key] {
                    throw isThereAlready(key, earlier)
                }
                skipSpace()
                try expect(":")
                skipSpace()
                let start = position
                let startLine = line
                lines[key] = line
                try skipValue(depth: 1)
                members.append(
                    Member(
                        key: key,
                        keyText: keyText,
                        text: Array(bytes[start..<position]),
                        line: startLine,
                        range: start..<position
                    )
                )
                skipSpace()
                if peek == UInt8(ascii: ",") {
                    position += 1
                    continue
                }
                try expect("}")
                break
            }
        }
        skipSpace()
        guard position == bytes.count else {
            throw failure("There is something after the object; an image is one JSON object.")
        }
        return members
    }

    /// Returns the members of an object, with lines and ranges in the whole text; empty for another value.
    static func members(of value: Member) -> [Member] {
        var scanner = JSONScanner(value.text)
        guard value.text.first == UInt8(ascii: "{"), var members = try? scanner.members() else { return [] }
        for index in members.indices {
            let range = members[index].range
            members[index].line += value.line - 1
            members[index].range =
                (range.lowerBound + value.range.lowerBound)..<(range.upperBound + value.range.lowerBound)
        }
        return members
    }

    /// Returns the string in a value's text; nil for another kind of value.
    static func string(_ text: [UInt8]) -> String? {
        var scanner = JSONScanner(text)
        guard let string = try? scanner.string(), scanner.position == text.count else { return nil }
        return string
    }

    private var peek: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private func failure(_ reason: String) -> TagImageError {
        TagImageError(.malformed, reason, line: line)
    }

    private func isThereAlready(_ key: String, _ earlier: Int) -> TagImageError {
        failure("\"\(key)\" is in line \(earlier) already.")
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(TagImageError) {
        guard peek == UInt8(ascii: character) else {
            throw failure(
                peek == nil ? "The file ends in the middle of the object." : "A \"\(character)\" is expected here."
            )
        }
        position += 1
    }

    private mutating func skipSpace() {
        while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
            if byte == 0x0A { line += 1 }
            position += 1
        }
    }

    private mutating func skipValue(depth: Int) throws(TagImageError) {
        switch peek {
        case UInt8(ascii: "\""):
            _ = try string()
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < Self.maximumDepth else { throw failure("Values are nested too deep.") }
            try skipCollection(depth: depth)
        default:
            let start = position
            while let byte = peek, Self.isLiteral(byte) { position += 1 }
            guard Self.isValue(bytes[start..<position]) else { throw failure("A JSON value is expected here.") }
        }
    }

    private mutating func skipCollection(depth: Int) throws(TagImageError) {
        let isObject = peek == UInt8(ascii: "{")
        let end: Unicode.Scalar = isObject ? "}" : "]"
        position += 1
        skipSpace()
        if peek == UInt8(ascii: end) {
            position += 1
            return
        }
        var lines: [String: Int] = [:]
        while true {
            skipSpace()
            if isObject {
                let key = try string()
                if let earlier = lines.updateValue(line, forKey: key) { throw isThereAlready(key, earlier) }
                skipSpace()
                try expect(":")
                skipSpace()
            }
            try skipValue(depth: depth + 1)
            skipSpace()
            guard peek == UInt8(ascii: ",") else { break }
            position += 1
        }
        try expect(end)
    }

    private static func isLiteral(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }

    /// Whether a text is null, true, false or a number of at most 64 characters (RFC 8259, 3 and 6).
    private static func isValue(_ text: ArraySlice<UInt8>) -> Bool {
        if ["null", "true", "false"].contains(where: { text.elementsEqual($0.utf8) }) { return true }
        guard text.count <= 64 else { return false }
        var rest = text
        func take(_ characters: String) -> Bool {
            guard let byte = rest.first, characters.utf8.contains(byte) else { return false }
            rest.removeFirst()
            return true
        }
        func takeDigits() -> ArraySlice<UInt8> {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest[digits.endIndex...]
            return digits
        }
        _ = take("-")
        let whole = takeDigits()
        guard whole.count == 1 || (whole.count > 1 && whole.first != UInt8(ascii: "0")) else { return false }
        if take("."), takeDigits().isEmpty { return false }
        if take("eE") {
            _ = take("+-")
            if takeDigits().isEmpty { return false }
        }
        return rest.isEmpty
    }

    private mutating func string() throws(TagImageError) -> String {
        try expect("\"")
        var utf8: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: utf8, as: UTF8.self) else {
                    throw failure("A string is not UTF-8.")
                }
                return string
            case UInt8(ascii: "\\"):
                utf8 += try escape()
            case 0..<0x20:
                throw failure("A string has a control character.")
            default:
                utf8.append(byte)
            }
        }
        throw failure("The file ends in the middle of a string.")
    }

    private mutating func escape() throws(TagImageError) -> [UInt8] {
        guard let byte = peek else { throw failure("The file ends in the middle of a string.") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            var unit = try codeUnit()
            if (0xD800..<0xDC00).contains(unit), peek == UInt8(ascii: "\\") {
                position += 1
                try expect("u")
                let low = try codeUnit()
                guard (0xDC00..<0xE000).contains(low) else { throw failure("Half a surrogate pair.") }
                unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(unit) else { throw failure("Half a surrogate pair.") }
            return Array(String(Character(scalar)).utf8)
        default:
            throw failure("There is no such escape.")
        }
    }

    private mutating func codeUnit() throws(TagImageError) -> UInt32 {
        guard position + 4 <= bytes.count else { throw failure("The file ends in the middle of a string.") }
        var unit: UInt32 = 0
        for byte in bytes[position..<(position + 4)] {
            guard let digit = byte.hexDigitValue else { throw failure("Four hexadecimal digits are expected here.") }
            unit = unit << 4 | UInt32(digit)
        }
        position += 4
        return unit
    }
}
