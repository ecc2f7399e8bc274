// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The members of a JSON image by key. Errors contain the line.
struct JSONFields {
    private let members: [JSONScanner.Member]
    private let places: [String: Int]

    init(_ members: [JSONScanner.Member]) {
        self.members = members
        places = Dictionary(zip(members.map(\.key), members.indices)) { first, _ in first }
    }

    private func member(_ key: String) -> JSONScanner.Member? {
        places[key].map { members[$0] }
    }

    /// Returns the line where a key's value starts.
    func line(_ key: String) -> Int? {
        member(key)?.line
    }

    /// Returns whether a key has a value that is not null.
    func hasValue(_ key: String) -> Bool {
        member(key).map { $0.text != Array("null".utf8) } ?? false
    }

    func text(_ key: String) throws(TagImageError) -> String {
        guard let member = member(key) else { throw TagImageError(.missingField, "\"\(key)\" is missing.") }
        guard let text = JSONScanner.string(member.text) else {
            throw TagImageError(.malformed, "\"\(key)\" is not a string.", line: member.line)
        }
        return text
    }

    func octets(_ key: String, count: Int?) throws(TagImageError) -> [UInt8] {
        let text = try text(key)
        guard let octets = [UInt8](hexadecimal: text.utf8) else {
            throw TagImageError(.malformed, "\"\(key)\" is not hexadecimal digits in pairs.", line: line(key))
        }
        if let count, octets.count != count {
            throw TagImageError(
                .malformed,
                "\"\(key)\" has \(octets.count) bytes instead of \(count).",
                line: line(key)
            )
        }
        return octets
    }

    /// Returns the members of an object; empty when the key is missing or its value is null.
    func object(_ key: String) -> JSONFields {
        JSONFields(member(key).map { JSONScanner.members(of: $0) } ?? [])
    }

    /// The keys, in order.
    var keys: [String] { members.map(\.key) }

    /// Returns the range of a value's text, including quotes.
    func range(_ key: String) -> Range<Int>? { member(key)?.range }

    /// Returns an integer; nil when the key is missing or null.
    func number(_ key: String, in range: ClosedRange<Int>) throws(TagImageError) -> Int? {
        guard hasValue(key), let member = member(key) else { return nil }
        guard let number = Self.number(member.text[...]), range.contains(number) else {
            throw TagImageError(
                .malformed,
                "\"\(key)\" is not a whole number from \(range.lowerBound) to \(range.upperBound).",
                line: member.line
            )
        }
        return number
    }

    /// Returns an array of integers; nil when the key is missing or null.
    func numbers(_ key: String, count: Int, upTo limit: Int) throws(TagImageError) -> [Int]? {
        guard hasValue(key), let member = member(key) else { return nil }
        let text = member.text
        let numbers = text.dropFirst().dropLast().split(separator: UInt8(ascii: ",")).map { Self.number($0) ?? -1 }
        guard text.first == UInt8(ascii: "["), numbers.count == count, numbers.allSatisfy({ (0...limit).contains($0) })
        else {
            throw TagImageError(.malformed, "\"\(key)\" is not \(count) numbers up to \(limit).", line: member.line)
        }
        return numbers
    }

    /// Returns an array of integers of any length; nil when the key is missing or null.
    func list(_ key: String, upTo limit: Int) throws(TagImageError) -> [Int]? {
        guard hasValue(key), let member = member(key) else { return nil }
        if member.text.filter({ ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == Array("[]".utf8) { return [] }
        let commas = member.text.reduce(0) { $0 + ($1 == UInt8(ascii: ",") ? 1 : 0) }
        return try numbers(key, count: commas + 1, upTo: limit)
    }

    /// Returns a Boolean; nil when the key is missing or null.
    func flag(_ key: String) throws(TagImageError) -> Bool? {
        guard hasValue(key), let member = member(key) else { return nil }
        switch member.text {
        case Array("true".utf8): return true
        case Array("false".utf8): return false
        default: throw TagImageError(.malformed, "\"\(key)\" is neither true nor false.", line: member.line)
        }
    }

    /// Returns the members of an object whose values are strings.
    func strings(_ key: String) throws(TagImageError) -> [(key: String, value: String)] {
        guard let member = member(key) else { throw TagImageError(.missingField, "\"\(key)\" is missing.") }
        var scanner = JSONScanner(member.text)
        var strings: [(key: String, value: String)] = []
        for inner in (try? scanner.members()) ?? [] {
            guard let text = JSONScanner.string(inner.text) else {
                throw TagImageError(.malformed, "\"\(inner.key)\" is not a string.", line: member.line)
            }
            strings.append((inner.key, text))
        }
        guard !strings.isEmpty else {
            throw TagImageError(.malformed, "\"\(key)\" is not an object with members.", line: member.line)
        }
        return strings
    }

    private static func number(_ text: ArraySlice<UInt8>) -> Int? {
        let digits = text.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return String(validating: digits, as: UTF8.self).flatMap { Int($0) }
    }
}
