// SPDX-License-Identifier: Apache-2.0

/// Writes JSON (RFC 8259) directly to an array of bytes.
/// All JSON lines that the programs print, send and store are written with this writer, so that they look alike: no
/// white space, hex in lower case, and invisible characters as escapes.
///
/// The writer adds the commas. It does not check that keys and values alternate, or that every object and array ends.
public struct JSONWriter: Sendable {
    /// The text written so far.
    public var text: [UInt8] = []
    private var needsComma = false

    /// Creates a writer with an empty text.
    public init() {}

    /// Ends the line. The next value starts without a comma.
    public mutating func newLine() {
        text.append(0x0A)
        needsComma = false
    }

    /// Begins an object. Write a key and a value for each member, then end the object.
    public mutating func beginObject() { open(0x7B) }
    /// Ends the innermost open object.
    public mutating func endObject() { close(0x7D) }
    /// Begins an array.
    public mutating func beginArray() { open(0x5B) }
    /// Ends the innermost open array.
    public mutating func endArray() { close(0x5D) }

    private mutating func open(_ bracket: UInt8) {
        separate()
        text.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        text.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { text.append(0x2C) }
        needsComma = true
    }

    /// Writes a key unchanged. It must not contain a quote, a backslash or an invisible character.
    public mutating func key(_ key: StaticString) {
        separate()
        text.append(0x22)
        key.withUTF8Buffer { unsafe text.append(contentsOf: $0) }
        text += [0x22, 0x3A]
        needsComma = false
    }

    /// Writes a key, escaped where necessary.
    public mutating func key(_ key: String) {
        value(key)
        text.append(0x3A)
        needsComma = false
    }

    /// Writes an integer, or `null`.
    public mutating func value(_ number: Int?) { plain(number.map { String($0) } ?? "null") }

    /// Writes a number with the fewest digits that read back as the same number; `null` when it is infinite or NaN.
    public mutating func value(_ number: Double) { plain(number.isFinite ? String(number) : "null") }

    /// Writes a Boolean, or `null`.
    public mutating func value(_ bool: Bool?) { plain(bool.map { $0 ? "true" : "false" } ?? "null") }

    private mutating func plain(_ value: String) {
        separate()
        text.append(contentsOf: value.utf8)
    }

    /// Writes a string, or `null`.
    public mutating func value(_ string: String?) {
        guard let string else { return plain("null") }
        separate()
        JSONText.append(string, to: &text)
    }

    /// Writes an array of strings, or `null`.
    public mutating func values(_ strings: [String]?) {
        guard let strings else { return plain("null") }
        beginArray()
        for string in strings { value(string) }
        endArray()
    }

    /// Inserts foreign JSON text as one line, with invisible characters escaped.
    ///
    /// - Parameter json: one valid value. The function does not check it.
    public mutating func value(json: String) { plain(JSONText.line(json)) }

    /// Writes bytes as a string of hex digits, in lower case.
    public mutating func hex(_ bytes: ArraySlice<UInt8>) {
        separate()
        text.append(0x22)
        for byte in bytes {
            text.append(Self.digit(byte >> 4))
            text.append(Self.digit(byte & 0x0F))
        }
        text.append(0x22)
    }

    /// Writes bytes as a string of hex digits, in lower case.
    public mutating func hex(_ bytes: [UInt8]) { hex(bytes[...]) }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

    /// Writes an integer, or `null`.
    public mutating func member(_ key: StaticString, _ number: Int?) {
        self.key(key)
        value(number)
    }

    /// Writes a Boolean, or `null`.
    public mutating func member(_ key: StaticString, _ bool: Bool?) {
        self.key(key)
        value(bool)
    }

    /// Writes a string, or `null`.
    public mutating func member(_ key: StaticString, _ string: String?) {
        self.key(key)
        value(string)
    }

    /// Writes bytes as a string of hex digits.
    public mutating func member(_ key: StaticString, hex bytes: ArraySlice<UInt8>) {
        self.key(key)
        hex(bytes)
    }

    /// Writes bytes as a string of hex digits.
    public mutating func member(_ key: StaticString, hex bytes: [UInt8]) { member(key, hex: bytes[...]) }
}

/// Functions for JSON text that is not written with ``JSONWriter``.
public enum JSONText {
    /// Returns a string in quotes, with invisible characters escaped.
    public static func quoted(_ string: String) -> String {
        var bytes: [UInt8] = []
        append(string, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a string in quotes. Invisible characters are escaped as UTF-16 (`\u001b`), so that a terminal can show
    /// the line. The string's value stays the same.
    static func append(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(0x22)
        for scalar in string.unicodeScalars {
            let byte = UInt8(truncatingIfNeeded: scalar.value)
            switch scalar.value {
            case 0x22, 0x5C: bytes += [0x5C, byte]
            case 0x20..<0x7F: bytes.append(byte)
            case _ where scalar.isInvisible: bytes += escape(scalar)
            default: bytes.append(contentsOf: String(scalar).utf8)
            }
        }
        bytes.append(0x22)
    }

    /// Returns a JSON text from elsewhere as one line, with invisible characters escaped. Its value stays the same.
    ///
    /// - Parameter text: valid JSON. The function does not check it.
    public static func line(_ text: String) -> String {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar {
            // White space between values. Inside a string, these characters are already escaped.
            case "\n", "\r", "\t": bytes.append(0x20)
            default: bytes += scalar.isInvisible ? escape(scalar) : Array(String(scalar).utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func escape(_ scalar: Unicode.Scalar) -> [UInt8] {
        String(scalar).utf16.flatMap { unit in
            let digits = Array(String(unit, radix: 16).utf8)
            return Array("\\u".utf8) + [UInt8](repeating: 0x30, count: 4 - digits.count) + digits
        }
    }
}
