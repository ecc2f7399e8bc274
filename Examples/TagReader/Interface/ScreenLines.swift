// SPDX-License-Identifier: Apache-2.0
import CoreNFC

/// The screens as lines of text: pure functions of what they show and how much room there is.
enum ScreenLines {
    /// The lines that a scanning sheet takes, with some room for a long text.
    private static let sheetLines = 12

    /// The list of messages.
    ///
    /// - Parameters:
    ///   - messages: the messages, newest last.
    ///   - selection: the index of the selected one.
    ///   - status: a sentence for the last line but one; nil to leave room for a sheet instead.
    ///   - size: the terminal's size.
    static func list(
        _ messages: [NFCNDEFMessage],
        selection: Int,
        status: String?,
        size: Keyboard.Size
    ) -> [String] {
        let room = room(in: size, hasStatus: status != nil)
        var rows: [String] = []
        if messages.isEmpty {
            rows = ["  No messages yet. Press s to scan."]
        } else {
            let first = max(0, min(selection - room / 2, messages.count - room))
            for index in messages.indices.dropFirst(first).prefix(room) {
                let row = MessageLines.row(of: messages[index], number: index + 1)
                let line = Lines.cut((index == selection ? "> " : "  ") + row, columns: size.columns)
                rows.append(index == selection ? "\u{1B}[7m" + line + "\u{1B}[0m" : line)
            }
        }
        let keys = "s scan  m scan many  Enter open  w write  d delete  q quit"
        return page("Messages", rows, room: room, status: status, keys: keys, size: size)
    }

    /// The details of a message.
    ///
    /// - Returns: the lines, and how far they are really scrolled.
    static func details(
        _ lines: [String],
        scroll: Int,
        status: String?,
        size: Keyboard.Size
    ) -> ([String], scroll: Int) {
        let room = room(in: size, hasStatus: status != nil)
        let wrapped = lines.dropFirst().flatMap { Lines.wrapped($0, columns: size.columns) }
        let scroll = max(0, min(scroll, wrapped.count - room))
        let rows = Array(wrapped.dropFirst(scroll).prefix(room))
        let keys = "w write  up/down scroll  Esc back"
        return (
            page(lines.first ?? "", rows, room: room, status: status, keys: keys, size: size), scroll
        )
    }

    /// An alert, which any key takes away.
    static func alert(_ title: String, _ text: String, size: Keyboard.Size) -> [String] {
        ["", "\u{1B}[1m" + Lines.cut("  " + title, columns: size.columns) + "\u{1B}[0m", ""]
            + Lines.wrapped(Lines.escaped(text), columns: size.columns - 4).map { "  " + $0 }
            + ["", "  Press any key."]
    }

    private static func room(in size: Keyboard.Size, hasStatus: Bool) -> Int {
        max(size.lines - (hasStatus ? 5 : 3 + sheetLines), 1)
    }

    private static func page(
        _ title: String,
        _ rows: [String],
        room: Int,
        status: String?,
        keys: String,
        size: Keyboard.Size
    ) -> [String] {
        let head = ["\u{1B}[1m" + Lines.cut(title, columns: size.columns) + "\u{1B}[0m", ""]
        guard let status else { return head + rows }
        let space = Array(repeating: "", count: max(room - rows.count, 0) + 1)
        return head + rows + space
            + [Lines.cut(Lines.escaped(status), columns: size.columns), Lines.cut(keys, columns: size.columns)]
    }
}
