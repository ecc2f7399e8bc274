// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Parses the JSON object of a line. Objects in it are not allowed, so the depth is limited.
///
/// It moves through the text by index. Shrinking slices would take longer than the parsing.
struct RecordingLineParser {
    private let text: [UInt8]
    private var position: Int
    private let end: Int

    /// Creates a parser for a range of a text.
    init(_ text: [UInt8], _ range: Range<Int>) {
        self.text = text
        position = range.lowerBound
        end = range.upperBound
    }

    private func failure(_ what: String) -> RecordingLine.Failure { RecordingLine.Failure(reason: what) }

    mutating func object() throws(RecordingLine.Failure) -> [(key: String, value: RecordingLine.Value)] {
        var members: [(key: String, value: RecordingLine.Value)] = []
        guard take(0x7B) else { throw failure("A line has to be a JSON object.") }
        if !take(0x7D) {
            repeat {
                let key = String(decoding: try string(), as: UTF8.self)
                guard take(0x3A) else { throw failure("A \":\" is missing.") }
                let value = try value()
                for member in members where member.key == key { throw failure("A member is there twice.") }
                members.append((key, value))
            } while take(0x2C)
            guard take(0x7D) else { throw failure("The object does not end.") }
        }
        skipSpace()
        guard position == end else { throw failure("Something follows the object.") }
        return members
    }

    private mutating func value() throws(RecordingLine.Failure) -> RecordingLine.Value {
        skipSpace()
        guard position < end else { throw failure("A value is missing.") }
        switch text[position] {
        case 0x22: return .string(try string())
        case 0x5B: return .strings(try strings())
        case 0x74: return .bool(try word("true", true))
        case 0x66: return .bool(try word("false", false))
        default: return .number(try number())
        }
    }

    private mutating func strings() throws(RecordingLine.Failure) -> [String] {
        position += 1
        var strings: [String] = []
        if take(0x5D) { return strings }
        repeat { strings.append(String(decoding: try string(), as: UTF8.self)) } while take(0x2C)
        guard take(0x5D) else { throw failure("A list does not end.") }
        return strings
    }

    private mutating func word(_ word: String, _ value: Bool) throws(RecordingLine.Failure) -> Bool {
        let count = word.utf8.count
        guard end - position >= count, text[position..<position + count].elementsEqual(word.utf8) else {
            throw failure("A value is invalid.")
        }
        position += count
        return value
    }

    private mutating func number() throws(RecordingLine.Failure) -> Int {
        let start = position
        while position < end, text[position] == 0x2D || (text[position] >= 0x30 && text[position] <= 0x39) {
            position += 1
        }
        guard let number = Int(String(decoding: text[start..<position], as: UTF8.self)) else {
            throw failure("A value is invalid.")
        }
        return number
    }

    /// Reads a string and returns its UTF-8 bytes.
    private mutating func string() throws(RecordingLine.Failure) -> [UInt8] {
        guard take(0x22) else { throw failure("A string is expected.") }
        let start = position
        var isASCII = true
        while position < end {
            let byte = text[position]
            if byte == 0x22 || byte == 0x5C || byte < 0x20 { break }
            if byte >= 0x80 { isASCII = false }
            position += 1
        }
        var octets = Array(text[start..<position])
        while position < end {
            let byte = text[position]
            position += 1
            switch byte {
            case 0x22:
                guard isASCII || String(validating: octets, as: UTF8.self) != nil else {
                    throw failure("A string is not UTF-8.")
                }
                return octets
            case 0x5C: octets += try escape()
            case 0..<0x20: throw failure("A control character is in a string.")
            default:
                if byte >= 0x80 { isASCII = false }
                octets.append(byte)
            }
        }
        throw failure("A string does not end.")
    }

    private mutating func escape() throws(RecordingLine.Failure) -> [UInt8] {
        guard position < end else { throw failure("An escape is invalid.") }
        let byte = text[position]
        position += 1
        switch byte {
        case 0x6E: return [0x0A]
        case 0x72: return [0x0D]
        case 0x74: return [0x09]
        case 0x22, 0x5C, 0x2F: return [byte]
        case 0x75:
            let digits = text[position..<min(position + 4, end)].compactMap(\.hexDigitValue)
            guard digits.count == 4, let scalar = Unicode.Scalar(digits.reduce(UInt32(0)) { $0 << 4 | UInt32($1) })
            else {
                throw failure("An escape is invalid.")
            }
            position += 4
            return Array(String(Character(scalar)).utf8)
        default: throw failure("An escape is invalid.")
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard position < end, text[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while position < end {
            let byte = text[position]
            guard byte == 0x20 || byte == 0x09 || byte == 0x0D else { return }
            position += 1
        }
    }
}
