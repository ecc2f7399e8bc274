// SPDX-License-Identifier: Apache-2.0

/// A product's name as it is compared: only its letters, in lower case, and its digits.
///
/// A `µ` is the letter `u`, which people type in its place. `NTAG 210µ` is the same name as `ntag210u`, and another one than
/// `NTAG210`.
package struct ProductName: Hashable, Sendable {
    /// The letters and digits; empty for a name without any.
    package let text: String

    /// Takes a name as somebody has written it.
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

    /// Whether the name is that of a product, or the part of it after a family's name.
    ///
    /// - Parameters:
    ///   - product: the whole name of a product.
    ///   - families: the names that may be left out, without spaces and in lower case.
    package func names(_ product: String, withoutFamilies families: [String]) -> Bool {
        let whole = ProductName(product).text
        return !text.isEmpty && (whole == text || families.contains { whole == $0 + text })
    }
}
