// SPDX-License-Identifier: Apache-2.0

/// Reads JSON in UTF-8 (RFC 8259), strictly and with a limited depth.
///
/// Use it where Foundation is not available, or where repeated keys, positions or the original text of values matter:
/// Foundation reports none of them. It rejects everything outside of RFC 8259, such as comments, a comma after the last
/// element, and half of a surrogate pair. The size of a text is not limited: check it first.
public struct JSONReader {
    /// Why a text is not valid JSON.
    public struct Problem: Error {
        /// The offset of the error from the start of the range that was read.
        public var offset: Int
        /// The problem: a clause without a capital letter and a full stop, to end a sentence with.
        public var reason: String
    }

    // The parser uses an index into the text, because shrinking slices would take longer than the parsing.
    private let text: [UInt8]
    private var position: Int
    private let end: Int
    private let maximumDepth: Int
    /// How many more values are allowed.
    private var countLeft: Int

    /// Reads a text with one value.
    ///
    /// - Parameters:
    ///   - text: the text. A byte order mark at its start is not skipped.
    ///   - range: the bytes of the text to read; nil for all.
    ///   - maximumDepth: how deep objects and arrays may be nested. A text without objects and arrays has depth 0.
    ///   - maximumCount: the maximum number of values. It limits the memory and time for a long text of short values.
    /// - Returns: the value. Its ranges count from the start of `text`.
    /// - Throws: ``Problem`` when the range is not one JSON value, is nested more deeply, or has more values.
    public static func read(
        _ text: [UInt8],
        in range: Range<Int>? = nil,
        maximumDepth: Int,
        maximumCount: Int = .max
    ) throws(Problem) -> JSONNode {
        let range = range ?? text.indices
        let (start, end) = (range.lowerBound, range.upperBound)
        var reader = JSONReader(
            text: text,
            position: start,
            end: end,
            maximumDepth: maximumDepth,
            countLeft: maximumCount
        )
        do throws(Problem) {
            let value = try reader.value(depth: 0)
            reader.skipSpace()
            guard reader.position == reader.end else { throw reader.problem("there is extra text after the JSON") }
            return value
        } catch {
            throw Problem(offset: error.offset - start, reason: error.reason)
        }
    }

    private func problem(_ reason: String) -> Problem { Problem(offset: position, reason: reason) }

    private mutating func skipSpace() {
        while position < end {
            let byte = text[position]
            guard byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D else { return }
            position += 1
        }
    }

    /// Returns the next byte that is not white space.
    private mutating func next() throws(Problem) -> UInt8 {
        skipSpace()
        guard position < end else { throw problem("the JSON ends too early") }
        return text[position]
    }

