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
        var text: [UInt8] = []
        text.reserveCapacity(underestimatedCount * (2 + separator.utf8.count))
        for byte in self {
            if !text.isEmpty { text += separator.utf8 }
            text.append(Self.digit(byte >> 4))
            text.append(Self.digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The character of a hex digit below 16.
    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x61 - 10 + value }
}

extension FixedWidthInteger {
    /// Returns the number as hex digits with leading zeros, in upper case, as data sheets write addresses.
    package func hexText(digits: Int) -> String {
        let text = String(self, radix: 16, uppercase: true)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }
}
