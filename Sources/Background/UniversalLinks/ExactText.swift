// SPDX-License-Identifier: Apache-2.0

/// A text that equals another one only if both have the same bytes, as the keys of JSON do (RFC 8259, 8.3).
///
/// Swift's strings are also equal if they look the same, such as an `é` of one character and one of two.
struct ExactText: Sendable, Hashable, Comparable, ExpressibleByStringLiteral {
    let text: String

    init(_ text: String) { self.text = text }

    init(stringLiteral text: String) { self.text = text }

    static func == (one: ExactText, other: ExactText) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    static func < (one: ExactText, other: ExactText) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
