// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import PhoneScreens

/// The screens on a simulated phone: pure functions of what they show.
enum MessageScreens {
    /// The ids of rows and buttons.
    enum Press: Hashable {
        case scan, scanMany, back, write, ask, delete, close
        case message(Int)

        init?(_ id: String) {
            switch id {
            case "scan": self = .scan
            case "scan-many": self = .scanMany
            case "back": self = .back
            case "write": self = .write
            case "ask": self = .ask
            case "delete": self = .delete
            case "close": self = .close
            default:
                guard id.hasPrefix("message-"), let number = Int(id.dropFirst(8)) else { return nil }
                self = .message(number)
            }
        }
    }

    /// How many messages the list shows, the newest first.
    private static let limit = 100

    /// The list of messages, the newest first.
    ///
    /// - Parameters:
    ///   - messages: the messages, the newest last.
    ///   - note: a sentence above them; empty for none.
    static func list(_ messages: [StoredMessage], note: String) -> PhoneScreen {
        var items: [PhoneScreen.Item] = []
        if !note.isEmpty { items.append(.text(note)) }
        if messages.isEmpty { items.append(.text("No messages yet.", detail: "Scan a card to see what it holds.")) }
        items += messages.reversed().prefix(limit).map(row)
        let hidden = messages.count - limit
        if hidden > 0 { items.append(.text("The \(hidden) oldest messages are not shown.")) }
        items += [.button("Scan", id: "scan"), .button("Scan Many", id: "scan-many", style: .plain)]
        return PhoneScreen(title: "Messages", items: items)
    }

    private static func row(of stored: StoredMessage) -> PhoneScreen.Item {
        let message = stored.message
        return .row(
            RecordDetails.summary(of: message),
            detail: "Message \(stored.number), \(RecordDetails.count(of: message)), \(message.length) bytes",
            badge: stored.isSaved ? (stored.isNew ? "New" : nil) : "Not Saved",
            id: "message-\(stored.number)"
        )
    }

    /// The records of a message.
    ///
    /// - Parameters:
    ///   - stored: the message.
    ///   - note: a sentence above them; empty for none.
    static func details(of stored: StoredMessage, note: String) -> PhoneScreen {
        let message = stored.message
        let size = "\(RecordDetails.count(of: message)), \(message.length) bytes"
        var items: [PhoneScreen.Item] = [.text(note.isEmpty ? size : note, detail: note.isEmpty ? nil : size)]
        for (index, record) in message.records.enumerated() {
            let details = RecordDetails(record)
            items += [
                .heading("Record \(index + 1)"),
                .row(details.payload.joined(separator: "\n"), detail: "Payload"),
                .row(details.format, detail: "Format"),
                .row(details.type, detail: "Type"),
                .row(details.identifier, detail: "Identifier"),
            ]
        }
        items += [
            .button("Write to a Card", id: "write"), .button("Delete", id: "ask", style: .destructive),
        ]
        return PhoneScreen(
            title: "Message \(stored.number)",
            back: PhoneScreen.Button("Messages", id: "back"),
            items: items
        )
    }

    /// An alert that is only closed.
    static func alert(_ title: String, _ text: String) -> PhoneScreen.Item {
        .alert(title, text: text, buttons: [PhoneScreen.Button("OK", id: "close")])
    }

    /// Whether a message is to be deleted.
    static func question(_ number: Int) -> PhoneScreen.Item {
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
