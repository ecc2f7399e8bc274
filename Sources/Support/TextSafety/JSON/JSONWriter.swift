// SPDX-License-Identifier: Apache-2.0

/// Writes JSON (RFC 8259) directly to an array of bytes.
///
/// All lines of JSON that the programs print, send and store are written with it, so that they look alike: no white space,
/// hex in lower case, and invisible characters as escapes.
///
/// It writes the commas. It does not check that keys and values alternate, or that every object and array ends.
public struct JSONWriter: Sendable {
    /// The text so far.
    public var text: [UInt8] = []
    private var needsComma = false

    /// Creates a writer with an empty text.
    public init() {}

    /// Ends the line. The next value starts without a comma.
    public mutating func newLine() {
        text.append(0x0A)
        needsComma = false
    }

    /// Begins an object: write a key and a value for each member, then end it.
    public mutating func beginObject() { open(0x7B) }
    /// Ends the object that was begun last.
    public mutating func endObject() { close(0x7D) }
    /// Begins an array.
    public mutating func beginArray() { open(0x5B) }
    /// Ends the array that was begun last.
    public mutating func endArray() { close(0x5D) }

    /// Writes a key, unchanged: it has no quote, no backslash and no invisible character.
    public mutating func key(_ key: StaticString) {
        separate()
        text.append(0x22)
        key.withUTF8Buffer { unsafe text.append(contentsOf: $0) }
        text.append(0x22)
        text.append(0x3A)
        needsComma = false
    }

    /// Writes a key, with what needs it escaped.
    public mutating func key(_ key: String) {
        value(key)
        text.append(0x3A)
        needsComma = false
    }

    /// Writes an integer.
    public mutating func value(_ number: Int) {
        separate()
        if number < 10,
            number >= 0
        {
            text.append(0x30 + UInt8(number))
        } else {
            text.append(contentsOf: String(number).utf8)
        }
    }

    /// Writes a number with the fewest digits that read back as the same one; `null` when it is infinite or not a number.
    public mutating func value(_ number: Double) {
        guard number.isFinite else { return value(nil as String?) }
        separate()
        text.append(contentsOf: String(number).utf8)
    }

    /// Writes a Boolean.
    public mutating func value(_ bool: Bool) {
        separate()
        text.append(contentsOf: (bool ? "true" : "false").utf8)
    }

    /// Writes a string, or `null`.
    public mutating func value(_ string: String?) {
        guard let string else {
            separate()
            return text.append(contentsOf: "null".utf8)
        }
        value(string)
    }

    /// Writes a string.
    public mutating func value(_ string: String) {
        separate()
        JSONText.append(string, to: &text)
    }

    /// Writes a JSON text from elsewhere, on this line and with invisible characters escaped.
    ///
    /// - Parameter json: one valid value. The function does not check it.
    public mutating func value(json: String) {
        separate()
        text.append(contentsOf: JSONText.line(json).utf8)
    }

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

    /// Writes a member that is `null`.
    public mutating func member(null key: StaticString) {
        self.key(key)
        value(nil as String?)
    }

    /// Writes a number.
    public mutating func member(_ key: StaticString, _ number: Int) {
        self.key(key)
        value(number)
    }

    /// Writes a number, or `null`.
    public mutating func member(_ key: StaticString, _ number: Int?) {
        guard let number else { return member(null: key) }
        member(key, number)
    }

    /// Writes an array of texts, or `null`.
    public mutating func values(_ strings: [String]?) {
        guard let strings else { return value(nil as String?) }
        beginArray()
        for string in strings { value(string) }
        endArray()
    }

    /// Writes a flag, or `null`.
    public mutating func member(_ key: StaticString, _ bool: Bool?) {
        guard let bool else { return member(null: key) }
        member(key, bool)
    }

    /// Writes a text, or `null`.
    public mutating func member(_ key: StaticString, _ string: String?) {
        self.key(key)
        value(string)
    }

    /// Writes a Boolean.
    public mutating func member(_ key: StaticString, _ bool: Bool) {
        self.key(key)
        value(bool)
    }

    /// Writes bytes as a string of hex digits.
    public mutating func member(_ key: StaticString, hex bytes: ArraySlice<UInt8>) {
        self.key(key)
        hex(bytes)
    }

    /// Writes bytes as a string of hex digits.
    public mutating func member(_ key: StaticString, hex bytes: [UInt8]) {
        member(key, hex: bytes[...])
    }

    private mutating func separate() {
        if needsComma { text.append(0x2C) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        text.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        text.append(bracket)
        needsComma = true
    }
}