    /// Consumes a byte if it is the next one that is not white space.
    private mutating func take(_ byte: UInt8) throws(Problem) -> Bool {
        guard try next() == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(Problem) -> JSONNode {
        let first = try next()
        guard countLeft > 0 else { throw problem("there are too many values") }
        countLeft -= 1
        let start = position
        let content: JSONNode.Content
        switch first {
        case 0x7B: content = .object(try object(depth: depth))
        case 0x5B: content = .array(try array(depth: depth))
        case 0x22: content = .string(try string())
        case 0x74: content = try word("true", .bool(true))
        case 0x66: content = try word("false", .bool(false))
        case 0x6E: content = try word("null", .null)
        case 0x2D, 0x30...0x39: content = .number(try number())
        default: throw problem(first == 0 || first >= 0x80 ? "the text is not UTF-8" : "no JSON value starts here")
        }
        return JSONNode(content: content, range: start..<position)
    }

    private mutating func open(depth: Int) throws(Problem) {
        guard depth < maximumDepth else { throw problem("the values are nested too deeply") }
        position += 1
    }

    private mutating func object(depth: Int) throws(Problem) -> [JSONNode.Member] {
        try open(depth: depth)
        if try take(0x7D) { return [] }
        var members: [JSONNode.Member] = []
        repeat {
            guard try next() == 0x22 else { throw problem("a key in quotes is expected here") }
            let start = position
            let key = String(decoding: try string(), as: UTF8.self)
            let range = start..<position
            guard try take(0x3A) else { throw problem("a colon is missing after the key") }
            members.append(JSONNode.Member(key: key, keyRange: range, value: try value(depth: depth + 1)))
        } while try take(0x2C)
        guard try take(0x7D) else { throw problem("a comma or } is missing") }
        return members
    }

    private mutating func array(depth: Int) throws(Problem) -> [JSONNode] {
        try open(depth: depth)
        if try take(0x5D) { return [] }
        var elements: [JSONNode] = []
        repeat { elements.append(try value(depth: depth + 1)) } while try take(0x2C)
        guard try take(0x5D) else { throw problem("a comma or ] is missing") }
        return elements
    }

    private mutating func word(_ word: String, _ content: JSONNode.Content) throws(Problem) -> JSONNode.Content {
        let count = word.utf8.count
        guard end - position >= count, text[position..<position + count].elementsEqual(word.utf8) else {
            throw problem("no JSON value starts here")
        }
        position += count
        return content
    }

    private mutating func number() throws(Problem) -> String {
        let start = position
        func fault(_ offset: Int) -> Problem {
            Problem(offset: offset, reason: "the number is not valid JSON")
        }
        _ = takeOne(of: "-")
        let first = position
        let whole = takeDigits()
        guard whole > 0 else { throw fault(start) }
        guard whole == 1 || text[first] != 0x30 else { throw fault(position) }
        if takeOne(of: "."), takeDigits() == 0 { throw fault(position) }
        if takeOne(of: "eE") {
            _ = takeOne(of: "+-")
            guard takeDigits() > 0 else { throw fault(position) }
        }
        return String(decoding: text[start..<position], as: UTF8.self)
    }

    private mutating func takeOne(of characters: StaticString) -> Bool {
        guard position < end, characters.withUTF8Buffer({ unsafe $0.contains(text[position]) }) else { return false }
        position += 1
        return true
    }

    private mutating func takeDigits() -> Int {
        let start = position
        while position < end, (0x30...0x39).contains(text[position]) { position += 1 }
        return position - start
    }

    private mutating func string() throws(Problem) -> [UInt8] {
        let quote = position
        position += 1
        var bytes: [UInt8] = []
        var start = position
        var isASCII = true
        while position < end {
            let byte = text[position]
            switch byte {
            case 0x22:
                bytes += text[start..<position]
                position += 1
                guard isASCII || String(validating: bytes, as: UTF8.self) != nil else {
                    throw Problem(offset: quote, reason: "the text is not UTF-8")
                }
                return bytes
            case 0x5C:
                bytes += text[start..<position]
                try escape(into: &bytes)
                start = position
            case 0..<0x20: throw problem("a string has a control character")
            default:
                if byte >= 0x80 { isASCII = false }
                position += 1
            }
        }
        throw problem("a string does not end")
    }

    /// Reads a backslash and the characters after it, and appends the character that they stand for.
    private mutating func escape(into bytes: inout [UInt8]) throws(Problem) {
        guard position + 1 < end else {
            position = end
            throw problem("a string does not end")
        }
        switch text[position + 1] {
        case 0x22, 0x5C, 0x2F: bytes.append(text[position + 1])
        case 0x62: bytes.append(0x08)
        case 0x66: bytes.append(0x0C)
        case 0x6E: bytes.append(0x0A)
        case 0x72: bytes.append(0x0D)
        case 0x74: bytes.append(0x09)
        case 0x75: return bytes.append(contentsOf: String(Character(try escapedScalar())).utf8)
        default: throw problem("the escape is not valid JSON")
        }
        position += 2
    }

    /// Reads the character of one `\u` escape, or of two that form a surrogate pair.
    private mutating func escapedScalar() throws(Problem) -> Unicode.Scalar {
        var value = UInt32(try codeUnit())
        if 0xD800...0xDBFF ~= value, position + 1 < end, text[position] == 0x5C, text[position + 1] == 0x75 {
            let low = UInt32(try codeUnit())
            guard 0xDC00...0xDFFF ~= low else { throw problem("the escape is half of a surrogate pair") }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw problem("the escape is half of a surrogate pair") }
        return scalar
    }

    private mutating func codeUnit() throws(Problem) -> UInt16 {
        position += 2
        let digits = text[position..<min(position + 4, end)]
        // `UInt16` would also accept a sign, which is not allowed in an escape.
        guard digits.count == 4, digits.allSatisfy({ $0 != 0x2B && $0 != 0x2D }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw problem("the escape is not valid JSON") }
        position += 4
        return unit
    }
}

/// A value in a JSON text, with its position in the text. ``JSONReader`` creates it.
///
/// Numbers are kept as written, so nothing is rounded. Every range is a range of bytes in the text that was read.
public struct JSONNode: Sendable {
    /// The value. Strings are UTF-8 bytes without escapes. Many strings are hex, so no `String` is created for them.
    public enum Content: Sendable {
        case null
        case bool(Bool)
        /// A number as written, of any size.
        case number(String)
        case string([UInt8])
        case array([JSONNode])
        /// The members in order. A key may occur twice.
        case object([Member])
    }

