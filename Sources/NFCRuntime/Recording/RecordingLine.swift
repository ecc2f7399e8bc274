// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A line of a recording: an object of JSON whose values are strings, whole numbers, Booleans and lists of strings.
struct RecordingLine {
    enum Value: Equatable {
        case string(String)
        case number(Int)
        case bool(Bool)
        case strings([String])
    }

    /// Why a line is not one.
    struct Failure: Error {
        var reason: String
    }

    private var members: [String: Value] = [:]

    // MARK: Writing

    /// Puts together the text of a line.
    struct Builder {
        private var text = "{"

        mutating func add(_ key: StaticString, _ string: String) { add(key, text: JSONText.quoted(string)) }
        mutating func add(_ key: StaticString, _ number: Int) { add(key, text: String(number)) }
        mutating func add(_ key: StaticString, _ bool: Bool) { add(key, text: bool ? "true" : "false") }
        mutating func add(_ key: StaticString, hex octets: [UInt8]) { add(key, text: "\"\(octets.hexText())\"") }
        mutating func add(_ key: StaticString, _ strings: [String]) {
            add(key, text: "[\(strings.map(JSONText.quoted).joined(separator: ","))]")
        }

        private mutating func add(_ key: StaticString, text value: String) {
            if text.utf8.count > 1 { text += "," }
            text += "\"\(key)\":" + value
        }

        var line: String { text + "}\n" }
    }

    // MARK: Reading

    init(_ text: ArraySlice<UInt8>) throws(Failure) {
        var parser = Parser(rest: text)
        members = try parser.object()
    }

    subscript(key: String) -> Value? { members[key] }

    func string(_ key: String) -> String? {
        if case .string(let string)? = members[key] { string } else { nil }
    }

    func number(_ key: String) -> Int? {
        if case .number(let number)? = members[key] { number } else { nil }
    }

    func bool(_ key: String) -> Bool? {
        if case .bool(let bool)? = members[key] { bool } else { nil }
    }

    func strings(_ key: String) -> [String]? {
        if case .strings(let strings)? = members[key] { strings } else { nil }
    }

    /// The octets of a member, which has to be there.
    func octets(_ key: String) throws(Failure) -> [UInt8] {
        guard let text = string(key) else { throw Failure(reason: "\"\(key)\" is missing, or is not hex.") }
        guard let octets = Self.octets(text) else { throw Failure(reason: "\"\(key)\" is not hex.") }
        return octets
    }

    /// A number of a member, which has to be there and in a range.
    func number(_ key: String, in range: ClosedRange<Int>) throws(Failure) -> Int {
        guard let number = number(key), range.contains(number) else {
            throw Failure(reason: "\"\(key)\" has to be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    private static func octets(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var octets: [UInt8] = []
        octets.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            octets.append(high << 4 | low)
        }
        return octets
    }

    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        case 0x41...0x46: digit - 0x41 + 10
        default: nil
        }
    }
}

/// Reads the object; nothing in it nests, so that depth is bounded by itself.
private struct Parser {
    var rest: ArraySlice<UInt8>

    private func failure(_ what: String) -> RecordingLine.Failure { RecordingLine.Failure(reason: what) }

    mutating func object() throws(RecordingLine.Failure) -> [String: RecordingLine.Value] {
        var members: [String: RecordingLine.Value] = [:]
        guard take("{") else { throw failure("A line has to be a JSON object.") }
        if !take("}") {
            repeat {
                let key = try string()
                guard take(":") else { throw failure("A \":\" is missing.") }
                guard members.updateValue(try value(), forKey: key) == nil else {
                    throw failure("A member is there twice.")
                }
            } while take(",")
            guard take("}") else { throw failure("The object does not end.") }
        }
        skipSpace()
        guard rest.isEmpty else { throw failure("Something follows the object.") }
        return members
    }

    private mutating func value() throws(RecordingLine.Failure) -> RecordingLine.Value {
        skipSpace()
        switch rest.first {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "["):
            rest = rest.dropFirst()
            var strings: [String] = []
            if take("]") { return .strings([]) }
            repeat { strings.append(try string()) } while take(",")
            guard take("]") else { throw failure("A list does not end.") }
            return .strings(strings)
        default: break
        }
        for (word, value) in [("true", true), ("false", false)] where rest.starts(with: word.utf8) {
            rest = rest.dropFirst(word.utf8.count)
            return .bool(value)
        }
        let digits = rest.prefix { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }
        guard let number = Int(String(decoding: digits, as: UTF8.self)) else { throw failure("A value is none.") }
        rest = rest.dropFirst(digits.count)
        return .number(number)
    }

    private mutating func string() throws(RecordingLine.Failure) -> String {
        guard take("\"") else { throw failure("A string is expected.") }
        var octets: [UInt8] = []
        while let octet = rest.popFirst() {
            switch octet {
            case UInt8(ascii: "\""):
                guard let string = String(validating: octets, as: UTF8.self) else {
                    throw failure("A string is not UTF-8.")
                }
                return string
            case UInt8(ascii: "\\"): octets += try escape()
            case 0..<0x20: throw failure("A control character is in a string.")
            default: octets.append(octet)
            }
        }
        throw failure("A string does not end.")
    }

    private mutating func escape() throws(RecordingLine.Failure) -> [UInt8] {
        switch rest.popFirst() {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case let octet? where [UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/")].contains(octet):
            return [octet]
        case UInt8(ascii: "u"):
            let digits = rest.prefix(4).compactMap(RecordingLine.value)
            guard digits.count == 4, let scalar = Unicode.Scalar(digits.reduce(UInt32(0)) { $0 << 4 | UInt32($1) })
            else {
                throw failure("An escape is none.")
            }
            rest = rest.dropFirst(4)
            return Array(String(Character(scalar)).utf8)
        default: throw failure("An escape is none.")
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func skipSpace() {
        while let octet = rest.first, octet == 0x20 || octet == 0x09 || octet == 0x0D { rest = rest.dropFirst() }
    }
}
