// SPDX-License-Identifier: Apache-2.0
import Foundation
import PhoneScreens
import TextSafety

/// Shows the app's screens on a full-screen terminal, with a key for each button.
///
/// Reads no keys during a session: the scanning sheet owns the terminal then, and Esc cancels the session.
@MainActor
final class TerminalInterface {
    private let app: Screens
    /// The selected row of the list, by ID and index. Other app instances may add and delete rows.
    private var selection = (id: "", index: 0)
    /// The current screen's title. ``scroll`` is the number of lines scrolled off the top.
    private var title = ""
    private var scroll = 0
    /// The lines below the title, which do not scroll.
    private var head: [String] = []
    /// Whether a session is running, so that the scanning sheet uses the lower part of the terminal.
    private var isSheetUp = false
    private var size = Terminal.size

    init(_ app: Screens) { self.app = app }

    /// Runs until the user quits. Returns the exit status; nil if there is no terminal.
    func run() async -> Int32? {
        guard Terminal.enter() else { return nil }
        defer { Terminal.leave() }
        app.onChange = { [self] in if !isSheetUp { draw() } }
        // The user is looking at the notification. Raise the window, and ring the bell in case raising fails.
        app.onArrival = { [self] in if !isSheetUp { put("\u{1B}[1t\u{1B}[5t\u{07}", to: .standardOutput) } }
        app.begin()
        while true {
            if let key = await Terminal.nextKey(within: 250) {
                if let status = await handle(key, app.screen) { return status }
            } else {
                await app.refresh()
                if size != Terminal.size { draw() }
            }
        }
    }

    // MARK: Keys

    private static let keys: [Character: String] = ["s": "scan", "m": "scan-many", "w": "write", "d": "ask"]

    private static let help = [
        "  s           scans one card", "  m           scans many cards, one after the other",
        "  Enter       opens the message", "  w           writes the message to a card",
        "  d           deletes the message", "  up, down    go one line", "  PgUp, PgDn  go one screen",
        "  Esc         goes back; on the sheet it cancels", "  q           goes back, and ends the app from the list",
    ]

    /// Handles a key. Returns the exit status if the key ends the app.
    private func handle(_ key: Key, _ screen: PhoneScreen) async -> Int32? {
        let row = screen.items.first { $0.id == selection.id && $0.kind == .row }?.id
        switch key {
        case .interrupt: return 130
        case .closed: return 0
        case .suspend:
            Terminal.suspend()
            draw()
        case _ where !(screen.alert?.buttons ?? []).isEmpty:
            let buttons = screen.alert?.buttons ?? []
            if let button = key == .character("y") ? buttons.last : buttons.first { await app.press(button.id) }
        case .up: move(by: -1)
        case .down: move(by: 1)
        case .pageUp: move(by: -room)
        case .pageDown: move(by: room)
        case .character("q") where screen.back == nil: return 0
        case .character("q"), .escape: if let back = screen.back { await app.press(back.id) }
        case .enter: if let id = screen.back?.id ?? row { await app.press(id) }
        case .character("?"): app.showHelp(Self.help)
        case .character(let character):
            guard let id = Self.keys[character] else { break }
            // In the list, the key applies to the selected message.
            if !screen.items.contains(where: { $0.id == id }), let row { await app.press(row) }
            guard app.screen.items.contains(where: { $0.id == id }) else { break }
            await press(id)
        }
        return nil
    }

    /// Presses a button. After a session, its sheet stays on screen briefly or until a key is pressed.
    private func press(_ id: String) async {
        isSheetUp = id != "ask"
        draw()
        await app.press(id)
        if isSheetUp { await Terminal.wait(1500) }
        isSheetUp = false
        draw()
    }

    private func move(by lines: Int) {
        if app.screen.back == nil { selection = ("", selection.index + lines) } else { scroll += lines }
        draw()
    }

    // MARK: Drawing

