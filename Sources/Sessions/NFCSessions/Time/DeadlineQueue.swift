// SPDX-License-Identifier: Apache-2.0

/// Events in the order of their deadlines. Events with the same deadline stay in the order in which they were added.
///
/// Sessions schedule a few events each and cancel almost all of them, so a cancelled event is removed at once.
package struct DeadlineQueue: Sendable {
    /// The meaning of an event for the app.
    package enum Kind: Sendable {
        /// Something in the field, or an action of the user.
        case other
        /// The end of a delay that the app created.
        case delay
        /// A time limit for the app.
        case limit
    }

    package struct Entry: Sendable {
        package let deadline: Duration
        package let id: UInt64
        package let kind: Kind
        package let action: @Sendable () -> Void
    }

    /// Ascending by deadline and id.
    private var entries: [Entry] = []
    private var lastID: UInt64 = 0

    package init() {}

    package var nextDeadline: Duration? { entries.first?.deadline }

    /// The first event; nil when there is none.
    package var next: Entry? { entries.first }

    package var count: Int { entries.count }

    /// Adds an event and returns its id.
    package mutating func insert(
        at deadline: Duration,
        kind: Kind = .other,
        _ action: @escaping @Sendable () -> Void
    ) -> UInt64 {
        lastID += 1
        let index = partition { $0 <= deadline }
        entries.insert(Entry(deadline: deadline, id: lastID, kind: kind, action: action), at: index)
        return lastID
    }

    /// Removes all events.
    package mutating func removeAll() { entries = [] }

    /// Removes an event; false when it is not in the queue.
    package mutating func remove(id: UInt64) -> Bool {
        let index = entries.firstIndex { $0.id == id }
        guard let index else { return false }
        entries.remove(at: index)
        return true
    }

    /// Removes and returns the first event whose deadline has passed.
    package mutating func popDue(at now: Duration) -> Entry? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        return entries.removeFirst()
    }

    /// Returns the first index whose deadline does not satisfy the predicate.
    private func partition(where precedes: (Duration) -> Bool) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if precedes(entries[middle].deadline) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
