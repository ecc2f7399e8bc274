// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// Draws the scanning sheet as lines of text, from its content and the available space.
package enum SheetCard {
    /// The maximum width of a card with its frame.
    package static let maximumWidth = 50

    /// Draws the sheet.
    ///
    /// - Parameters:
    ///   - content: the content of the sheet.
    ///   - width: the columns of the terminal. Below 20, the card has no frame.
    ///   - height: the lines of the terminal. A message that does not fit is cut.
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

    /// Returns the symbol of the state. A phone draws a picture, a check mark or an error symbol.
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

    private enum Style: String {
        case plain = ""
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case blue = "34"

        func applied(to text: String, usesColor: Bool) -> String {
            usesColor && self != .plain ? "\u{1B}[\(rawValue)m" + text + "\u{1B}[0m" : text
        }
    }
}
