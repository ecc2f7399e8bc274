// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import PrivateStorage
import Testing

@testable import nfcd

/// The service's folder for shown notifications.
@MainActor private final class Storage {
    private let folder: ScratchFolder
    let store: DirectoryStore

    init() throws {
        folder = try ScratchFolder()
        store = try DirectoryStore(folder.path("run"))
    }

    func memory(_ bus: String = "bus") -> NotificationMemory { NotificationMemory(store, bus: bus) }

    /// What is stored for a bus: for each number the sender, the subject and the entries.
    func stored(_ bus: String = "bus") -> [UInt32: String] {
        var texts: [UInt32: String] = [:]
        for (shown, topic) in memory(bus).notifications {
            let numbers = topic.entries.map { String($0.number) }.joined(separator: ",")
            let kind = topic.subject == .summary ? "summary" : topic.subject == .entry(topic.entries[0]) ? "entry" : "?"
            texts[shown.number] = "\(shown.sender) \(kind) \(numbers)"
        }
        return texts
    }

    func write(_ bytes: [UInt8]) throws { try store.replace("notifications", with: bytes) }
}

/// What the service stores of the notifications that it has shown.
@Suite struct `The memory of shown notifications` {
    @MainActor @Test func `has them again for the same bus, and none for another one`() throws {
        let storage = try Storage()
        #expect(storage.stored().isEmpty)
        let ids = (1...3).map { NotifierScene.id($0) }
        var shown: [ShownNotification: NotificationTopic] = [:]
        let own = NotificationTopic(subject: .entry(ids[0]), entries: [ids[0]])
        shown[ShownNotification(sender: ":1.7", number: 41)] = own
        shown[ShownNotification(sender: ":1.8", number: 42)] = NotificationTopic(subject: .summary, entries: ids)
        storage.memory().keep(shown)
        let expected: [UInt32: String] = [41: ":1.7 entry 1", 42: ":1.8 summary 1,2,3"]
        #expect(storage.stored() == expected)
        #expect(storage.stored("other").isEmpty)
        storage.memory("other").keep([:])
        #expect(storage.stored().isEmpty)
    }

    @MainActor @Test func `skips lines that are none, and what a line has of no entry`() throws {
        let storage = try Storage()
        let id = NotifierScene.id(5)
        let lines = [
            "bus", ":1.2", ":1.2 7", ":1.2 8 entry", ":1.2 x entry \(id)", ":1.2 9 other \(id)", ":1.2 10 entry zzz",
            ":1.2 11 summary zzz", ":1.2 12 summary zzz \(id)", ":1.2 13 entry \(id)",
        ]
        try storage.write(Array(lines.joined(separator: "\n").utf8))
        let expected: [UInt32: String] = [12: ":1.2 summary 5", 13: ":1.2 entry 5"]
        #expect(storage.stored() == expected)
    }

    @MainActor @Test func `is read up to 64 KiB, and not beyond`() throws {
        let storage = try Storage()
        let lines = Array("bus\n:1.2 13 entry \(NotifierScene.id(5))\n".utf8)
        for (size, isRead) in [(65_536, true), (65_537, false)] {
            let padding = [UInt8](repeating: UInt8(ascii: "x"), count: size - lines.count)
            try storage.write(lines + padding)
            #expect(storage.stored().isEmpty != isRead)
        }
    }
}
