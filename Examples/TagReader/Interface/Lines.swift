// SPDX-License-Identifier: Apache-2.0

/// Lines of text for a terminal.
enum Lines {
    /// Cuts a line that is too long; wide characters count as two columns.
    static func cut(_ text: String, columns: Int) -> String {
        var used = 0
        var result = ""
        for character in text {
            let width = width(character)
            if used + width > columns {
                while used > columns - 1, let last = result.popLast() { used -= self.width(last) }
                return columns > 0 ? result + "…" : ""
            }
            result.append(character)
            used += width
        }
        return result
    }

    /// Breaks a text into lines, at its spaces, and inside of a word that is longer than a line.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - columns: the columns of a line.
    static func wrapped(_ text: String, columns: Int) -> [String] {
        let columns = max(columns, 2)
        var lines: [String] = []
        var line = ""
        var used = 0
        for character in text {
            if used + width(character) > columns {
                let space = line.lastIndex(of: " ")
                if character == " " || space == nil || space == line.startIndex {
                    lines.append(line)
                    (line, used) = ("", 0)
                    if character == " " { continue }
                } else if let space {
                    lines.append(String(line[..<space]))
                    line = String(line[line.index(after: space)...])
                    used = width(line)
                }
            }
            line.append(character)
            used += width(character)
        }
        return lines + [line]
    }

    /// The columns that a text takes.
    static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    private static func width(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
