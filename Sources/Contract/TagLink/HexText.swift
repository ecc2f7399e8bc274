// SPDX-License-Identifier: Apache-2.0

extension UInt8 {
    /// The value of a hexadecimal digit in ASCII, in either case; nil for any other byte.
    @inlinable package var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x61...0x66: self - 0x61 + 10
        case 0x41...0x46: self - 0x41 + 10
        default: nil
        }
    }
}

extension Sequence<UInt8> {
    /// Returns the bytes as hex digits in lower case, two for each byte.
    package func hexText(separator: String = "") -> String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: separator)
    }
}

extension FixedWidthInteger {
    /// Returns the number as hex digits with leading zeros, in upper case, as data sheets write addresses.
    package func hexText(digits: Int) -> String {
        let text = String(self, radix: 16, uppercase: true)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }
}
