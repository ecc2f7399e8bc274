// SPDX-License-Identifier: Apache-2.0

/// Detects files that would keep a parser busy for minutes.
///
/// The time that the swift-syntax parser takes grows quickly with the nesting of brackets and of `#if`, even if the
/// parser stops at its own limit.
enum SourceShape {
    private static let deepest = 200
    private static let deepestCondition = 40
    private static let longestLine = 100_000

    /// Whether a byte may be part of a name.
    static func isName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == 0x5F || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }

    /// Why a file can't be parsed; nil for a normal file.
    static func problem(_ bytes: [UInt8]) -> String? {
        var depth = 0
        var conditions = 0
        var lineStart = 0
        var types = 0
        for index in bytes.indices {
            switch bytes[index] {
            case 0x3C where index > 0 && isName(bytes[index - 1]):
                types += 1
                if types > deepest { return "The file nests types more than \(deepest) levels deep, and was ignored." }
            case 0x3E where index > 0 && bytes[index - 1] != 0x2D: types = max(0, types - 1)
            case 0x28, 0x5B, 0x7B:
                depth += 1
                if depth > deepest {
                    return "The file nests brackets more than \(deepest) levels deep, and was ignored."
                }
            case 0x29, 0x5D, 0x7D: depth = max(0, depth - 1)
            case 0x0A:
                if index - lineStart > longestLine {
                    return "A line is longer than \(longestLine) bytes; the file was ignored."
                }
                // An unclosed `<` is a comparison, unless the line ends with it, as in a type over several lines.
                if index > 0, bytes[index - 1] != 0x3C { types = 0 }
                lineStart = index + 1
            case 0x23:
                if bytes[index...].starts(with: "#if".utf8) { conditions += 1 }
                if bytes[index...].starts(with: "#endif".utf8) { conditions -= 1 }
                if conditions > deepestCondition {
                    return "The file nests #if more than \(deepestCondition) levels deep, and was ignored."
                }
            default: break
            }
        }
        return bytes.count - lineStart > longestLine
            ? "A line is longer than \(longestLine) bytes; the file was ignored." : nil
    }
}
