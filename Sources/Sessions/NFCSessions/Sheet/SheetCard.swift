// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// Draws the scanning sheet as lines of text that fit the available space.
package enum SheetCard {
    package static let maximumWidth = 50

    /// Draws the sheet.
    ///
    /// - Parameters:
    ///   - width: the columns of the terminal. Below 20, the card has no frame.
    ///   - height: the lines of the terminal. A message that is too long is truncated.
    ///   - usesColor: whether the symbol and the hint are coloured.
    /// - Returns: the lines, none of them longer than `width`; empty when the sheet is dismissed.
    package static func render(
        _ content: SheetContent,
        width: Int,
        height: Int = 24,
        usesColor: Bool = false
    ) -> [String] {
        if content.state == .dismissed { return [] }
        let hasFrame = width >= 20
        let outer = min(width, maximumWidth)
        let inner = max(hasFrame ? outer - 2 : outer, 2)
        let text = hasFrame ? inner - 4 : inner

        var rows: [Row] = []
        if !content.title.isEmpty {
            rows += [Row(VisibleText.escaped(content.title), style: .bold), Row("")]
        }
        if let symbol = symbol(of: content) { rows += [symbol] }
        let message = TerminalText.wrap(VisibleText.escaped(content.message, keepsLineBreaks: true), columns: text)
        let hint = content.canCancel ? [Row(""), Row("Esc to cancel", style: .dim)] : []
        let room = max(height - 1 - rows.count - 1 - hint.count - (hasFrame ? 2 : 0), 1)
        if !message.isEmpty {
            if !rows.isEmpty, rows.last?.text != "" { rows.append(Row("")) }
            rows += message.prefix(room).map { Row($0) }
            if message.count > room {
                rows[rows.count - 1] = Row(TerminalText.cut(message[room - 1] + "…", columns: text))
            }
        }
        rows += hint

        let edge = String(repeating: "─", count: inner)
        let lines = rows.map { row in
            let line = row.style.applied(to: TerminalText.centred(row.text, columns: inner), usesColor: usesColor)
            return hasFrame ? "│\(line)│" : line
        }
        return hasFrame ? ["╭\(edge)╮"] + lines + ["╰\(edge)╯"] : lines
    }

    /// Returns the symbol for the state. Phones draw a picture, a check mark or an error symbol instead.
    private static func symbol(of content: SheetContent) -> Row? {
        switch content.state {
        case .ready: Row("( ( · ) )", style: .blue)
        case .scanning: Row("( ( ● ) )", style: .blue)
        case .success: Row("✓", style: .green)
        case .failure: content.showsErrorSymbol ? Row("✗", style: .red) : nil
        case .dismissed: nil
        }
    }

    private struct Row {
        var text: String
        var style: Style

        init(_ text: String, style: Style = .plain) {
            self.text = text
            self.style = style
        }
    }

    /// The colours are legible on a black and on a white background. A terminal's own blue and green are not.
    private enum Style: String {
        case plain = ""
        case bold = "1"
        case dim = "2"
        case red = "38;5;196"
        case green = "38;5;28"
        case blue = "38;5;63"

        func applied(to text: String, usesColor: Bool) -> String {
            usesColor && self != .plain ? "\u{1B}[\(rawValue)m" + text + "\u{1B}[0m" : text
        }
    }
}

/// Prepares the text of an app or a tag for a terminal: measures it in columns, and wraps it.
package enum TerminalText {
    /// Returns how many columns a text takes on a terminal.
    package static func width(_ text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + width($1) }
    }

    /// Returns how many columns a character takes: 0 for a lone combining mark, 2 for wide East Asian characters and
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

    /// Wraps a text at spaces, and splits words that are longer than a line.
    ///
    /// - Parameters:
    ///   - text: the text; a line feed ends a line.
    ///   - columns: the columns of a line, at least 2.
    /// - Returns: the lines without trailing spaces; empty for an empty text.
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

    /// Centres a text in a line. A text that is too long is truncated.
    package static func centred(_ text: String, columns: Int) -> String {
        let text = cut(text, columns: columns)
        let space = columns - width(text)
        let left = space / 2
        return String(repeating: " ", count: left) + text + String(repeating: " ", count: space - left)
    }

    /// Truncates a text that is longer than a line, and appends an ellipsis.
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
