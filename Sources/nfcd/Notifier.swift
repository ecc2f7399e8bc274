// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import PrivateStorage
import UserBus

/// Shows notifications (Desktop Notifications Specification 1.2), and tells what the person does with them.
final class Notifier {
    /// What the person, or the desktop, does.
    enum Event {
        case shown(InboxEntry.ID)
        case activated(InboxEntry.ID, token: String?)
        case failed(reason: String)
    }

    struct Shown: Hashable {
        var sender: String
        var number: UInt32
    }

    static let object = BusCall.Object(
        "org.freedesktop.Notifications",
        "/org/freedesktop/Notifications",
        "org.freedesktop.Notifications"
    )

    private let bus: BusConnection
    private let onEvent: (Event) -> Void
    /// What the desktop's notifications can do; nil before it said so.
    private var capabilities: Set<String>?
    private var question: UInt64?
    private var waiting: [(id: InboxEntry.ID, content: NotificationContent)] = []
    private var sent: [UInt64: (id: InboxEntry.ID, content: NotificationContent)] = [:]
    private var entries: [Shown: InboxEntry.ID] = [:] {
        didSet { if entries != oldValue { memory?.keep(entries) } }
    }
    private let memory: NotificationMemory?
    private var tokens: [Shown: String] = [:]
    private var withdrawn: Set<InboxEntry.ID> = []

    /// Takes over from an earlier run what it has shown.
    ///
    /// - Parameter store: where what is shown is remembered as long as the session lasts.
    init(_ bus: BusConnection, _ store: DirectoryStore?, onEvent: @escaping (Event) -> Void) throws(BusError) {
        self.bus = bus
        let busName = (try? bus.ask(BusCall(.daemon, "GetId")))?.first?.text
        memory = store.flatMap { store in busName.map { NotificationMemory(store, bus: $0) } }
        self.onEvent = onEvent
        try bus.listen(to: "sender='\(Self.object.destination)',interface='\(Self.object.interface)'")
        try bus.listen(
            to: "sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.object.destination)'"
        )
        let owner = try? bus.ask(BusCall(.daemon, "GetNameOwner", [.string(Self.object.destination)]))
        // One that does not run yet is started by the first notification.
        guard let owner = owner?.first?.text else { return }
        entries = (memory?.entries ?? [:]).filter { $0.key.sender == owner }
        askCapabilities()
    }

    /// Shows a notification, in place of the entry's last one.
    func show(_ id: InboxEntry.ID, _ content: NotificationContent) {
        withdrawn.remove(id)
        waiting.append((id, content))
        sendWaiting()
    }

    /// Takes an entry's notification away.
    func withdraw(_ id: InboxEntry.ID) {
        waiting.removeAll { $0.id == id }
        if sent.values.contains(where: { $0.id == id }) { withdrawn.insert(id) }
        guard let shown = entries.first(where: { $0.value == id })?.key else { return }
        entries[shown] = nil
        tokens[shown] = nil
        _ = try? bus.send(BusCall(Self.object, "CloseNotification", [.uint32(shown.number)]))
    }

    private func askCapabilities() {
        guard question == nil else { return }
        question = try? bus.send(BusCall(Self.object, "GetCapabilities"))
    }

    private func sendWaiting() {
        guard !waiting.isEmpty else { return }
        guard let capabilities else { return askCapabilities() }
        let notifications = waiting
        waiting = []
        for (id, content) in notifications {
            let last = entries.first { $0.value == id }?.key.number ?? 0
            let request = NotificationRequest(content, capabilities: capabilities, replacing: last)
            do throws(BusError) {
                sent[try bus.send(BusCall(Self.object, "Notify", request.arguments))] = (id, content)
            } catch {
                waiting.append((id, content))
                onEvent(.failed(reason: error.reason))
            }
        }
    }

    /// Takes a message.
    ///
    /// - Returns: false when it has nothing to do with notifications.
    func take(_ message: ReceivedMessage) -> Bool {
        if let cookie = message.answersTo { return take(message, answering: cookie) }
        guard message.isSignal else { return false }
        let interface = Self.object.interface
        switch message.name {
        case interface + ".ActionInvoked":
            let values = message.values()
            guard let shown = shown(values, message), let id = entries[shown], let action = values.last?.text,
                NotificationRequest.opens(action)
            else {
                return true
            }
            onEvent(.activated(id, token: tokens[shown]))
        case interface + ".ActivationToken":
            let values = message.values()
            if let shown = shown(values, message), entries[shown] != nil { tokens[shown] = values.last?.text }
        case interface + ".NotificationClosed":
            // The entry stays in the inbox.
            if let shown = shown(message.values(), message) {
                entries[shown] = nil
                tokens[shown] = nil
            }
        case "org.freedesktop.DBus.NameOwnerChanged" where message.sender == "org.freedesktop.DBus":
            let values = message.values().compactMap(\.text)
            guard values.count == 3, values[0] == Self.object.destination else { return false }
            capabilities = nil
            question = nil
            if !values[2].isEmpty { askCapabilities() }
        default: return false
        }
        return true
    }

    private func take(_ message: ReceivedMessage, answering cookie: UInt64) -> Bool {
        if cookie == question {
            question = nil
            guard !message.isError else {
                if !waiting.isEmpty {
                    onEvent(.failed(reason: message.values().first?.text ?? "Nobody shows notifications."))
                }
                return true
            }
            capabilities = Set((message.values().first?.values ?? []).compactMap(\.text))
            sendWaiting()
            return true
        }
        guard let (id, content) = sent.removeValue(forKey: cookie) else { return false }
        guard !message.isError, let number = message.values().first?.integer.flatMap(UInt32.init(exactly:)) else {
            onEvent(.failed(reason: message.values().first?.text ?? "The notification was refused."))
            // It is tried again when the desktop's notifications are there again.
            waiting.append((id, content))
            capabilities = nil
            return true
        }
        let shown = Shown(sender: message.sender, number: number)
        entries = entries.filter { $0.value != id }
        entries[shown] = id
        if withdrawn.remove(id) != nil { withdraw(id) }
        onEvent(.shown(id))
        return true
    }

    /// Which notification a signal is about: one that its own sender has shown.
    private func shown(_ values: [BusValue], _ message: ReceivedMessage) -> Shown? {
        guard let number = values.first?.integer.flatMap(UInt32.init(exactly:)) else { return nil }
        return Shown(sender: message.sender, number: number)
    }
}

extension NotificationRequest {
    /// The arguments of `Notify`.
    fileprivate var arguments: [BusValue] {
        [
            .string(appName), .uint32(replacedNumber), .string(icon), .string(summary), .string(body),
            .strings(actions),
            .properties([
                "urgency": .byte(1), "category": .string("device.added"),
                "sound-name": .string("device-added"),
            ]), .int32(-1),
        ]
    }
}

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
