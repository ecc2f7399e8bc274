// SPDX-License-Identifier: Apache-2.0

/// Splits the bytes of a text into lines.
///
/// Works on bytes, because "\r\n" is one `Character` and splitting a `String` at "\n" would miss it.
enum TextLines {
    /// The lines without line endings and without a byte order mark.
    static func read(_ bytes: [UInt8]) -> [String] {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        return split(bytes[start...]).map { line in
            String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        }
    }

    /// The lines with a carriage return, if there is one, but without the newline.
    static func exact(_ bytes: [UInt8]) -> [String] { split(bytes[...]).map { String(decoding: $0, as: UTF8.self) } }

    private static func split(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    }
}
