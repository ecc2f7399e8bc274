// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// Without blanks at both ends.
    var trimmingBlanks: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
