// SPDX-License-Identifier: Apache-2.0
import TagLink
import VisibleText

/// Writes JSON (RFC 8259) directly to an array of bytes.
struct JSONWriter {
    /// The text so far.
    var text: [UInt8] = []
    private var needsComma = false

    mutating func newLine() {
        text.append(0x0A)
        needsComma = false
    }

    mutating func beginObject() { open(0x7B) }
    mutating func endObject() { close(0x7D) }
    mutating func beginArray() { open(0x5B) }
    mutating func endArray() { close(0x5D) }

    mutating func key(_ key: StaticString) {
        separate()
        text.append(0x22)
        key.withUTF8Buffer { unsafe text.append(contentsOf: $0) }
        text.append(0x22)
        text.append(0x3A)
        needsComma = false
    }

    mutating func key(_ key: String) {
        value(key)
        text.append(0x3A)
        needsComma = false
    }

    mutating func value(_ number: Int) {
        separate()
        if number < 10, number >= 0 {
            text.append(0x30 + UInt8(number))
        } else {
            text.append(contentsOf: String(number).utf8)
        }
    }

    mutating func value(_ bool: Bool) {
        separate()
        text.append(contentsOf: (bool ? "true" : "false").utf8)
    }

    mutating func value(_ string: String?) {
        guard let string else {
            separate()
            return text.append(contentsOf: "null".utf8)
        }
        value(string)
    }

    mutating func value(_ string: String) {
        separate()
        JSONText.append(string, to: &text)
    }

    mutating func hex(_ octets: some Sequence<UInt8>) {
        separate()
        text.append(0x22)
        HexText.append(octets, to: &text)
        text.append(0x22)
    }

    /// Writes a member that is `null`.
    mutating func member(null key: StaticString) {
        self.key(key)
        value(nil as String?)
    }

    mutating func member(_ key: StaticString, _ number: Int) {
        self.key(key)
        value(number)
    }

    /// Writes a number, or `null`.
    mutating func member(_ key: StaticString, _ number: Int?) {
        guard let number else { return member(null: key) }
        member(key, number)
    }

    /// Writes an array of texts, or `null`.
    mutating func values(_ strings: [String]?) {
        guard let strings else { return value(nil as String?) }
        beginArray()
        for string in strings { value(string) }
        endArray()
    }

    /// Writes a flag, or `null`.
    mutating func member(_ key: StaticString, _ bool: Bool?) {
        guard let bool else { return member(null: key) }
        member(key, bool)
    }

    /// Writes a text, or `null`.
    mutating func member(_ key: StaticString, _ string: String?) {
        self.key(key)
        value(string)
    }

    mutating func member(_ key: StaticString, _ bool: Bool) {
        self.key(key)
        value(bool)
    }

    mutating func member(_ key: StaticString, hex octets: some Sequence<UInt8>) {
        self.key(key)
        hex(octets)
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
