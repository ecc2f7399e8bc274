// SPDX-License-Identifier: Apache-2.0

/// Converts file names to text without loss. A file name may contain any bytes, and does not have to be UTF-8.
///
/// When a name isn't UTF-8, each byte that isn't ASCII becomes one character in a private use range of Unicode
/// (U+10FF80 to U+10FFFF). A name that contains such a character is converted in the same way, so two names never have
/// the same text.
package enum FileName {
    private static let base: UInt32 = 0x10FF00
    private static let range: ClosedRange<UInt32> = 0x10FF80...0x10FFFF

    /// Returns the text of a name.
    ///
    /// - Parameter bytes: the name, without the terminating zero.
    package static func text(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: { range.contains($0.value) })
        {
            return text
        }
        var scalars = String.UnicodeScalarView()
        for byte in bytes {
            let value = byte < 0x80 ? UInt32(byte) : base + UInt32(byte)
            if let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
        }
        return String(scalars)
    }

    /// Returns the name for a text.
    package static func bytes(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            if range.contains(scalar.value) {
                bytes.append(UInt8(scalar.value - base))
            } else {
                bytes += Array(String(scalar).utf8)
            }
        }
        return bytes
    }

    /// Returns a name to show to people. Each byte that isn't text becomes `\x` and two digits.
    ///
    /// - Parameter name: a name as ``FileStore/names()`` returns it.
    package static func shown(_ name: String) -> String {
        var shown = ""
        for scalar in name.unicodeScalars {
            if range.contains(scalar.value) {
                shown += "\\x" + String(scalar.value - base, radix: 16, uppercase: true)
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}
