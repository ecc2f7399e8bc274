// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NDEF
import UniversalLinks

/// Background reading on the simulated phone. Runs the service's state machine with the phone's conditions.
struct BackgroundService: Sendable {
    /// A notification in the phone's list.
    struct Notification: Sendable {
        var id: InboxEntry.ID
        var message: [UInt8]
        var content: NotificationContent
        var why: JSON

        var url: String {
            guard let message = try? NDEFMessage(decoding: message), case .uri(let uri) = LinkChoice(message) else {
                return ""
            }
            return uri.text
        }

        var json: JSON {
            [
                "id": .string(id.description), "title": .string(content.title), "body": .string(content.body),
                "action": JSON(content.actionTitle), "url": .string(url), "time": .string(ClockText.time(id.received)),
                "received_ms": .int(Int(id.received)), "why": why["title"] ?? .null,
            ]
        }
    }

    /// An effect on the phone.
    enum Outcome: Sendable, Equatable {
        case startLooking
        case stopLooking
        case showBanner(Phone.Banner)
        case hideBanner(String)
        case askToUnlock
        /// Tell the user that the tag has nothing to open.
        case showNoData
        case openApp(String, UserActivityPayload)
        case openURL(String, in: String)
        case changed
        case note(String)
    }

    private(set) var machine = BackgroundReader()
    private(set) var notifications: [Notification] = []
    private var messages: [InboxEntry.ID: [UInt8]] = [:]
    /// Explains what the last tag opened, or why it opened nothing.
    private(set) var lastWhy: JSON?
    /// The notification that ``lastWhy`` is about.
    private var lastID: InboxEntry.ID?

    var router: LinkRouter { machine.router }
    var isLooking: Bool { machine.isLooking }

    func notification(_ id: String?) -> Notification? { notifications.first { $0.id.description == id } }

    /// Handles an event and all events that follow from it.
    mutating func handle(_ input: BackgroundReader.Input, now: Duration) -> [Outcome] {
        var inputs = [input]
        var outcomes: [Outcome] = []
        while !inputs.isEmpty {
            for action in machine.handle(inputs.removeFirst(), now: now) {
                outcomes += perform(action, &inputs)
            }
        }
        return outcomes
    }

    /// Handles a tag that was read.
    mutating func read(_ reading: TagReading, _ id: InboxEntry.ID, now: Duration) -> [Outcome] {
        // A read that was under way when the conditions changed does not count.
        let obstacles = machine.conditions.obstacles
        let before = (why: lastWhy, id: lastID)
        lastWhy =
            obstacles.isEmpty
            ? LinkReasons.why(reading.message, conditions: machine.conditions, router: router)
            : LinkReasons.notRead(machine.conditions, obstacles: obstacles)
        lastID = nil
        let outcomes = handle(.read(reading, id), now: now)
        if let why = lastWhy, why["outcome"]?.string == LinkReasons.Outcome.announced.rawValue, lastID == nil {
            let reason = "Not announced: the tag was read before and has not left since, or too many tags arrive."
            lastWhy = LinkReasons.changed(why, to: .nothing, reason)
            // The tag may have been read again, such as when the radio is back: its announcement stays explained.
            if let id = before.id, messages[id] == reading.message { (lastWhy, lastID) = before }
        }
        return outcomes + [.changed]
    }

    /// Changes the explanation, if it is about a notification.
    private mutating func explain(_ id: InboxEntry.ID, _ outcome: LinkReasons.Outcome, _ title: String) {
        guard id == lastID, let why = lastWhy else { return }
        lastWhy = LinkReasons.changed(why, to: outcome, title)
    }

    /// Explains why a tag near the phone is not read.
    mutating func notRead(_ obstacles: [ReadingConditions.Obstacle]) {
        lastWhy = LinkReasons.notRead(machine.conditions, obstacles: obstacles)
        lastID = nil
    }

    /// Removes a notification from the list.
    mutating func forget(_ id: InboxEntry.ID) {
        notifications.removeAll { $0.id == id }
        messages[id] = nil
    }

