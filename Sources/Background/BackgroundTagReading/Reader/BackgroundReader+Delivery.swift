// SPDX-License-Identifier: Apache-2.0

/// The way from the user's choice to opening a link.
extension BackgroundReader {
    mutating func activate(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id) else { return [] }
        switch entries[index].stage {
        case .storing, .delivering: return []
        case .waiting:
            // A click does what was shown. If the link goes elsewhere by now, that is shown first.
            if let offer = entries[index].offer, let now = content(of: entries[index]), now.body != offer.body {
                return showAlone(index)
            }
            guard isLocked else { return deliver(id) }
            entries[index].stage = .waitingForUnlock
            return keep(.wanted, index) + showAlone(index) + [.requestUnlock]
        // The click has closed the notification that asks to unlock.
        case .waitingForUnlock: return isLocked ? showAlone(index) + [.requestUnlock] : deliver(id)
        }
    }

    mutating func deliver(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id) else { return [] }
        // The mark is removed before the link is opened, so it is never opened a second time.
        let forgetting = keep(nil, index)
        guard let delivery = Delivery(message: entries[index].message, router: router) else {
            entries[index].stage = .waiting
            return forgetting + [.note(.nothingToOpen(id))]
        }
        entries[index].stage = .delivering
        return forgetting + [.deliver(id, delivery)]
    }

    /// Replaces the mark of an entry.
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
        // While it was being opened, it was not saved again.
        return [.note(.notDelivered(id))] + storeAgain(entries[index]) + showAlone(index, .notOpened(reason: reason))
    }

    mutating func beingOpened(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id), entries[index].stage == .delivering else { return [] }
        entries[index].stage = .waiting
        // The click has closed the notification. If the other process fails, the user can click this one.
        return showAlone(index, .beingOpened)
    }

    mutating func cleared(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id) else { return [] }
        let forgetting = keep(nil, index)
        let entry = entries.remove(at: index)
        return forgetting + withdraw(entry)
    }
}
