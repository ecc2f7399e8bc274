// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Reads a JSON text (RFC 8259). The depth is bounded. If a key occurs twice, the last value counts.
struct JSONReader {
    private let text: ArraySlice<UInt8>
    private var position: Int
    private static let maximumDepth = 64

    /// The place of an error in a text.
    struct Failure: Error {
        /// The index of the first byte that is not valid JSON.
        var offset: Int
    }

    /// Reads a text with one value.
    static func value(_ text: ArraySlice<UInt8>) throws(Failure) -> JSONValue {
        var reader = JSONReader(text: text, position: text.startIndex)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == text.endIndex else { throw reader.failure }
        return value
    }

    private var failure: Failure { Failure(offset: position - text.startIndex) }

    private var next: UInt8? { position < text.endIndex ? text[position] : nil }

    private mutating func skipSpace() {
        while let octet = next, octet == 0x20 || octet == 0x09 || octet == 0x0D || octet == 0x0A { position += 1 }
    }

    private mutating func take(_ octet: UInt8) -> Bool {
        skipSpace()
        guard next == octet else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ octet: UInt8) throws(Failure) {
        guard take(octet) else { throw failure }
    }

    private mutating func value(depth: Int) throws(Failure) -> JSONValue {
        skipSpace()
        guard depth < Self.maximumDepth, let first = next else { throw failure }
        switch first {
        case 0x7B: return try object(depth: depth)
        case 0x5B: return try array(depth: depth)
        case 0x22: return .string(try string())
        case 0x74: return try word("true", .bool(true))
        case 0x66: return try word("false", .bool(false))
        case 0x6E: return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws(Failure) -> JSONValue {
        position += 1
        var members: [String: JSONValue] = [:]
        guard !take(0x7D) else { return .object(members) }
        repeat {
            skipSpace()
            let key = try string()
            try expect(0x3A)
            members[key] = try value(depth: depth + 1)
        } while take(0x2C)
        try expect(0x7D)
        return .object(members)
    }

    private mutating func array(depth: Int) throws(Failure) -> JSONValue {
        position += 1
        var values: [JSONValue] = []
        guard !take(0x5D) else { return .array(values) }
        repeat {
            values.append(try value(depth: depth + 1))
        } while take(0x2C)
        try expect(0x5D)
        return .array(values)
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
        let count = word.utf8CodeUnitCount
        guard text[position...].prefix(count).elementsEqual(word.description.utf8) else { throw failure }
        position += count
        return value
    }

    private mutating func number() throws(Failure) -> JSONValue {
        let start = position
        while let octet = next, (0x30...0x39).contains(octet) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(octet) {
            position += 1
        }
        guard let value = Double(String(decoding: text[start..<position], as: UTF8.self)), value.isFinite else {
            position = start
            throw failure
        }
        return .number(value)
    }

    private mutating func string() throws(Failure) -> String {
        guard next == 0x22 else { throw failure }
        position += 1
        let start = position
        while let octet = next, octet != 0x22, octet != 0x5C, octet >= 0x20 { position += 1 }
        var octets = Array(text[start..<position])
        while let octet = next, octet != 0x22 {
            guard octet >= 0x20 else { throw failure }
            position += 1
            if octet == 0x5C {
                try escape(into: &octets)
            } else {
                octets.append(octet)
            }
        }
        guard next == 0x22, let string = String(validating: octets, as: UTF8.self) else { throw failure }
        position += 1
        return string
    }

    private mutating func escape(into octets: inout [UInt8]) throws(Failure) {
        guard let octet = next else { throw failure }
        position += 1
        switch octet {
        case 0x22, 0x5C, 0x2F: octets.append(octet)
        case 0x62: octets.append(0x08)
        case 0x66: octets.append(0x0C)
        case 0x6E: octets.append(0x0A)
        case 0x72: octets.append(0x0D)
        case 0x74: octets.append(0x09)
        case 0x75: octets.append(contentsOf: String(Character(try scalar())).utf8)
        default: throw failure
        }
    }

    /// The character of a `\u` escape, or of two that are a surrogate pair.
    private mutating func scalar() throws(Failure) -> Unicode.Scalar {
        let unit = try unit()
        if UTF16.isLeadSurrogate(unit), text[position...].starts(with: [0x5C, 0x75]) {
            position += 2
            let low = try self.unit()
            guard UTF16.isTrailSurrogate(low) else { throw failure }
            let value = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
            guard let scalar = Unicode.Scalar(value) else { throw failure }
            return scalar
        }
        guard let scalar = Unicode.Scalar(UInt32(unit)) else { throw failure }
        return scalar
    }

    private mutating func unit() throws(Failure) -> UInt16 {
        let digits = text[position...].prefix(4)
        guard digits.count == 4, !digits.contains(0x2B), !digits.contains(0x2D),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure }
        position += 4
        return unit
    }
}
