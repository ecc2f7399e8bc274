// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinuxSupport
import UserBus

/// Shows notifications (Desktop Notifications Specification 1.2), and reports the user's actions.
///
/// Each subject has at most one notification at a time. While it is being sent, only the newest following request is
/// kept.
final class Notifier {
    enum Event {
        case shown(NotificationTopic)
        case notShown(NotificationSubject, reason: String)
        case activated(NotificationSubject, token: String?)
        case closed(NotificationSubject, isDismissed: Bool)
        case gone
        case ready
    }

    private struct Request {
        var topic: NotificationTopic
        var content: NotificationContent
    }

    static let object = BusCall.Object.notifications
    /// The `NotificationClosed` reason for "dismissed by the user".
    private static let dismissed: Int64 = 2

    private let bus: BusConnection
    /// Called for each action of the user or the desktop, but never during initialization.
    var onEvent: (Event) -> Void = { _ in }
    /// The server's capabilities; nil until the server has reported them.
    private var capabilities: Set<String>?
    private var capabilitiesCall: UInt64?
    /// The pending call that starts the notification server. The bus answers once the server owns its name.
    private var startCall: UInt64?
    private let startingTime: Duration
    private var pendingRequests: [Request] = []
    private var sentRequests: [UInt64: NotificationTopic] = [:]
    private var notifications: [ShownNotification: NotificationTopic] = [:] {
        didSet { if notifications != oldValue { memory?.keep(notifications) } }
    }
    private let memory: NotificationMemory?
    private var tokens: [ShownNotification: String] = [:]
    /// The last click on each notification. The desktop also closes a clicked notification, perhaps after its
    /// replacement was shown. That closing is no dismissal.
    private var clicks: [ShownNotification: NotificationClick] = [:]
    /// The subjects withdrawn while their notification was being sent.
    private var withdrawnSubjects: Set<NotificationSubject> = []

    /// Restores the notifications shown by an earlier run. `store` keeps the visible notifications until the login
    /// session ends.
    init(_ bus: BusConnection, _ store: PrivateFolder?, startingTime: Duration = .seconds(25)) throws(BusError) {
        self.bus = bus
        self.startingTime = startingTime
        let busName = (try? bus.ask(BusCall(.daemon, "GetId")))?.first?.text
        memory = store.flatMap { store in busName.map { NotificationMemory(store, bus: $0) } }
        try bus.listen(to: "sender='\(Self.object.destination)',interface='\(Self.object.interface)'")
        try bus.listen(to: "sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.object.destination)'")
        let owner = try? bus.ask(BusCall(.daemon, "GetNameOwner", [.string(Self.object.destination)]))
        // If the server is not running, the first notification starts it.
        guard let owner = owner?.first?.text else { return }
        notifications = (memory?.notifications ?? [:]).filter { $0.key.sender == owner }
        askCapabilities()
    }

    var shownEntries: Set<InboxEntry.ID> {
        Set(notifications.values.filter { $0.subject != .summary }.flatMap(\.entries))
    }

    var summarizedEntries: Set<InboxEntry.ID> {
        Set(notifications.values.filter { $0.subject == .summary }.flatMap(\.entries))
    }

    func show(_ subject: NotificationSubject, of entries: [InboxEntry.ID], _ content: NotificationContent) {
        withdrawnSubjects.remove(subject)
        pendingRequests.removeAll { $0.topic.subject == subject }
        pendingRequests.append(Request(topic: NotificationTopic(subject: subject, entries: entries), content: content))
        sendWaiting()
    }

    func withdraw(_ subject: NotificationSubject) {
        pendingRequests.removeAll { $0.topic.subject == subject }
        if sentRequests.values.contains(where: { $0.subject == subject }) { withdrawnSubjects.insert(subject) }
        guard let shown = shown(subject) else { return }
        forget(shown)
        _ = try? bus.send(BusCall(Self.object, "CloseNotification", [.uint32(shown.number)]))
    }

