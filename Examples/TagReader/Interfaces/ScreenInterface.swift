// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextSafety

/// The app on the whole screen of a terminal: a list of messages, the details of one, and alerts.
///
/// It reads no keys during a session: the scanning sheet then owns the terminal, and Esc cancels it.
@MainActor
final class ScreenInterface {
    private enum Screen { case list, details, help }

    private let reader: MessageReader
    private lazy var links = LinkReceiver(reader) { [self] in show($0) }
    private var screen = Screen.list
    /// The number of the selected message. Other instances of the app may add and delete messages.
    private var selection: Int?
    /// How many lines are scrolled off above the screen.
    private var scroll = 0
    /// A sentence at the bottom.
    private var note = ""
    /// An alert, which stays until a key is typed.
    private var alert: (title: String, text: String)?
    /// Whether the selected message is to be deleted.
    private var asksToDelete = false
    /// Whether a session runs, so that the lower part of the terminal belongs to the sheet.
    private var isSheetUp = false
    private var size = Terminal.size

    init(_ reader: MessageReader) { self.reader = reader }

    /// Runs until the person quits.
    ///
    /// - Returns: the exit status; nil when there is no terminal.
    func run() async -> Int32? {
        guard Terminal.enter() else { return nil }
        defer { Terminal.leave() }
        begin()
        var ticks = 0
        while true {
            guard let key = await Terminal.nextKey(within: 250) else {
                ticks += 1
                await look(asksForLinks: ticks % 8 == 0)
                continue
            }
            if let status = await handle(key) { return status }
            draw()
        }
    }

    private func begin() {
        if let problem = reader.load() { alert = ("Saved Messages", problem) }
        selection = reader.store.messages.last?.number
        links.begin()
        if links.state == .elsewhere { note = Wording.linksElsewhere }
        if let new = reader.store.messages.last(where: \.isNew) {
            (selection, note) = (new.number, Wording.arrivedBefore)
        }
        draw()
    }

    private var messages: [StoredMessage] { reader.store.messages }
    private var index: Int? { messages.firstIndex { $0.number == selection } }
    private var selected: StoredMessage? { selection.flatMap(reader.store.message) }

    /// Checks for changes while no key came.
    private func look(asksForLinks: Bool) async {
        let row = index ?? 0
        var isChanged = size != Terminal.size
        if let added = reader.reload() {
            isChanged = true
            if selected == nil {
                if screen == .details { (screen, note) = (.list, "That message was deleted in another window.") }
                selection = messages.isEmpty ? nil : messages[min(row, messages.count - 1)].number
            }
            if let last = added.last, screen == .list {
                (selection, note) = (last, "Another window added message \(last).")
            }
        }
        if asksForLinks, await links.takeOver() {
            isChanged = true
            note = Wording.linksHere
        }
        if isChanged { draw() }
    }

    /// Shows a message that came from a card. It replaces a question and an alert.
    private func show(_ number: Int) {
        (screen, selection, scroll, note) = (.details, number, 0, Wording.arrived)
        (alert, asksToDelete) = (nil, false)
        guard !isSheetUp else { return }
        // The person looks at the notification. Raise the window, and ring the bell in case that is not possible.
        put("\u{1B}[1t\u{1B}[5t\u{07}", to: .standardOutput)
        draw()
    }

    // MARK: Keys

    /// Handles a key.
    ///
    /// - Returns: the exit status when it ends the app.
    private func handle(_ key: Key) async -> Int32? {
        switch key {
        case .interrupt: return 130
        case .closed: return 0
        case .suspend:
            Terminal.suspend()
            return nil
        default: break
        }
        note = ""
        if alert != nil {
            alert = nil
        } else if asksToDelete {
            asksToDelete = false
            if key == .character("y") { delete() }
        } else {
            return await handleOnScreen(key)
        }
        return nil
    }

    private func handleOnScreen(_ key: Key) async -> Int32? {
        switch key {
        case .up: move(by: -1)
        case .down: move(by: 1)
        case .pageUp: move(by: -room)
        case .pageDown: move(by: room)
        case .character("q") where screen == .list: return 0
        case .character("q"), .escape: (screen, scroll) = (.list, 0)
        case .enter: (screen, scroll) = (screen == .list && selected != nil ? .details : .list, 0)
        case .character("?"): (screen, scroll) = (.help, 0)
        case .character("s") where screen == .list: await scan(readsMany: false)
        case .character("m") where screen == .list: await scan(readsMany: true)
        case .character("w") where screen != .help: await write()
        case .character("d") where screen != .help: asksToDelete = selected != nil
        default: break
        }
        return nil
    }

