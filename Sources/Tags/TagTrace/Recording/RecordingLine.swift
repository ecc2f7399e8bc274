// SPDX-License-Identifier: Apache-2.0
import TagLink
import VisibleText

/// A line of a recording: a JSON object whose values are strings, integers, Booleans and lists of strings.
struct RecordingLine {
    enum Value {
        /// The UTF-8 bytes of a string. Most strings are hex, so no `String` is created for them.
        case string([UInt8])
        case number(Int)
        case bool(Bool)
        case strings([String])
    }

    /// Why a line is not valid.
    struct Failure: Error {
        var reason: String
    }

    /// The members. A line only has a few.
    private var members: [(key: String, value: Value)]

    // MARK: Writing

    /// Builds the text of a line.
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

    /// Reads a line in a range of a text.
    init(_ text: [UInt8], _ range: Range<Int>) throws(Failure) {
        var parser = RecordingLineParser(text, range)
        members = try parser.object()
    }

    subscript(key: String) -> Value? {
        for member in members where member.key == key { return member.value }
        return nil
    }

    func string(_ key: String) -> String? {
        if case .string(let text)? = self[key] { String(decoding: text, as: UTF8.self) } else { nil }
    }

    func number(_ key: String) -> Int? {
        if case .number(let number)? = self[key] { number } else { nil }
    }

    func bool(_ key: String) -> Bool? {
        if case .bool(let bool)? = self[key] { bool } else { nil }
    }

    func strings(_ key: String) -> [String]? {
        if case .strings(let strings)? = self[key] { strings } else { nil }
    }

    /// Returns the bytes of a member. The member must exist.
    func octets(_ key: String) throws(Failure) -> [UInt8] {
        guard case .string(let text)? = self[key] else {
            throw Failure(reason: "\"\(key)\" is missing, or is not hex.")
        }
        guard let octets = Self.octets(text) else { throw Failure(reason: "\"\(key)\" is not hex.") }
        return octets
    }

    /// Returns the number of a member. The member must exist, and the number must be in a range.
    func number(_ key: String, in range: ClosedRange<Int>) throws(Failure) -> Int {
        guard let number = number(key), range.contains(number) else {
            throw Failure(reason: "\"\(key)\" has to be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    private static func octets(_ digits: [UInt8]) -> [UInt8]? {
        guard digits.count % 2 == 0 else { return nil }
        var octets: [UInt8] = []
        octets.reserveCapacity(digits.count / 2)
        var index = 0
        while index < digits.count {
            guard let high = digits[index].hexDigitValue, let low = digits[index + 1].hexDigitValue else { return nil }
            octets.append(high << 4 | low)
            index += 2
        }
        return octets
    }
}
