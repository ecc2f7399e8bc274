// SPDX-License-Identifier: Apache-2.0

/// Reads JSON in UTF-8 (RFC 8259), strictly and with a limited depth. It reports keys that an object has more than
/// once.
struct JSONReader {
    /// The deepest nesting of objects and arrays.
    static let maximumDepth = 128

    /// Why the bytes are not valid JSON.
    struct Problem: Error {
        /// The offset of the error.
        var offset: Int
        /// The problem, as the end of a sentence.
        var reason: String
    }

    /// The result of reading.
    struct Content {
        var value: JSONValue
        /// The keys that an object has more than once, with the position of the object. The first value of a key is
        /// used.
        var repeatedKeys: [(place: String, key: String)]
    }

    private let bytes: [UInt8]
    private var index = 0
    private var path: [String] = []
    private var repeatedKeys: [(place: String, key: String)] = []

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads JSON. A byte order mark at the start is skipped.
    static func read(_ bytes: [UInt8]) throws(Problem) -> Content {
        var reader = JSONReader(bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.index = 3 }
        let value = try reader.value(depth: 0)
        reader.skipBlanks()
        guard reader.index == bytes.count else { throw reader.problem("something follows the end of the JSON") }
        return Content(value: value, repeatedKeys: reader.repeatedKeys)
    }

    private func problem(_ reason: String) -> Problem { Problem(offset: index, reason: reason) }

    private mutating func skipBlanks() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    /// Returns the next byte that is not white space.
    private mutating func next() throws(Problem) -> UInt8 {
        skipBlanks()
        guard index < bytes.count else { throw problem("the JSON ends too early") }
        return bytes[index]
    }

    /// Consumes a byte if it is the next one that is not white space.
    private mutating func take(_ byte: Unicode.Scalar) throws(Problem) -> Bool {
        guard try next() == UInt8(ascii: byte) else { return false }
        index += 1
        return true
    }

    private mutating func value(depth: Int) throws(Problem) -> JSONValue {
        guard depth < Self.maximumDepth else { throw problem("the values are nested too deeply") }
        switch try next() {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), 0x30...0x39: return try number()
        case let byte: throw problem(byte == 0 || byte >= 0x80 ? "the text is not UTF-8" : "no JSON value starts")
        }
    }

    private mutating func object(_ depth: Int) throws(Problem) -> JSONValue {
        index += 1
        var result: [String: JSONValue] = [:]
        if try take("}") { return .object(result) }
        repeat {
            guard try next() == UInt8(ascii: "\"") else { throw problem("a key has to stand here, in quotes") }
            let key = try string()
            guard try take(":") else { throw problem("a colon is missing behind the key") }
            path.append(path.isEmpty ? key : ".\(key)")
            let value = try value(depth: depth + 1)
            path.removeLast()
            if result[key] == nil {
                result[key] = value
            } else {
                repeatedKeys.append((path.isEmpty ? "The file" : path.joined(), key))
            }
        } while try take(",")
        guard try take("}") else { throw problem("a comma or } is missing") }
        return .object(result)
    }

    private mutating func array(_ depth: Int) throws(Problem) -> JSONValue {
        index += 1
        var result: [JSONValue] = []
        if try take("]") { return .array(result) }
        repeat {
            path.append("[\(result.count)]")
            result.append(try value(depth: depth + 1))
            path.removeLast()
        } while try take(",")
        guard try take("]") else { throw problem("a comma or ] is missing") }
        return .array(result)
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(Problem) -> JSONValue {
        guard bytes[index...].starts(with: word.utf8) else { throw problem("no JSON value starts") }
        index += word.utf8.count
        return value
    }

    /// Reads a number of any size. Its value is not kept.
    private mutating func number() throws(Problem) -> JSONValue {
        func fault() -> Problem { problem("the number is not written as JSON has it") }
        if bytes[index] == UInt8(ascii: "-") { index += 1 }
        let start = index
        let whole = digits()
        guard whole == 1 || whole > 1 && bytes[start] != 0x30 else { throw fault() }
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index += 1
            guard digits() > 0 else { throw fault() }
        }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < bytes.count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[index]) { index += 1 }
            guard digits() > 0 else { throw fault() }
        }
        return .number
    }

    private mutating func digits() -> Int {
        let start = index
        while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
        return index - start
    }

    private mutating func string() throws(Problem) -> String {
        let start = index
        index += 1
        var text: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                guard let result = String(validating: text, as: UTF8.self) else {
                    throw Problem(offset: start, reason: "the text is not UTF-8")
                }
                return result
            case UInt8(ascii: "\\"): text += try escaped()
            case ..<0x20: throw problem("a text has a control character")
            default:
                text.append(byte)
                index += 1
            }
        }
        throw Problem(offset: start, reason: "a text does not end")
    }

    /// Reads a backslash with the characters after it, and returns what they mean.
    private mutating func escaped() throws(Problem) -> [UInt8] {
        guard index + 1 < bytes.count else { throw problem("a text does not end") }
        let letter = bytes[index + 1]
        let plain: UInt8
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain = letter
        case UInt8(ascii: "b"): plain = 0x08
        case UInt8(ascii: "f"): plain = 0x0C
        case UInt8(ascii: "n"): plain = 0x0A
        case UInt8(ascii: "r"): plain = 0x0D
        case UInt8(ascii: "t"): plain = 0x09
        case UInt8(ascii: "u"): return try escapedScalar()
        default: throw problem("JSON has no such escape")
        }
        index += 2
        return [plain]
    }

    private mutating func escapedScalar() throws(Problem) -> [UInt8] {
        let start = index
        var units = [try unit()]
        if 0xD800...0xDBFF ~= units[0], bytes[index...].starts(with: "\\u".utf8) { units.append(try unit()) }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw Problem(offset: start, reason: "the escape is half a character")
        }
        return Array(text.utf8)
    }

    private mutating func unit() throws(Problem) -> UInt16 {
        let digits = bytes[index...].dropFirst(2).prefix(4)
        let isHex = digits.count == 4 && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
        guard isHex, let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16) else {
            throw problem("JSON has no such escape")
        }
        index += 6
        return unit
    }
}
