// SPDX-License-Identifier: Apache-2.0

/// From the person's choice to what is opened.
extension BackgroundReader {
    mutating func activate(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id) else { return [] }
        switch entries[index].stage {
        case .storing, .waitingForUnlock, .delivering: return []
        case .announcing, .waiting: break
        }
        guard !isLocked else {
            entries[index].stage = .waitingForUnlock
            return [.requestUnlock]
        }
        return deliver(id)
    }

    mutating func deliver(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id) else { return [] }
        guard let delivery = Delivery(message: entries[index].message, router: router) else {
            entries[index].stage = .waiting
            return [.note(.nothingToOpen(id))]
        }
        entries[index].stage = .delivering
        return [.deliver(id, delivery)]
    }

    mutating func delivered(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id), entries[index].stage == .delivering else { return [] }
        entries.remove(at: index)
        return [.remove(id), .withdraw(id)]
    }

    mutating func deliveryFailed(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id), entries[index].stage == .delivering else { return [] }
        entries[index].stage = .waiting
        return [.note(.notDelivered(id))]
    }

    mutating func cleared(_ id: InboxEntry.ID) -> [Action] {
        guard let index = index(id) else { return [] }
        entries.remove(at: index)
        return [.withdraw(id)]
    }
}
