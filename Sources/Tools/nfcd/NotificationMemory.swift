// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinuxSupport

/// Stores the topics of the visible notifications, so that a click still opens the link after a restart of the service.
struct NotificationMemory {
    private static let name = "notifications"

    private let store: PrivateFolder
    private let bus: String

    /// - Parameters:
    ///   - store: a folder that is removed at the end of the session.
    ///   - bus: the identifier of the bus.
    init(_ store: PrivateFolder, bus: String) {
        self.store = store
        self.bus = bus
    }

    /// The notifications that were stored for this bus.
    var notifications: [ShownNotification: NotificationTopic] {
        let bytes = (try? store.read(Self.name, limit: 64 << 10)) ?? []
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.first == bus[...] else { return [:] }
        var notifications: [ShownNotification: NotificationTopic] = [:]
        for line in lines.dropFirst() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 3, let number = UInt32(words[1]) else { continue }
            let ids = words[3...].compactMap { InboxEntry.ID($0) }
            let subject: NotificationSubject
            switch (words[2], ids.first) {
            case ("entry", let id?): subject = .entry(id)
            case ("summary", _?): subject = .summary
            default: continue
            }
            let shown = ShownNotification(sender: words[0], number: number)
            notifications[shown] = NotificationTopic(subject: subject, entries: ids)
        }
        return notifications
    }

    /// Stores the visible notifications. If that fails, a click after a restart opens nothing, but the inbox still has
    /// the entry.
    func keep(_ notifications: [ShownNotification: NotificationTopic]) {
        let lines = notifications.map { shown, topic in
            let kind = topic.subject == .summary ? "summary" : "entry"
            return "\(shown.sender) \(shown.number) \(kind) " + topic.entries.map(\.description).joined(separator: " ")
        }
        try? store.replace(Self.name, with: Array(([bus] + lines).joined(separator: "\n").utf8))
    }
}