    /// A member of an object.
    public struct Member: Sendable {
        /// The key, with its escapes resolved.
        public var key: String
        /// The bytes of the key in the text, with its quotes.
        public var keyRange: Range<Int>
        /// The member's value.
        public var value: JSONNode
    }

    /// The value.
    public var content: Content
    /// The bytes of the value in the text.
    public var range: Range<Int>

    /// The string; nil for another kind of value.
    public var string: String? {
        if case .string(let utf8) = content { String(decoding: utf8, as: UTF8.self) } else { nil }
    }

    /// The elements of an array; nil for another kind of value.
    public var array: [JSONNode]? { if case .array(let elements) = content { elements } else { nil } }

    /// The integer; nil for another kind of value, for a number with a fraction or an exponent, and for a number too
    /// large for `Int`.
    public var integer: Int? { if case .number(let text) = content { Int(text) } else { nil } }

    /// The Boolean; nil for another kind of value.
    public var bool: Bool? { if case .bool(let bool) = content { bool } else { nil } }
}

/// A line with a JSON object. Its values are strings, integers, Booleans and lists of strings. Every key occurs once.
///
/// Use it for files with one object per line. For other JSON use ``JSONReader``.
public struct JSONLine: Sendable {
    /// Why a line is not valid.
    public struct Failure: Error {
        /// The reason, as a sentence.
        public var reason: String

        /// Creates a failure.
        public init(reason: String) { self.reason = reason }
    }

    private let members: [String: JSONNode]

    /// Reads one line from a range of a text.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - range: the line's bytes, without a line feed.
    ///   - allowsNull: whether a value may be `null`. Such a member is treated as missing.
    /// - Throws: ``Failure`` when the line is not such an object.
    public init(_ text: [UInt8], _ range: Range<Int>, allowsNull: Bool = false) throws(Failure) {
        let line: JSONNode
        do throws(JSONReader.Problem) {
            line = try JSONReader.read(text, in: range, maximumDepth: 2)
        } catch {
            throw Failure(reason: "Invalid JSON at character \(error.offset + 1): \(error.reason).")
        }
        guard case .object(let list) = line.content else { throw Failure(reason: "A line must be a JSON object.") }
        var members: [String: JSONNode] = [:]
        for (key, value) in list.map({ ($0.key, $0.value) }) {
            guard Self.isAllowed(value, allowsNull) else {
                throw Failure(reason: "\"\(VisibleText.escaped(key))\" has a value of the wrong type.")
            }
            guard members.updateValue(value, forKey: key) == nil else {
                throw Failure(reason: "\"\(VisibleText.escaped(key))\" occurs twice.")
            }
        }
        self.members = members
    }

    private static func isAllowed(_ value: JSONNode, _ allowsNull: Bool) -> Bool {
        switch value.content {
        case .null: allowsNull
        case .bool, .string: true
        case .number: value.integer != nil
        case .array(let elements): elements.allSatisfy { if case .string = $0.content { true } else { false } }
        case .object: false
        }
    }

    private func value(_ key: String) -> JSONNode? {
        guard let value = members[key] else { return nil }
        if case .null = value.content { return nil }
        return value
    }

    /// The value of a member; nil when it is missing or null.
    public subscript(key: String) -> JSONNode.Content? { value(key)?.content }

    /// The string of a member; nil when it is missing or not a string.
    public func string(_ key: String) -> String? { value(key)?.string }

    /// The number of a member; nil when it is missing or not an integer.
    public func number(_ key: String) -> Int? { value(key)?.integer }

    /// The Boolean of a member; nil when it is missing or not a Boolean.
    public func bool(_ key: String) -> Bool? { value(key)?.bool }

    /// The strings of a member; nil when it is missing or not a list.
    public func strings(_ key: String) -> [String]? { value(key)?.array?.compactMap(\.string) }
}
