// SPDX-License-Identifier: Apache-2.0

/// A product's name in the form used for comparison: only its letters, in lower case, and its digits.
///
/// A `µ` counts as the letter `u`, because people type that instead. `NTAG 210µ` equals `ntag210u`, but not `NTAG210`.
package struct ProductName: Hashable, Sendable {
    /// The letters and digits; empty for a name without any.
    package let text: String

    /// Reduces a written name to its letters and digits.
    package init(_ name: String) {
        text = String(
            name.lowercased().compactMap { character in
                switch character {
                case "a"..."z", "0"..."9": character
                // The micro sign and the Greek letter.
                case "\u{B5}", "\u{3BC}": "u"
                default: nil
                }
            }
        )
    }

    /// Returns whether this is a product's name, either in full or without a family name at the start.
    ///
    /// - Parameter families: the family names that may be left out, in lower case without spaces.
    package func names(_ product: String, withoutFamilies families: [String]) -> Bool {
        let whole = ProductName(product).text
        return !text.isEmpty && (whole == text || families.contains { whole == $0 + text })
    }
}
