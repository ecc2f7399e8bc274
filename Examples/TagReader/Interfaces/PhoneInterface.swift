// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import PhoneScreens

/// The app on the phone of a simulator: a list of messages, the details of one, and alerts.
///
/// The scanning sheet is the framework's, as on every reader.
@MainActor
final class PhoneInterface {
    private let reader: MessageReader
    private let phone: SimulatedPhone
    private lazy var links = LinkReceiver(reader) { [self] number in
        (shown, note, alert) = (number, Wording.arrived, nil)
        draw()
    }
    /// The number of the message whose records are shown; nil for the list.
    private var shown: Int?
    /// An alert or a question over the screen.
    private var alert: PhoneScreen.Item?
    private var note = ""
    /// Whether a session runs.
    private var isBusy = false

    init(_ reader: MessageReader, _ phone: SimulatedPhone) {
        self.reader = reader
        self.phone = phone
    }

    /// Runs until the process is ended.
    ///
    /// - Returns: the exit status.
    func run() async -> Int32 {
        say("The app is on the phone of the simulator. To end it, press Ctrl-C.")
        if let problem = reader.load() { show(alert: "Saved Messages", problem) }
        if reader.store.messages.contains(where: \.isNew) { note = Wording.arrivedBefore }
        links.begin()
        draw()
        for await id in phone.presses {
            _ = reader.reload()
            handle(id)
            draw()
        }
        return 0
    }

    private func handle(_ id: String) {
        if id != "scan" { note = "" }
        switch id {
        case "scan": during { await $0.scan(readsMany: false) }
        case "scan-many": during { await $0.scan(readsMany: true) }
        case "write": during { await $0.write() }
        case "back": shown = nil
        case "ask": alert = shown.map(Self.question)
        case "close": alert = nil
        case "delete": delete()
        default: if let number = Int(id.dropFirst("message-".count)) { shown = number }
        }
    }

    /// Runs one session at a time. Presses are handled meanwhile.
    private func during(_ work: @escaping @MainActor (PhoneInterface) async -> Void) {
        guard !isBusy else { return }
        isBusy = true
        alert = nil
        Task {
            await work(self)
            isBusy = false
            draw()
        }
    }

    private func scan(readsMany: Bool) async {
        let result = await reader.scan(readsMany: readsMany)
        if let last = result.added.last {
            note = result.added.count == 1 ? "1 message was added." : "\(result.added.count) messages were added."
            if !readsMany { shown = last }
        }
        if let text = result.alert { show(alert: reader.endTitle, text) }
    }

    private func write() async {
        guard let message = shown.flatMap(reader.store.message) else { return }
        switch await reader.write(message) {
        case .written: note = Wording.written
        case .failed(let text): note = text
        case .ended(_, let text): if let text { show(alert: reader.endTitle, text) }
        }
    }

    private func delete() {
        alert = nil
        guard let number = shown else { return }
        do {
            try reader.remove(number)
            (shown, note) = (nil, "Message \(number) is deleted.")
        } catch {
            show(alert: "Not Deleted", error.text)
        }
    }

    // MARK: Screens

    private func draw() {
        if let number = shown { reader.markSeen(number) }
        var screen = shown.flatMap(reader.store.message).map(details) ?? list
        if let alert { screen.items.append(alert) }
        phone.show(screen)
    }

    /// The messages, the newest first.
    private var list: PhoneScreen {
        let messages = reader.store.messages
        var items: [PhoneScreen.Item] = note.isEmpty ? [] : [.text(note)]
        if messages.isEmpty { items.append(.text("No messages yet.", detail: "Scan a card to see what it holds.")) }
        items += messages.reversed().map { stored in
            let message = stored.message
            return .row(
                MessageLines.summary(of: message),
                detail: "Message \(stored.number), \(MessageLines.count(of: message)), \(message.length) bytes",
                badge: stored.isNew ? "New" : nil,
                id: "message-\(stored.number)"
            )
        }
        items += [.button("Scan", id: "scan"), .button("Scan Many", id: "scan-many", style: .plain)]
        return PhoneScreen(title: "Messages", items: items)
    }

    private func details(of stored: StoredMessage) -> PhoneScreen {
        let message = stored.message
        let size = "\(MessageLines.count(of: message)), \(message.length) bytes"
        var items: [PhoneScreen.Item] = [.text(note.isEmpty ? size : note, detail: note.isEmpty ? nil : size)]
        for (index, record) in message.records.enumerated() {
            let details = RecordDetails(record)
            items += [
                .heading("Record \(index + 1)"), .row(details.payload.joined(separator: "\n"), detail: "Payload"),
                .row(details.format, detail: "Format"), .row(details.type, detail: "Type"),
                .row(details.identifier, detail: "Identifier"),
            ]
        }
        items += [.button("Write to a Card", id: "write"), .button("Delete", id: "ask", style: .destructive)]
        return PhoneScreen(
            title: "Message \(stored.number)",
            back: PhoneScreen.Button("Messages", id: "back"),
            items: items
        )
    }

    private func show(alert title: String, _ text: String) {
        alert = .alert(title, text: text, buttons: [PhoneScreen.Button("OK", id: "close")])
    }

    private static func question(_ number: Int) -> PhoneScreen.Item {
        .alert(
            "Delete This Message?",
            text: "Message \(number) is deleted from the list. Cards keep theirs.",
            buttons: [
                PhoneScreen.Button("Cancel", id: "close", style: .plain),
                PhoneScreen.Button("Delete", id: "delete", style: .destructive),
            ]
        )
    }
}
