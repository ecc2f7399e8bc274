// SPDX-License-Identifier: Apache-2.0
import TagLink

extension [UInt8] {
    /// Hexadecimal digits in upper case, octets separated by spaces.
    var spacedHexadecimalText: String {
        hexText(separator: " ").uppercased()
    }
}