    private func move(by lines: Int) {
        if screen == .list, let index {
            selection = messages[max(0, min(index + lines, messages.count - 1))].number
        } else {
            // Drawing limits it to the lines that exist.
            scroll = max(scroll + lines, 0)
        }
    }

    // MARK: Actions

    private func scan(readsMany: Bool) async {
        let result = await withSheet { await reader.scan(readsMany: readsMany) }
        if let last = result.added.last {
            if screen == .list { selection = last }
            note = result.added.count == 1 ? "1 message was added." : "\(result.added.count) messages were added."
        }
        if let text = result.alert { alert = (reader.endTitle, text) }
    }

    private func write() async {
        guard let message = selected else { return }
        switch await withSheet({ await reader.write(message) }) {
        case .written: note = Wording.written
        case .failed(let text): note = text
        case .ended(_, let text): if let text { alert = (reader.endTitle, text) }
        }
    }

    /// Runs a session. Its sheet stays on the screen for a moment or until a key is typed.
    private func withSheet<Value>(_ body: () async -> Value) async -> Value {
        isSheetUp = true
        draw()
        let value = await body()
        await Terminal.wait(1500)
        isSheetUp = false
        return value
    }

    private func delete() {
        guard let number = selection else { return }
        let row = index ?? 0
        do {
            try reader.remove(number)
            (screen, note) = (.list, "Message \(number) is deleted.")
            selection = messages.isEmpty ? nil : messages[min(row, messages.count - 1)].number
        } catch {
            alert = ("Not Deleted", error.text)
        }
    }

    // MARK: Drawing

    /// The lines that a scanning sheet takes, with some room for a long text.
    private static let sheetLines = 12

    /// How many lines of a list or of a message fit between the title and the lines at the bottom.
    private var room: Int { max(size.lines - (isSheetUp ? Self.sheetLines + 1 : 3), 1) }

    /// Draws the screen, and leaves the cursor where a sheet can be drawn. The terminal cuts lines that are too long.
    private func draw() {
        size = Terminal.size
        if screen == .details, let selection { reader.markSeen(selection) }
        var lines: [String]
        if let alert {
            lines = page(alert.title, wrapped(alert.text) + ["", "Press any key."])
        } else {
            switch screen {
            case .list: lines = page("Messages", rows)
            case .details:
                let details = selected.map(MessageLines.details) ?? []
                lines = page(details.first ?? "", details.dropFirst().flatMap(wrapped))
            case .help: lines = page("Help", help.flatMap(wrapped))
            }
        }
        let end = isSheetUp ? "\r\n\r\n" : ""
        put("\u{1B}[?25l\u{1B}[H\u{1B}[J" + lines.joined(separator: "\r\n") + end, to: .standardOutput)
    }

    private func page(_ title: String, _ rows: [String]) -> [String] {
        scroll = max(min(scroll, rows.count - room), 0)
        let shown = rows.dropFirst(scroll).prefix(room)
        let head = ["\u{1B}[1m\(VisibleText.escaped(title))\u{1B}[0m"] + shown
        guard !isSheetUp else { return head }
        let space = Array(repeating: "", count: room - shown.count)
        return head + space + [VisibleText.escaped(question ?? note), keys]
    }

    private var question: String? {
        asksToDelete ? selection.map { "Delete message \($0)? Press y to delete it." } : nil
    }

    /// The rows of the list, around the selected one.
    private var rows: [String] {
        guard let index else { return ["  No messages yet. Press s to scan."] }
        let first = max(0, min(index - room / 2, messages.count - room))
        return messages.indices.dropFirst(first).prefix(room).map { row in
            let text = VisibleText.escaped(MessageLines.row(of: messages[row]))
            return row == index ? "\u{1B}[7m> \(text)\u{1B}[0m" : "  \(text)"
        }
    }

    private var keys: String {
        switch screen {
        case .list: "s scan  m scan many  Enter open  w write  d delete  ? help  q quit"
        case .details: "w write  d delete  up/down scroll  ? help  q back"
        case .help: "up/down scroll  q back"
        }
    }

    private var help: [String] {
        let taken =
            switch links.state {
            case .here: "This window takes the links of cards that are read in the background."
            case .elsewhere: Wording.linksElsewhere
            case .nobody(let reason): "This app does not get the links of cards: \(reason)"
            }
        return Self.keyHelp + ["", "  The messages are in \(reader.store.path)", "  \(taken)"]
    }

    private static let keyHelp = [
        "  s           scans one card", "  m           scans many cards, one after the other",
        "  Enter       opens the message", "  w           writes the message to a card",
        "  d           deletes the message", "  up, down    go one line", "  PgUp, PgDn  go one screen",
        "  Esc         goes back; on the sheet it cancels", "  q           goes back, and ends the app from the list",
    ]

    /// A line of details, broken at words. The following lines begin where the value does, after the label.
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
