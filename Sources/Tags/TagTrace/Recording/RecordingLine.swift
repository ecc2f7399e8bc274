// SPDX-License-Identifier: Apache-2.0
import TagLink
import TextSafety

/// A line of a recording: a JSON object whose values are strings, integers, Booleans and lists of strings.
typealias RecordingLine = JSONLine

extension RecordingLine {
    /// Builds the text of a line.
    struct Builder {
        private var writer = JSONWriter()

        init() { writer.beginObject() }

        mutating func add(_ key: StaticString, _ string: String) { writer.member(key, string) }
        mutating func add(_ key: StaticString, _ number: Int) { writer.member(key, number) }
        mutating func add(_ key: StaticString, _ bool: Bool) { writer.member(key, bool) }
        mutating func add(_ key: StaticString, hex bytes: [UInt8]) { writer.member(key, hex: bytes) }
        mutating func add(_ key: StaticString, _ strings: [String]) {
            writer.key(key)
            writer.values(strings)
        }

        var line: String {
            var writer = writer
            writer.endObject()
            writer.newLine()
            return String(decoding: writer.text, as: UTF8.self)
        }
    }

    // MARK: Reading

    /// Returns the bytes of a member. The member must exist.
    func bytes(_ key: String) throws(Failure) -> [UInt8] {
        guard case .string(let text)? = self[key] else {
            throw Failure(reason: "\"\(key)\" is missing, or is not hex.")
        }
        guard let bytes = Self.bytes(text) else { throw Failure(reason: "\"\(key)\" is not hex.") }
        return bytes
    }

    /// Returns the number of a member. The member must exist, and the number must be in a range.
    func number(_ key: String, in range: ClosedRange<Int>) throws(Failure) -> Int {
        guard let number = number(key), range.contains(number) else {
            throw Failure(reason: "\"\(key)\" has to be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    private static func bytes(_ digits: [UInt8]) -> [UInt8]? {
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var index = 0
        while index < digits.count {
            guard let high = digits[index].hexDigitValue, let low = digits[index + 1].hexDigitValue else { return nil }
            bytes.append(high << 4 | low)
            index += 2
        }
        return bytes
    }
}