    private func shown(_ subject: NotificationSubject) -> ShownNotification? {
        notifications.first { $0.value.subject == subject }?.key
    }

    private func forget(_ shown: ShownNotification) {
        notifications[shown] = nil
        tokens[shown] = nil
        clicks[shown] = nil
    }

    private func askCapabilities() {
        guard capabilitiesCall == nil, startCall == nil else { return }
        do throws(BusError) {
            try begin()
        } catch {
            refuseWaiting(error.reason)
        }
    }

    /// Asks the server for its capabilities, or asks the bus to start the server.
    private func begin() throws(BusError) {
        do throws(BusError) {
            capabilitiesCall = try bus.send(BusCall(Self.object, "GetCapabilities"))
        } catch {
            guard error.code == .nobody else { throw error }
            try startServer()
        }
    }

    /// Asks the bus to start the server, which may take long. The answer is handled like all other answers.
    private func startServer() throws(BusError) {
        let name = Self.object.destination
        let cookie = try bus.send(BusCall(.daemon, "StartServiceByName", [.string(name), .uint32(0)]))
        startCall = cookie
        runOnMain(after: startingTime) { [weak self] in
            guard let self, self.startCall == cookie else { return }
            self.startCall = nil
            self.refuseWaiting("\(name) was started, but does not respond.")
        }
    }

    private func refuseWaiting(_ reason: String) {
        let requests = pendingRequests
        pendingRequests = []
        for request in requests { onEvent(.notShown(request.topic.subject, reason: reason)) }
    }

    private func sendWaiting() {
        guard !pendingRequests.isEmpty else { return }
        guard let capabilities else { return askCapabilities() }
        let subjectsInFlight = Set(sentRequests.values.map(\.subject))
        let requests = pendingRequests.filter { !subjectsInFlight.contains($0.topic.subject) }
        pendingRequests.removeAll { !subjectsInFlight.contains($0.topic.subject) }
        for request in requests {
            let last = shown(request.topic.subject)?.number ?? 0
            let message = NotificationRequest(request.content, capabilities: capabilities, replacing: last)
            do throws(BusError) {
                sentRequests[try bus.send(BusCall(Self.object, "Notify", message.arguments))] = request.topic
            } catch {
                onEvent(.notShown(request.topic.subject, reason: error.reason))
            }
        }
    }

    /// Handles an answer or signal if it concerns notifications.
    func take(_ message: ReceivedMessage) {
        if let cookie = message.answersTo { return take(message, answering: cookie) }
        if let change = OwnerChange(message) {
            if change.name == Self.object.destination { changeOwner(from: change.old, to: change.new) }
            return
        }
        let interface = Self.object.interface
        switch message.name {
        case interface + ".ActionInvoked":
            let values = message.values()
            guard let shown = shown(values, message), let topic = notifications[shown],
                let action = values.last?.text, NotificationRequest.opens(action)
            else { return }
            clicks[shown] = NotificationClick(at: .now)
            onEvent(.activated(topic.subject, token: tokens[shown]))
        case interface + ".ActivationToken":
            let values = message.values()
            if let shown = shown(values, message), notifications[shown] != nil { tokens[shown] = values.last?.text }
        case interface + ".NotificationClosed":
            let values = message.values()
            guard let shown = shown(values, message), let topic = notifications[shown] else { return }
            let isForClick = clicks[shown]?.explainsClosing(at: .now) ?? false
            let isDismissed = values.last?.integer == Self.dismissed && !isForClick
            forget(shown)
            onEvent(.closed(topic.subject, isDismissed: isDismissed))
        default: break
        }
    }

    private func changeOwner(from old: String, to new: String) {
        capabilities = nil
        capabilitiesCall = nil
        startCall = nil
        if !old.isEmpty {
            pendingRequests = []
            sentRequests = [:]
            notifications = [:]
            tokens = [:]
            clicks = [:]
            withdrawnSubjects = []
            onEvent(.gone)
        }
        if !new.isEmpty { askCapabilities() }
    }

