// SPDX-License-Identifier: Apache-2.0

/// Prepares the text of an app or a tag for a terminal: measures it in columns, and wraps it.
package enum TerminalText {
    /// Returns how many columns a text takes on a terminal.
    package static func width(_ text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + width($1) }
    }

    /// Returns how many columns a character takes: 0 for a single combining mark, 2 for wide East Asian characters and
    /// most emoji.
    package static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.isASCII { return 1 }
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF,
            0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    /// Wraps a text at spaces, and inside a word that is longer than a line.
    ///
    /// - Parameters:
    ///   - text: the text; a line feed ends a line.
    ///   - columns: the columns of a line, at least 2.
    /// - Returns: the lines, without spaces at their ends; empty for an empty text.
    package static func wrap(_ text: String, columns: Int) -> [String] {
        let columns = max(columns, 2)
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = ""
            var used = 0
            for word in paragraph.split(separator: " ") {
                let length = width(word)
                if used > 0, used + 1 + length <= columns {
                    line += " " + word
                    used += 1 + length
                    continue
                }
                if used > 0 { lines.append(line) }
                (line, used) = ("", 0)
                for character in word {
                    if used + width(character) > columns {
                        lines.append(line)
                        (line, used) = ("", 0)
                    }
                    line.append(character)
                    used += width(character)
                }
            }
            lines.append(line)
        }
        while lines.last == "" { lines.removeLast() }
        return lines
    }

    /// Centres a text in a line, or cuts it if it is too long.
    package static func centred(_ text: String, columns: Int) -> String {
        let text = cut(text, columns: columns)
        let space = columns - width(text)
        let left = space / 2
        return String(repeating: " ", count: left) + text + String(repeating: " ", count: space - left)
    }

    /// Cuts a text that is longer than a line, and ends it with an ellipsis.
    package static func cut(_ text: String, columns: Int) -> String {
        if width(text) <= columns { return text }
        var result = ""
        var used = 0
        for character in text {
            if used + width(character) > columns - 1 { break }
            result.append(character)
            used += width(character)
        }
        return columns > 0 ? result + "…" : ""
    }
}
