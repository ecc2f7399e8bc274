// SPDX-License-Identifier: Apache-2.0

/// A heap of functions ordered by due time.
struct TimerHeap {
    private var heap: [(due: Duration, id: UInt64)] = []
    private var bodies: [UInt64: () -> Void] = [:]
    private var nextID: UInt64 = 1

    /// When the next function is due; nil if there is none.
    var next: Duration? { heap.first?.due }

    /// Adds a function.
    ///
    /// - Returns: the timer's ID, for ``remove(_:)``.
    mutating func insert(at due: Duration, _ body: @escaping () -> Void) -> UInt64 {
        let id = nextID
        nextID += 1
        bodies[id] = body
        heap.append((due, id))
        var child = heap.count - 1
        while child > 0, heap[child].due < heap[(child - 1) / 2].due {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
        return id
    }

    /// Removes a function. Its heap entry remains until it is due.
    mutating func remove(_ id: UInt64) { bodies[id] = nil }

    private mutating func pop(now: Duration) -> UInt64? {
        guard let first = heap.first, first.due <= now else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first.id }
        heap[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { return first.id }
            if child + 1 < heap.count, heap[child + 1].due < heap[child].due { child += 1 }
            guard heap[child].due < heap[parent].due else { return first.id }
            heap.swapAt(child, parent)
            parent = child
        }
    }

    /// Removes and returns the next function that is due.
    mutating func take(now: Duration) -> (() -> Void)? {
        while let id = pop(now: now) {
            if let body = bodies.removeValue(forKey: id) { return body }
        }
        return nil
    }
}