    private func take(_ message: ReceivedMessage, answering cookie: UInt64) {
        if cookie == startCall {
            startCall = nil
            guard !message.isError else { return refuseWaiting(Self.reason(message)) }
            return askCapabilities()
        }
        if cookie == capabilitiesCall {
            capabilitiesCall = nil
            guard !message.isError else { return refuseWaiting(Self.reason(message)) }
            capabilities = Set((message.values().first?.values ?? []).compactMap(\.text))
            sendWaiting()
            return onEvent(.ready)
        }
        guard let topic = sentRequests.removeValue(forKey: cookie) else { return }
        if let number = message.isError ? nil : message.values().first?.integer.flatMap(UInt32.init(exactly:)) {
            isShown(ShownNotification(sender: message.sender, number: number), topic)
        } else {
            withdrawnSubjects.remove(topic.subject)
            let reason = message.values().first?.text ?? "The notification was refused."
            onEvent(.notShown(topic.subject, reason: reason))
        }
        sendWaiting()
    }

    private static func reason(_ error: ReceivedMessage) -> String {
        error.values().first?.text ?? "No program shows notifications."
    }

    private func isShown(_ shown: ShownNotification, _ topic: NotificationTopic) {
        notifications = notifications.filter { $0.value.subject != topic.subject }
            .merging([shown: topic]) { $1 }
        clicks[shown]?.replace(at: .now)
        if withdrawnSubjects.remove(topic.subject) != nil {
            withdraw(topic.subject)
        } else {
            onEvent(.shown(topic))
        }
    }

    /// Returns the notification that a signal refers to. Signals from other senders match no notification.
    private func shown(_ values: [BusValue], _ message: ReceivedMessage) -> ShownNotification? {
        guard let number = values.first?.integer.flatMap(UInt32.init(exactly:)) else { return nil }
        return ShownNotification(sender: message.sender, number: number)
    }
}

extension NotificationRequest {
    fileprivate var arguments: [BusValue] {
        var hints: [String: BusValue] = [
            "desktop-entry": .string(Self.desktopEntry), "urgency": .byte(1), "category": .string("device.added"),
            "sound-name": .string("device-added"),
        ]
        if staysUntilClosed { hints["resident"] = .boolean(true) }
        return [
            .string(appName), .uint32(replacedNumber), .string(icon), .string(summary), .string(body),
            .strings(actions), .properties(hints), .int32(staysUntilClosed ? 0 : -1),
        ]
    }
}

/// Stores which notifications are visible, so that clicks still open links after the service restarts.
struct NotificationMemory {
    private static let name = "notifications"

    private let store: PrivateFolder
    private let bus: String

    /// Creates the memory. `store` is removed when the login session ends.
    init(_ store: PrivateFolder, bus: String) {
        self.store = store
        self.bus = bus
    }

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

    /// Stores the visible notifications. If this fails, a click after a restart does nothing, but the inbox still has
    /// the entry.
    func keep(_ notifications: [ShownNotification: NotificationTopic]) {
        let lines = notifications.map { shown, topic in
            let kind = topic.subject == .summary ? "summary" : "entry"
            return "\(shown.sender) \(shown.number) \(kind) " + topic.entries.map(\.description).joined(separator: " ")
        }
        try? store.replace(Self.name, with: Array(([bus] + lines).joined(separator: "\n").utf8))
    }
}

/// The subject of a notification and its entries: a single entry, or all entries in a summary.
struct NotificationTopic: Equatable {
    var subject: NotificationSubject
    var entries: [InboxEntry.ID]
}

/// A visible notification, identified by the server's bus name and the server's number.
nonisolated struct ShownNotification: Hashable {
    var sender: String
    var number: UInt32
}
