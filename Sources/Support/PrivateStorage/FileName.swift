// SPDX-License-Identifier: Apache-2.0

/// The names of files as text, exactly: a name is any bytes, and need not be UTF-8.
///
/// Of a name that is not UTF-8, each byte that is not ASCII is a character of its own, in a row that Unicode leaves to private
/// use (U+10FF80 to U+10FFFF). A name that has such a character itself is written so too, so that no two names are one text.
public enum FileName {
    private static let base: UInt32 = 0x10FF00
    private static let range: ClosedRange<UInt32> = 0x10FF80...0x10FFFF

    /// The text of a name.
    ///
    /// - Parameter bytes: the name, without its end.
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

    /// The name that a text is of.
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

    /// A name for people: of bytes that are no text, each is `\x` and two digits.
    ///
    /// - Parameter name: a name as ``FileStore/names()`` returns it.
    public static func shown(_ name: String) -> String {
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
