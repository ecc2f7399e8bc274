// SPDX-License-Identifier: Apache-2.0

/// Splits the bytes of a text into lines, for all files that are read by lines.
///
/// "\r\n" is one `Character`, so that a `String` must not be split at "\n".
enum TextLines {
    /// The lines without their ends; a mark of the byte order is left out.
    static func read(_ bytes: [UInt8]) -> [String] {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        return split(bytes[start...]).map { line in
            String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        }
    }

    /// The lines as they are, with the carriage returns before their ends.
    static func exact(_ bytes: [UInt8]) -> [String] { split(bytes[...]).map { String(decoding: $0, as: UTF8.self) } }

    private static func split(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    }
}