    private mutating func perform(
        _ action: BackgroundReader.Action,
        _ inputs: inout [BackgroundReader.Input]
    ) -> [Outcome] {
        switch action {
        case .startLooking: return [.startLooking]
        case .stopLooking: return [.stopLooking]
        case .store(let entry):
            messages[entry.id] = entry.message
            inputs.append(.stored(entry.id, isKept: true))
            return []
        case .announce(let id, let content):
            inputs.append(.announced(id))
            lastID = id
            show(id, content)
            return [
                .showBanner(
                    Phone.Banner(
                        id: id.description,
                        title: content.title,
                        body: content.body,
                        action: content.actionTitle
                    )
                ), .changed,
            ]
        case .summarize(let ids, let content):
            inputs.append(.summarized(ids))
            lastID = ids.max()
            for id in ids { show(id, nil) }
            return [
                .showBanner(
                    Phone.Banner(id: "summary", title: content.title, body: content.body, action: content.actionTitle)
                ), .changed,
            ]
        case .withdraw(.entry(let id)): return [.hideBanner(id.description), .changed]
        case .withdraw(.summary): return [.hideBanner("summary")]
        case .requestUnlock: return [.askToUnlock]
        case .deliver(let id, let delivery):
            inputs.append(.delivered(id))
            let outcome = Self.outcome(delivery)
            switch delivery {
            case .app(let app, _): explain(id, .opened, "\(app.name) opened it.")
            case .browser, .system, .customScheme:
                if case .openURL(_, let place) = outcome { explain(id, .opened, "It opened in \(place).") }
            }
            return [outcome]
        case .remove(let id):
            messages[id] = nil
            notifications.removeAll { $0.id == id }
            return [.changed]
        case .markAnnounced, .mark: return []
        case .note(let note):
            let words = Self.words(note)
            switch note {
            case .noMessage, .badMessage, .noLink, .refused: return [.note(words), .showNoData]
            case .nothingToOpen(let id), .notDelivered(let id): explain(id, .nothing, words)
            default: break
            }
            return [.note(words)]
        }
    }

    private mutating func show(_ id: InboxEntry.ID, _ content: NotificationContent?) {
        if let index = notifications.firstIndex(where: { $0.id == id }) {
            if let content { notifications[index].content = content }
            return
        }
        guard let message = messages[id] else { return }
        var shown = content
        if shown == nil, let decoded = try? NDEFMessage(decoding: message), case .uri(let uri) = LinkChoice(decoded) {
            shown = NotificationContent(uri, router: router)
        }
        guard let shown else { return }
        notifications.insert(Notification(id: id, message: message, content: shown, why: lastWhy ?? .null), at: 0)
    }

    private static func outcome(_ delivery: Delivery) -> Outcome {
        switch delivery {
        case .app(let app, let payload): .openApp(app.id, payload)
        case .browser(let url): .openURL(url, in: "the browser")
        case .system(let scheme, let uri): .openURL(uri, in: "the phone's own app for \(scheme.rawValue)")
        case .customScheme(let app, let uri): .openURL(uri, in: app.name)
        }
    }

    private static func words(_ note: BackgroundReader.Note) -> String {
        switch note {
        case .notEligible(let obstacles):
            "Not read: " + obstacles.map(\.unmetText).joined(separator: " ")
        case .noMessage: "The tag has no message."
        case .badMessage: "The message is damaged or too large."
        case .noLink: "The message has no URI record, and background reading ignores other records."
        case .unusableLink: "The URI record can't be read."
        case .refused(let refusal): refusal.reason
        case .tooManyArrivals: "Too many tags arrive, so this one is ignored."
        case .turnedAway(let count): "\(count) earlier tags were ignored, because too many arrived."
        case .notKept, .kept: "The notification stays in the list."
        case .nothingToOpen: "The link can't be opened any more."
        case .notDelivered: "The link could not be opened."
        case .forgotten: "There are too many notifications, so the oldest was dropped."
        }
    }

    // MARK: Keeping

    /// The notifications to save when the simulator quits.
    var saved: JSON {
        .array(
            notifications.map {
                ["id": .string($0.id.description), "message_hex": .string($0.message.hex), "why": $0.why]
            }
        )
    }

    /// Restores the notifications of an earlier run. Their banners are not shown again.
    mutating func restore(_ saved: JSON, now: Duration) {
        var run = PreviousRun()
        for entry in saved.array?.prefix(BackgroundReader.maximumEntries) ?? [] {
            guard let text = entry["id"]?.string, let id = InboxEntry.ID(text),
                let message = [UInt8](hex: entry["message_hex"]?.string ?? "")
            else { continue }
            run.entries.append(InboxEntry(id: id, message: message, isAnnounced: true))
            run.marks[id] = .dismissed
            messages[id] = message
            lastWhy = entry["why"]
            show(id, nil)
        }
        lastWhy = nil
        notifications.sort { $0.id > $1.id }
        _ = handle(.restored(run), now: now)
    }
}
