// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Shows entries, each in its own notification or several in one summary.
extension BackgroundReader {
    /// Returns the text of an entry's notification; nil when nothing can be opened.
    func content(of entry: Entry) -> NotificationContent? {
        guard let message = try? NDEFMessage(decoding: entry.message), case .uri(let uri) = LinkChoice(message) else {
            return nil
        }
        return entry.stage == .waitingForUnlock
            ? NotificationContent(unlockingFor: uri, router: router) : NotificationContent(uri, router: router)
    }

    mutating func announce(_ index: Int) -> [Action] {
        let entry = entries[index]
        guard let content = content(of: entry) else {
            // Don't move an entry whose notification is still visible: that notification stays until the entry is
            // removed.
            if entry.presentation != .own || !entry.isAnnounced { entries[index].presentation = .inbox }
            return entry.isAnnounced ? [] : [.note(.nothingToOpen(entry.id))]
        }
        entries[index].presentation = .own
        entries[index].offer = content
        return [.announce(entry.id, content)]
    }

    mutating func showAlone(_ index: Int, _ content: NotificationContent? = nil) -> [Action] {
        let wasSummarized = entries[index].presentation == .summary
        var actions: [Action]
        if let content {
            entries[index].presentation = .own
            entries[index].offer = nil
            actions = [.announce(entries[index].id, content)]
        } else {
            actions = announce(index)
        }
        if wasSummarized { actions += summarize() }
        return actions
    }

    mutating func summarize() -> [Action] {
        let members = entries.filter { $0.presentation == .summary && $0.stage != .storing }
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

    /// Shows the due entries. One entry gets its own notification; several share the summary.
    mutating func showDue() -> [Action] {
        var actions: [Action] = []
        var due: [Int] = []
        for index in entries.indices where entries[index].presentation == .due {
            switch entries[index].stage {
            case .waiting where content(of: entries[index]) != nil: due.append(index)
            // An entry that waits until the screen is unlocked has its own notification.
            case .waiting, .waitingForUnlock: actions += announce(index)
            case .storing, .delivering: break
            }
        }
        if due.count == 1, !hasSummary { return actions + announce(due[0]) }
        guard !due.isEmpty else { return actions }
        for index in due { entries[index].presentation = .summary }
        return actions + summarize()
    }

    mutating func announced(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id) else { return [] }
        // The notification is visible now, even if a click closed the entry's previous notification. A dismissed entry
        // is the exception.
        if entries[index].mark != .dismissed { entries[index].presentation = .own }
        // Other entries that could not be shown may be shown now.
        return markAnnounced([id]) + showDue()
    }

    mutating func markAnnounced(_ ids: [InboxEntry.ID]) -> [Action] {
        ids.compactMap { id in
            guard let index = index(id), !entries[index].isAnnounced else { return nil }
            entries[index].isAnnounced = true
            return .markAnnounced(id)
        }
    }

    /// Where an entry is left when its notification could not be shown.
    public enum EntryLocation: Sendable, Hashable {
        case inbox
        /// Only in memory, because the entry could not be saved. The entry is lost when the service ends.
        case memoryOnly
        case nothing
    }

    /// Returns where the entries of a notification are left.
    public func location(of subject: NotificationSubject) -> EntryLocation {
        let members = entries.filter { entry in
            guard entry.stage != .storing else { return false }
            return subject == .summary ? entry.presentation == .summary : subject == .entry(entry.id)
        }
        guard !members.isEmpty else { return .nothing }
        return members.allSatisfy(\.isKept) ? .inbox : .memoryOnly
    }

    mutating func closed(_ subject: NotificationSubject, _ isDismissed: Bool) -> [Action] {
        let moved = move(subject, to: .inbox)
        guard isDismissed else { return [] }
        return moved.flatMap { index -> [Action] in
            guard entries[index].stage != .delivering else { return [] }
            // A user who dismisses the request to unlock no longer wants the link. The offer is removed too. Otherwise
            // opening the entry later would seem to be a change from that request.
            entries[index].stage = .waiting
            entries[index].offer = nil
            return keep(.dismissed, index)
        }
    }

    mutating func desktopGone() {
        // Expired notifications are shown again too, but dismissed notifications are not.
        for index in entries.indices where entries[index].stage != .storing && entries[index].mark != .dismissed {
            entries[index].presentation = .due
        }
        hasSummary = false
    }

    /// Shows the newest entries of the summary in their own notifications. The summary keeps the others.
    mutating func openSummary() -> [Action] {
        let members = entries.indices.filter { entries[$0].presentation == .summary && entries[$0].stage == .waiting }
        return members.suffix(ArrivalLimiter.burst).flatMap { announce($0) } + summarize()
    }

    /// Withdraws the notification of a removed entry.
    mutating func withdraw(_ entry: Entry) -> [Action] {
        switch entry.presentation {
        case .own: [.withdraw(.entry(entry.id))]
        case .summary where entry.stage != .storing: summarize()
        case .summary, .due, .inbox: []
        }
    }

    @discardableResult
    mutating func move(_ subject: NotificationSubject, to presentation: Presentation) -> [Int] {
        let moved: [Int]
        switch subject {
        case .entry(let id): moved = index(id).map { [$0] } ?? []
        case .summary:
            moved = entries.indices.filter { entries[$0].presentation == .summary && entries[$0].stage != .storing }
            hasSummary = false
        }
        for index in moved { entries[index].presentation = presentation }
        return moved
    }
}
