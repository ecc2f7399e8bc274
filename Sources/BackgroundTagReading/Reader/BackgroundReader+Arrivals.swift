// SPDX-License-Identifier: Apache-2.0
import NDEF

/// From the tag to the notification.
extension BackgroundReader {
    mutating func read(_ reading: TagReading, _ id: InboxEntry.ID, _ now: Duration) -> [Action] {
        guard conditions.allowReading else { return [.note(.notEligible(conditions.obstacles))] }
        let content = reading.message.flatMap { message in
            message.count <= Self.maximumMessageSize ? try? NDEFMessage(decoding: message) : nil
        }
        let choice = content.map(LinkChoice.init)
        var stem = ""
        if case .uri(let uri) = choice { stem = uri.stem }
        guard presence.read(reading, stem: stem, now: now), !isOfEarlierRun(reading, now) else { return [] }
        switch choice {
        case nil: return [.note(reading.message == nil ? .noMessage : .badMessage)]
        case .some(.none): return [.note(.noLink)]
        case .unusable:
            return admitted(now) { _ in [.note(.unusableLink), .announce(id, .unusable)] }
        case .uri(let uri):
            let route = router.route(uri)
            if case .refused(let refusal) = route { return [.note(.refused(refusal))] }
            guard index(id) == nil else { return [] }
            return admitted(now) { reader in
                let entry = InboxEntry(id: id, message: reading.message ?? [])
                let dropped = reader.add(Entry(id: id, message: entry.message, stage: .storing))
                return [.store(entry)] + dropped
            }
        }
    }

    /// Whether a tag was near already when the service was ended, and its entry is kept since then.
    private mutating func isOfEarlierRun(_ reading: TagReading, _ now: Duration) -> Bool {
        guard let began, now - began <= Self.restart, let message = reading.message else { return false }
        return restored.remove(message) != nil && entries.contains { $0.message == message }
    }

    private mutating func admitted(
        _ now: Duration,
        _ body: (inout BackgroundReader) -> [Action]
    ) -> [Action] {
        let refused = limiter.refused
        guard limiter.admit(at: now) else { return refused == 0 ? [.note(.tooManyArrivals)] : [] }
        return (refused > 0 ? [.note(.turnedAway(refused))] : []) + body(&self)
    }

    /// Adds an entry, and forgets the oldest where there are too many.
    private mutating func add(_ entry: Entry) -> [Action] {
        entries.append(entry)
        guard entries.count > Self.maximumEntries else { return [] }
        let old = entries.removeFirst()
        return [.withdraw(old.id), .remove(old.id), .note(.forgotten(old.id))]
    }

    mutating func stored(_ id: InboxEntry.ID, _ isKept: Bool) -> [Action] {
        guard let index = index(id), entries[index].stage == .storing else { return [] }
        // What can't be kept is shown all the same.
        let note: [Action] = isKept ? [] : [.note(.notKept(id))]
        return note + announce(index)
    }

    private mutating func announce(_ index: Int) -> [Action] {
        let entry = entries[index]
        guard let message = try? NDEFMessage(decoding: entry.message), case .uri(let uri) = LinkChoice(message),
            let content = NotificationContent(uri, router: router)
        else {
            entries[index].stage = .waiting
            return [.note(.nothingToOpen(entry.id))]
        }
        entries[index].stage = .announcing
        return [.announce(entry.id, content)]
    }

    mutating func announced(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id) else {
            return []
        }
        // It may have been activated before the answer of the notification service came.
        if entries[index].stage == .announcing { entries[index].stage = .waiting }
        return [.markAnnounced(id)]
    }

    /// Takes what an earlier run left; what it did not announce is announced now.
    mutating func restore(_ kept: [InboxEntry]) -> [Action] {
        var actions: [Action] = []
        for entry in kept.sorted(by: { $0.id < $1.id }) where index(entry.id) == nil {
            restored.insert(entry.message)
            actions += add(Entry(id: entry.id, message: entry.message, stage: .waiting))
            if !entry.isAnnounced, let index = index(entry.id) { actions += announce(index) }
        }
        return actions
    }
}

/// Bounds how many arrivals have an effect: some at once, and then as many as time gives back.
struct ArrivalLimiter: Sendable, Hashable {
    /// How many may come at once.
    static let burst = 8
    /// The time that gives one back.
    static let interval = Duration.seconds(2)

    private var used = 0
    private var since = Duration.zero
    /// How many were turned away since the last that was let in.
    private(set) var refused = 0

    /// Lets an arrival in, or not.
    ///
    /// - Parameter now: the time; it never goes back.
    mutating func admit(at now: Duration) -> Bool {
        if now - since >= Self.interval * used {
            used = 0
            since = now
        } else {
            let gained = Int((now - since) / Self.interval)
            used -= gained
            since += Self.interval * gained
        }
        guard used < Self.burst else {
            refused += 1
            return false
        }
        used += 1
        refused = 0
        return true
    }
}
