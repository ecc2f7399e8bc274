// SPDX-License-Identifier: Apache-2.0

/// Events in the order of their deadlines; two with the same deadline keep the order in which they came.
///
/// Sessions schedule a few events each and cancel almost all of them, so a cancelled one is removed at once.
package struct DeadlineQueue: Sendable {
    package struct Entry: Sendable {
        package let deadline: Duration
        package let id: UInt64
        package let action: @Sendable () -> Void
    }

    /// Ascending by deadline and id.
    private var entries: [Entry] = []
    private var lastID: UInt64 = 0

    package init() {}

    package var nextDeadline: Duration? { entries.first?.deadline }

    package var count: Int { entries.count }

    /// Adds an event and returns its id.
    package mutating func insert(at deadline: Duration, _ action: @escaping @Sendable () -> Void) -> UInt64 {
        lastID += 1
        let index = partition { $0 <= deadline }
        entries.insert(Entry(deadline: deadline, id: lastID, action: action), at: index)
        return lastID
    }

    /// Removes an event; false when it is not there any more.
    package mutating func remove(id: UInt64) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
        entries.remove(at: index)
        return true
    }

    /// Takes out the first event whose deadline has come.
    package mutating func popDue(at now: Duration) -> Entry? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        return entries.removeFirst()
    }

    /// The first index whose deadline does not satisfy the predicate.
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
