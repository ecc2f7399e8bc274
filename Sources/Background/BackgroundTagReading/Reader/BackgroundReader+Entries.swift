// SPDX-License-Identifier: Apache-2.0
import NDEF

extension BackgroundReader {
    mutating func read(_ reading: TagReading, _ id: InboxEntry.ID, _ now: Duration) -> [Action] {
        guard conditions.allowReading else { return [.note(.notEligible(conditions.obstacles))] }
        let content = reading.message.flatMap { message in
            message.count <= Self.maximumMessageSize ? try? NDEFMessage(decoding: message) : nil
        }
        let choice = content.map(LinkChoice.init)
        var stem = ""
        if case .uri(let uri) = choice { stem = uri.stem }
        guard presence.read(reading, stem: stem, now: now), !belongsToPreviousRun(reading, now) else { return [] }
        switch choice {
        case nil: return [.note(reading.message == nil ? .noMessage : .badMessage)]
        case .some(.none): return [.note(.noLink)]
        case .unusable:
            return admitted(now, canWait: false) { _, _ in [.note(.unusableLink), .announce(id, .unusable)] }
        case .uri(let uri):
            let route = router.route(uri)
            if case .refused(let refusal) = route { return [.note(.refused(refusal))] }
            let id = id.following(entries.map(\.id))
            return admitted(now, canWait: true) { reader, presentation in
                let entry = InboxEntry(id: id, message: reading.message ?? [])
                let new = Entry(id: id, message: entry.message, stage: .storing, presentation: presentation)
                return [.store(entry)] + reader.add(new)
            }
        }
    }

    /// Returns whether a tag was already near before the service restarted, and its entry still exists.
    private mutating func belongsToPreviousRun(_ reading: TagReading, _ now: Duration) -> Bool {
        guard let readingStart, now - readingStart <= Self.restartTime, let message = reading.message else {
            return false
        }
        return restoredMessages.remove(message) != nil && entries.contains { $0.message == message }
    }

    private mutating func admitted(
        _ now: Duration,
        canWait: Bool,
        _ body: (inout BackgroundReader, Presentation) -> [Action]
    ) -> [Action] {
        let refused = limiter.refused
        let outcome = limiter.admit(at: now, canWait: canWait)
        guard outcome != .refused else { return refused == 0 ? [.note(.tooManyArrivals)] : [] }
        return (refused > 0 ? [.note(.turnedAway(refused))] : [])
            + body(&self, outcome == .alone ? .own : .summary)
    }

    mutating func add(_ entry: Entry) -> [Action] {
        entries.append(entry)
        guard entries.count > Self.maximumEntries else { return [] }
        let old = entries.removeFirst()
        return [.remove(old.id)] + withdraw(old) + [.note(.forgotten(old.id))]
    }

    mutating func stored(_ id: InboxEntry.ID, _ isKept: Bool) -> [Action] {
        guard let index = index(id) else { return [] }
        guard entries[index].stage == .storing else { return storedAgain(index, isKept) }
        entries[index].stage = .waiting
        entries[index].isKept = isKept
        // An entry that can't be saved is still shown.
        let note: [Action] = isKept ? [] : [.note(.notKept(id))]
        return note + (entries[index].presentation == .summary ? summarize() : announce(index))
    }

    /// Tries again to save an entry that could not be saved.
    func storeAgain(_ entry: Entry) -> [Action] {
        guard !entry.isKept, entry.stage != .storing, entry.stage != .delivering else { return [] }
        return [.store(InboxEntry(id: entry.id, message: entry.message, isAnnounced: entry.isAnnounced))]
    }

    private mutating func storedAgain(_ index: Int, _ isKept: Bool) -> [Action] {
        guard isKept, !entries[index].isKept else { return [] }
        entries[index].isKept = true
        return [.note(.kept(entries[index].id))]
    }

    /// Restores the state of an earlier run. Shows all entries that are neither dismissed nor shown.
    mutating func restore(_ run: PreviousRun) -> [Action] {
        var actions: [Action] = []
        for kept in run.entries.sorted(by: { $0.id < $1.id }) where index(kept.id) == nil {
            restoredMessages.insert(kept.message)
            let mark = run.marks[kept.id]
            let presentation: Presentation =
                run.shown.contains(kept.id)
                ? .own : run.summarized.contains(kept.id) ? .summary : mark == .dismissed ? .inbox : .due
            actions += add(
                Entry(
                    id: kept.id,
                    message: kept.message,
                    stage: mark == .wanted ? .waitingForUnlock : .waiting,
                    presentation: presentation,
                    isAnnounced: kept.isAnnounced,
                    mark: mark
                )
            )
        }
        hasSummary = !run.summarized.isEmpty
        // Withdraws notifications of entries that were opened or cleared while no service was running.
        actions += run.shown.filter { index($0) == nil }.sorted().map { .withdraw(.entry($0)) }
        if run.summarized.contains(where: { index($0) == nil }) { actions += summarize() }
        return actions + showDue()
    }
}

/// Handles an entry from the user's choice to the opened link.
extension BackgroundReader {
    mutating func activate(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id) else { return [] }
        switch entries[index].stage {
        case .storing, .delivering: return []
        case .waiting:
            // A click must do what the notification says. If something else would open now, that is shown first.
            if let offer = entries[index].offer, let now = content(of: entries[index]), now.body != offer.body {
                return showAlone(index)
            }
            guard isLocked else { return deliver(id) }
            entries[index].stage = .waitingForUnlock
            return keep(.wanted, index) + showAlone(index) + [.requestUnlock]
        // The click closed the notification that asks the user to unlock.
        case .waitingForUnlock: return isLocked ? showAlone(index) + [.requestUnlock] : deliver(id)
        }
    }

    mutating func deliver(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id) else { return [] }
        // The flag is removed before the link is opened, so the link is never opened twice.
        let forgetting = keep(nil, index)
        guard let delivery = Delivery(message: entries[index].message, router: router) else {
            entries[index].stage = .waiting
            return forgetting + [.note(.nothingToOpen(id))]
        }
        entries[index].stage = .delivering
        return forgetting + [.deliver(id, delivery)]
    }

    mutating func keep(_ mark: DeliveryFlag?, _ index: Int) -> [Action] {
        guard entries[index].mark != mark else { return [] }
        entries[index].mark = mark
        return [.mark(entries[index].id, mark)]
    }

    mutating func delivered(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id), entries[index].stage == .delivering else { return [] }
        let entry = entries.remove(at: index)
        return [.remove(id)] + withdraw(entry)
    }

    mutating func deliveryFailed(_ id: InboxEntry.ID, _ reason: String) -> [Action] {
        guard let index = index(id), entries[index].stage == .delivering else { return [] }
        entries[index].stage = .waiting
        // The entry was not saved while it was being opened, so save it now.
        return [.note(.notDelivered(id))] + storeAgain(entries[index]) + showAlone(index, .notOpened(reason: reason))
    }

    mutating func beingOpened(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id), entries[index].stage == .delivering else { return [] }
        entries[index].stage = .waiting
        // The click closed the notification, so show another. If the other process fails, the user can click this one.
        return showAlone(index, .beingOpened)
    }

    mutating func cleared(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id) else { return [] }
        let forgetting = keep(nil, index)
        let entry = entries.remove(at: index)
        return forgetting + withdraw(entry)
    }
}