    /// The height of a scanning sheet in lines, with an empty line above.
    private static let sheetLines = 11

    /// How many lines fit between the text at the top and the sheet or the keys at the bottom.
    private var room: Int { max(size.lines - head.count - (isSheetUp ? Self.sheetLines : 0) - 2, 1) }

    /// Draws the screen, and leaves the cursor where a sheet is drawn, above the keys. The terminal truncates long lines.
    private func draw() {
        size = Terminal.size
        let screen = app.screen
        if screen.title != title { (title, scroll) = (screen.title, 0) }
        if let number = app.shown { selection.id = "message-\(number)" }
        let texts = screen.alert == nil ? screen.items.prefix { $0.kind == .text } : []
        head = texts.flatMap(\.lines).flatMap(wrapped)
        var lines: [String] = []
        if let alert = screen.alert {
            lines = (alert.detail ?? "").components(separatedBy: "\n").flatMap(wrapped)
        } else {
            select(in: screen.items.filter { $0.kind == .row }.compactMap(\.id))
            for item in screen.items.dropFirst(texts.count) {
                guard let id = item.id, item.kind == .row else {
                    lines += item.lines.flatMap(wrapped)
                    continue
                }
                let text = VisibleText.escaped(item.lines.joined())
                if id == selection.id { scroll = min(max(scroll, lines.count - room + 1), lines.count) }
                lines.append(id == selection.id ? "\u{1B}[7m> \(text)\u{1B}[0m" : "  \(text)")
            }
        }
        scroll = max(min(scroll, lines.count - room), 0)
        lines = Array(lines.dropFirst(scroll).prefix(room))
        var page = ["\u{1B}[1m\(VisibleText.escaped(screen.alert?.text ?? screen.title))\u{1B}[0m"] + head + lines
        page += Array(repeating: "", count: max(size.lines - page.count - 1, 0))
        page.append(isSheetUp ? "Esc Cancel" : keys(of: screen))
        let toSheet = isSheetUp ? "\r\u{1B}[\(Self.sheetLines - 1)A" : ""
        put("\u{1B}[?25l\u{1B}[H\u{1B}[J" + page.joined(separator: "\r\n") + toSheet, to: .standardOutput)
    }

    /// Keeps the same row selected. If that row is gone, selects the row now at its index.
    private func select(in rows: [String]) {
        guard !rows.isEmpty else { return }
        selection.index = rows.firstIndex(of: selection.id) ?? max(0, min(selection.index, rows.count - 1))
        selection.id = rows[selection.index]
    }

    private func keys(of screen: PhoneScreen) -> String {
        if let buttons = screen.alert?.buttons {
            return buttons.count < 2 ? "Press any key." : "y \(buttons[1].text)  any other key \(buttons[0].text)"
        }
        let buttons = screen.items.compactMap { item in
            Self.keys.first { $0.value == item.id }.map { "\($0.key) \(item.text)" }
        }
        let others = screen.back == nil ? ["Enter Open", "? Help", "q Quit"] : ["up/down Scroll", "? Help", "q Back"]
        return (buttons + others).joined(separator: "  ")
    }

    /// Wraps a line at word boundaries. Continuation lines are indented to the value column, after the label.
    private func wrapped(_ text: String) -> [String] {
        var rest = VisibleText.escaped(text)
        let indent = String(repeating: " ", count: rest.hasPrefix("  ") ? 14 : 0)
        let columns = max(size.columns, indent.count + 10)
        var lines: [String] = []
        while rest.count > columns {
            let line = rest.prefix(columns)
            let space = line.dropFirst(indent.count + 1).lastIndex(of: " ") ?? line.endIndex
            lines.append(String(rest[..<space]))
            rest = indent + rest[space...].drop { $0 == " " }
        }
        return lines + [rest]
    }
}

extension PhoneScreen {
    fileprivate var alert: Item? { items.first { $0.kind == .alert } }
}
