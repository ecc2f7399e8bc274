// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import PrivateStorage

/// Remembers which notification is whose entry, so that a click still opens it when the service was started anew.
struct NotificationMemory {
    private static let name = "notifications"

    private let store: DirectoryStore
    private let bus: String

    /// - Parameters:
    ///   - store: a folder that does not outlive the session.
    ///   - bus: what tells the bus from every other.
    init(_ store: DirectoryStore, bus: String) {
        self.store = store
        self.bus = bus
    }

    /// What was kept on this bus.
    var entries: [Notifier.Shown: InboxEntry.ID] {
        let octets = (try? store.read(Self.name, limit: 64 << 10)) ?? []
        let lines = String(decoding: octets, as: UTF8.self).split(separator: "\n")
        guard lines.first == bus[...] else { return [:] }
        var entries: [Notifier.Shown: InboxEntry.ID] = [:]
        for line in lines.dropFirst() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let number = UInt32(words[1]), let id = InboxEntry.ID(words[2]) else { continue }
            entries[Notifier.Shown(sender: words[0], number: number)] = id
        }
        return entries
    }

    /// Keeps what is shown now. When that fails, a click after a new start opens nothing, and the inbox has the entry.
    func keep(_ entries: [Notifier.Shown: InboxEntry.ID]) {
        let lines = [bus] + entries.map { "\($0.key.sender) \($0.key.number) \($0.value)" }
        try? store.replace(Self.name, with: Array(lines.joined(separator: "\n").utf8))
    }
}
