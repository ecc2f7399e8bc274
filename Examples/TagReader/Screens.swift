// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import PhoneScreens

/// The app's screens: the message list, message details, and alerts. The simulated phone shows them directly; a
/// terminal shows them as lines with keyboard shortcuts.
@MainActor
final class Screens {
    private let reader: MessageReader
    /// Called after the screen has changed.
    var onChange: () -> Void = {}
    /// Called after a card's link has opened a message.
    var onArrival: () -> Void = {}
    private lazy var links = LinkReceiver(reader) { [self] number in
        (shown, note, alert) = (number, Wording.arrived, nil)
        onArrival()
        onChange()
    }
    /// The number of the message shown in detail; nil if the list is shown.
    private(set) var shown: Int?
    private var note = ""
    /// An alert or question shown over the screen.
    private var alert: PhoneScreen.Item?
    private var isBusy = false

    init(_ reader: MessageReader) { self.reader = reader }

    func begin() {
        if let problem = reader.store.load() { show(alert: "Saved Messages", problem) }
        links.begin()
        if links.state == .elsewhere { note = Wording.linksElsewhere }
        if reader.store.messages.contains(where: \.isNew) { note = Wording.arrivedBefore }
        onChange()
    }

    /// Handles a press on a row or button. For a scan or write, returns after the session has ended.
    func press(_ id: String) async {
        reader.store.reload()
        note = ""
        switch id {
        case "scan": if let last = await run({ await reader.scan(readsMany: false) }).last { shown = last }
        case "scan-many": await run { await reader.scan(readsMany: true) }
        case "write":
            if let message = shown.flatMap(reader.store.message) { await run { await reader.write(message) } }
        case "back": shown = nil
        case "ask": alert = shown.map(Self.question)
        case "close": alert = nil
        case "delete": delete()
        default: if let number = Int(id.dropFirst("message-".count)) { shown = number }
        }
        onChange()
    }

    /// Runs one session at a time. Returns the numbers of the messages the session added.
    @discardableResult
    private func run(_ session: () async -> SessionResult) async -> [Int] {
        guard !isBusy else { return [] }
        isBusy = true
        alert = nil
        onChange()
        let result = await session()
        isBusy = false
        note = result.note
        if let text = result.alert { show(alert: reader.endTitle, text) }
        return result.added
    }

    private func delete() {
        alert = nil
        guard let number = shown else { return }
        do {
            try reader.store.remove(number)
            (shown, note) = (nil, "Message \(number) is deleted.")
        } catch {
            show(alert: "Not Deleted", error.text)
        }
    }

    /// Shows changes made by other instances of the app. Call this periodically.
    func refresh() async {
        if let added = reader.store.reload() {
            if let number = shown, reader.store.message(number) == nil {
                (shown, note) = (nil, "That message was deleted in another window.")
            } else if let last = added.last, shown == nil {
                note = "Another window added message \(last)."
            }
            onChange()
        }
        if await links.takeOver() {
            note = Wording.linksHere
            onChange()
        }
    }

    // MARK: Screens

    /// The current screen.
    var screen: PhoneScreen {
        if let shown { reader.store.markSeen(shown) }
        var screen = shown.flatMap(reader.store.message).map(details) ?? list
        if let alert { screen.items.append(alert) }
        return screen
    }

    /// The list of messages, newest first.
    private var list: PhoneScreen {
        let messages = reader.store.messages
        var items: [PhoneScreen.Item] = note.isEmpty ? [] : [.text(note)]
        if messages.isEmpty { items.append(.text("No messages yet.", detail: "Scan a card to see what it holds.")) }
        items += messages.reversed().map { stored in
            .row(
                MessageText.summary(of: stored.message),
                detail:
                    "Message \(stored.number), \(MessageText.origin(of: stored) ?? MessageText.size(of: stored.message))",
                badge: stored.isNew ? "New" : nil,
                id: "message-\(stored.number)"
            )
        }
        items += [.button("Scan", id: "scan"), .button("Scan Many", id: "scan-many", style: .plain)]
        return PhoneScreen(title: "Messages", items: items)
    }

    private func details(of stored: StoredMessage) -> PhoneScreen {
        let facts = MessageText.facts(of: stored)
        let items: [PhoneScreen.Item] = [note.isEmpty ? .text(facts) : .text(note, detail: facts)]
        let buttons: [PhoneScreen.Item] = [
            .button("Write to a Card", id: "write"), .button("Delete", id: "ask", style: .destructive),
        ]
        return PhoneScreen(
            title: "Message \(stored.number)",
            back: PhoneScreen.Button("Messages", id: "back"),
            items: items + MessageText.items(of: stored.message) + buttons
        )
    }

    private func show(alert title: String, _ text: String) {
        alert = .alert(title, text: text, buttons: [PhoneScreen.Button("OK", id: "close")])
    }

    private static func question(_ number: Int) -> PhoneScreen.Item {
        .alert(
            "Delete This Message?",
            text: "This deletes message \(number) from the list. Cards are not changed.",
            buttons: [
                PhoneScreen.Button("Cancel", id: "close", style: .plain),
                PhoneScreen.Button("Delete", id: "delete", style: .destructive),
            ]
        )
    }

    /// Shows where the messages are stored and which window receives links, below the terminal's key list.
    func showHelp(_ keys: [String]) {
        let taken =
            switch links.state {
            case .here: "This window receives the links of cards read in the background."
            case .elsewhere: Wording.linksElsewhere
            case .nobody(let reason): "This app does not receive card links: \(reason)"
            }
        let lines = keys + ["", "  The messages are in \(reader.store.path)", "  \(taken)"]
        show(alert: "Help", lines.joined(separator: "\n"))
        onChange()
    }
}
