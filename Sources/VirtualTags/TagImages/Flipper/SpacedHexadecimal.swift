// SPDX-License-Identifier: Apache-2.0
import TagLink

extension [UInt8] {
    /// Hexadecimal digits in upper case, with spaces between the bytes.
    var spacedHexadecimalText: String {
        hexText(separator: " ").uppercased()
    }
}
