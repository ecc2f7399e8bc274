// SPDX-License-Identifier: Apache-2.0

/// Helpers to write a line of JSON (RFC 8259). ``JSONWriter`` uses them. Call them for a string inside another text.
public enum JSONText {
    /// Returns a string with its quotes, and with invisible characters escaped.
    public static func quoted(_ string: String) -> String {
        var bytes: [UInt8] = []
        append(string, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a string with its quotes. Invisible characters are escaped as UTF-16 (`\u001b`), so that the line can be
    /// shown on a terminal. The string's value stays the same.
    public static func append(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(0x22)
        for scalar in string.unicodeScalars {
            let byte = UInt8(truncatingIfNeeded: scalar.value)
            switch scalar.value {
            case 0x22, 0x5C: bytes += [0x5C, byte]
            case 0x20..<0x7F: bytes.append(byte)
            case _ where scalar.isInvisible: bytes += escape(scalar)
            default: bytes.append(contentsOf: String(scalar).utf8)
            }
        }
        bytes.append(0x22)
    }

    /// Returns a JSON text from elsewhere on one line, with invisible characters escaped. Its value stays the same.
    ///
    /// - Parameter text: valid JSON. The function does not check it.
    public static func line(_ text: String) -> String {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar {
            // White space between values. Inside a string it is escaped already.
            case "\n", "\r", "\t": bytes.append(0x20)
            default: bytes += scalar.isInvisible ? escape(scalar) : Array(String(scalar).utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func escape(_ scalar: Unicode.Scalar) -> [UInt8] {
        String(scalar).utf16.flatMap { unit in
            let digits = Array(String(unit, radix: 16).utf8)
            return Array("\\u".utf8) + [UInt8](repeating: 0x30, count: 4 - digits.count) + digits
        }
    }
}
