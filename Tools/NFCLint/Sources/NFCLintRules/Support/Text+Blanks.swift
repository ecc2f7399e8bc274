// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// The text without whitespace at both ends.
    var trimmingBlanks: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
