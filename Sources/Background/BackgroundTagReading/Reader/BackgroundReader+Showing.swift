// SPDX-License-Identifier: Apache-2.0
import NDEF

/// What is shown of the entries: each by a notification of its own, or several by one summary.
extension BackgroundReader {
    /// What the notification of an entry says; nil when there is nothing to open.
    func content(of entry: Entry) -> NotificationContent? {
        guard let message = try? NDEFMessage(decoding: entry.message), case .uri(let uri) = LinkChoice(message) else {
            return nil
        }
        return entry.stage == .waitingForUnlock
            ? NotificationContent(unlockingFor: uri, router: router) : NotificationContent(uri, router: router)
    }

    /// Shows an entry in a notification of its own.
    mutating func announce(_ index: Int) -> [Action] {
        let entry = entries[index]
        guard let content = content(of: entry) else {
            entries[index].place = .inbox
            return entry.isAnnounced ? [] : [.note(.nothingToOpen(entry.id))]
        }
        entries[index].place = .own
        entries[index].offer = content
        return [.announce(entry.id, content)]
    }

    /// Shows an entry in a notification of its own, and takes it out of the summary.
    mutating func showAlone(_ index: Int, _ content: NotificationContent? = nil) -> [Action] {
        let wasSummarized = entries[index].place == .summary
        var actions: [Action]
        if let content {
            entries[index].place = .own
            entries[index].offer = nil
            actions = [.announce(entries[index].id, content)]
        } else {
            actions = announce(index)
        }
        if wasSummarized { actions += summarize() }
        return actions
    }

    /// Shows how many entries the summary counts; takes it away when there are none.
    mutating func summarize() -> [Action] {
        let members = entries.filter { $0.place == .summary && $0.stage != .storing }
        guard !members.isEmpty else {
            guard hasSummary else { return [] }
            hasSummary = false
            return [.withdraw(.summary)]
        }
        hasSummary = true
        let targets = members.compactMap { entry in
            (try? NDEFMessage(decoding: entry.message)).flatMap { NotificationContent.target(of: $0) }
        }
        return [.summarize(members.map(\.id), NotificationContent(waiting: members.count, targets: targets))]
    }

    /// Shows what is due: one entry in a notification of its own, and several in the summary.
    mutating func showDue() -> [Action] {
        var actions: [Action] = []
        var due: [Int] = []
        for index in entries.indices where entries[index].place == .due {
            switch entries[index].stage {
            case .waiting where content(of: entries[index]) != nil: due.append(index)
            // What waits for the screen to be unlocked says so by itself.
            case .waiting, .waitingForUnlock: actions += announce(index)
            case .storing, .delivering: break
            }
        }
        if due.count == 1, !hasSummary { return actions + announce(due[0]) }
        guard !due.isEmpty else { return actions }
        for index in due { entries[index].place = .summary }
        return actions + summarize()
    }

    mutating func announced(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id) else { return [] }
        // A click closes the notification whose place this one takes; only what was dismissed is seen no more.
        if entries[index].mark != .dismissed { entries[index].place = .own }
        // What could not be shown before may be shown now.
        return markAnnounced([id]) + showDue()
    }

    mutating func summarized(_ ids: [InboxEntry.ID]) -> [Action] {
        markAnnounced(ids) + showDue()
    }

    private mutating func markAnnounced(_ ids: [InboxEntry.ID]) -> [Action] {
        ids.compactMap { id in
            guard let index = index(id), !entries[index].isAnnounced else { return nil }
            entries[index].isAnnounced = true
            return .markAnnounced(id)
        }
    }

    /// What could not be shown is tried again when something else was shown, or what shows notifications comes back.
    mutating func notShown(_ subject: NotificationSubject) -> [Action] {
        move(subject, to: .due)
        return []
    }

    /// What is left of what could not be shown.
    public enum Remainder: Sendable, Hashable {
        /// The inbox has it.
        case inbox
        /// It waits, and is lost when the service ends, since the disk did not take it.
        case memory
        /// Nothing: its link can't be used, or it is gone.
        case nothing
    }

    /// What is left of what a notification is about.
    public func remainder(of subject: NotificationSubject) -> Remainder {
        let kept = entries.filter { entry in
            guard entry.stage != .storing else { return false }
            return subject == .summary ? entry.place == .summary : subject == .entry(entry.id)
        }
        guard !kept.isEmpty else { return .nothing }
        return kept.allSatisfy(\.isKept) ? .inbox : .memory
    }

    mutating func closed(_ subject: NotificationSubject, _ isDismissed: Bool) -> [Action] {
        let moved = move(subject, to: .inbox)
        guard isDismissed else { return [] }
        return moved.flatMap { index -> [Action] in
            guard entries[index].stage != .delivering else { return [] }
            // Who dismisses the prompt to unlock wants the link no more. Nothing is offered from here on, so that who opens
            // the entry later is not shown a change from the prompt.
            entries[index].stage = .waiting
            entries[index].offer = nil
            return keep(.dismissed, index)
        }
    }

    mutating func desktopGone() -> [Action] {
        // What has expired is shown again too; what the person has dismissed is not.
        for index in entries.indices where entries[index].stage != .storing && entries[index].mark != .dismissed {
            entries[index].place = .due
        }
        hasSummary = false
        return []
    }

    /// Shows the newest entries of the summary in notifications of their own; the others stay in it.
    mutating func openSummary() -> [Action] {
        let members = entries.indices.filter { entries[$0].place == .summary && entries[$0].stage == .waiting }
        return members.suffix(ArrivalLimiter.burst).flatMap { announce($0) } + summarize()
    }

    /// Takes away what is shown of an entry that is gone.
    mutating func withdraw(_ entry: Entry) -> [Action] {
        switch entry.place {
        case .own: [.withdraw(.entry(entry.id))]
        case .summary where entry.stage != .storing: summarize()
        case .summary, .due, .inbox: []
        }
    }

    /// - Returns: the entries of a notification, which have another place now.
    @discardableResult
    private mutating func move(_ subject: NotificationSubject, to place: Place) -> [Int] {
        let moved: [Int]
        switch subject {
        case .entry(let id): moved = index(id).map { [$0] } ?? []
        case .summary:
            moved = entries.indices.filter { entries[$0].place == .summary && entries[$0].stage != .storing }
            hasSummary = false
        }
        for index in moved { entries[index].place = place }
        return moved
    }
}
