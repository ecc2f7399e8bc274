// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextSafety

/// The screens as lines of text: pure functions of their content and the size of the terminal.
struct ScreenLines {
    /// The lines that a scanning sheet takes, with some room for a long text.
    private static let sheetLines = 12

    let size: TerminalSize
    /// Whether a sheet is drawn below.
    let keepsRoomForSheet: Bool
    private let footer: [String]
    private let hasPosition: Bool
    private let hasSpace: Bool
    /// How many lines of a list or of a message fit on the screen.
    let room: Int

    /// Lays a screen out.
    ///
    /// - Parameters:
    ///   - place: the screen to show.
    ///   - size: the terminal's size.
    ///   - keepsRoomForSheet: leaves the lower part to a scanning sheet.
    init(_ place: ScreenState.Place, size: TerminalSize, keepsRoomForSheet: Bool = false) {
        self.size = size
        self.keepsRoomForSheet = keepsRoomForSheet
        let keys = Self.keys(place)
        footer = keepsRoomForSheet ? [] : keys.lines(columns: size.columns, limit: size.lines < 12 ? 1 : 3)
        // A title, and a sentence above the keys or the sheet; less important lines only if there is room.
        var room = size.lines - (keepsRoomForSheet ? 1 + Self.sheetLines : 2 + footer.count)
        hasPosition = room > 2
        if hasPosition { room -= 1 }
        hasSpace = room > 3
        if hasSpace { room -= 1 }
        self.room = max(room, 1)
    }

    private static func keys(_ place: ScreenState.Place) -> Footer {
        switch place {
        case .list, .question, .alert: .list
        case .details: .details
        case .help: .help
        }
    }

    /// The list of messages.
    func list(_ state: ScreenState) -> [String] {
        let messages = state.messages
        guard !messages.isEmpty else {
            return page("Messages", ["  No messages yet. Press s to scan."], "", state.status)
        }
        let index = messages.firstIndex { $0.number == state.selection } ?? 0
        let first = max(0, min(index - room / 2, messages.count - room))
        let width = String(messages.last?.number ?? 0).count
        let rows = messages.indices.dropFirst(first).prefix(room).map { row in
            let text = MessageLines.row(of: messages[row], width: width)
            let line = Lines.cut((row == index ? "> " : "  ") + text, columns: size.columns)
            return row == index ? "\u{1B}[7m" + line + "\u{1B}[0m" : line
        }
        let position = messages.count > room ? "\(index + 1) of \(messages.count)" : ""
        return page("Messages", rows, position, state.status)
    }

    /// The details of the selected message.
    func details(_ state: inout ScreenState) -> [String] {
        guard let selected = state.selected else { return list(state) }
        let message = selected.message
        let title = MessageLines.heading(of: message, number: selected.number)
        return scrolled(title, MessageLines.records(of: message), &state)
    }

    /// The help: the keys, and facts below them.
    func help(_ state: inout ScreenState, _ facts: [String]) -> [String] {
        let keys = [
            ("s", "scans one card"), ("m", "scans many cards, one after the other"), ("Enter", "opens the message"),
            ("w", "writes the message to a card"), ("d", "deletes the message"),
            ("up, down", "go one line (also k, j)"),
            ("PgUp, PgDn", "go one screen"), ("Home, End", "go to the first and the last (also g, G)"),
            ("Esc", "goes back; on the sheet it cancels"), ("q", "goes back, and ends the app from the list"),
        ]
        let lines = keys.map { key, does in
            MessageLines.Line(label: "  " + key.padding(toLength: 12, withPad: " ", startingAt: 0), value: does)
        }
        return scrolled("Help", lines + facts.map { MessageLines.Line(label: "  ", value: $0) }, &state)
    }

    /// An alert, which any key closes.
    func alert(_ title: String, _ text: String) -> [String] {
        let lines = Lines.wrapped(VisibleText.escaped(text), columns: size.columns - 4).map { "  " + $0 }
        let all =
            ["", "\u{1B}[1m" + Lines.cut("  " + title, columns: size.columns) + "\u{1B}[0m", ""]
            + lines.prefix(max(size.lines - 5, 1)) + ["", "  Press any key."]
        return Array(all.prefix(size.lines))
    }

    /// Lines that may not all fit on the screen. If not, the status says which ones are shown.
    private func scrolled(_ title: String, _ lines: [MessageLines.Line], _ state: inout ScreenState) -> [String] {
        let wrapped = lines.flatMap { $0.wrapped(columns: size.columns) }
        state.limitScroll(to: wrapped.count - room)
        let rows = Array(wrapped.dropFirst(state.scroll).prefix(room))
        let end = state.scroll + rows.count
        let position = wrapped.count > room ? "Lines \(state.scroll + 1) to \(end) of \(wrapped.count)" : ""
        return page(title, rows, position, state.status)
    }

    private func page(_ title: String, _ rows: [String], _ position: String, _ status: String) -> [String] {
        let head = "\u{1B}[1m" + Lines.cut(title, columns: size.columns) + "\u{1B}[0m"
        let lines = [head] + (hasPosition ? [Lines.cut(position, columns: size.columns)] : []) + rows
        guard !keepsRoomForSheet else { return lines }
        let space = Array(repeating: "", count: max(room - rows.count, 0) + (hasSpace ? 1 : 0))
        let sentence = Lines.cut(VisibleText.escaped(status), columns: size.columns)
        return Array((lines + space + [sentence] + footer).suffix(max(size.lines, 1)))
    }
}

/// The columns and lines of a terminal.
struct TerminalSize: Sendable, Equatable {
    var columns: Int
    var lines: Int
}
