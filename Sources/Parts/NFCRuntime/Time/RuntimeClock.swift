// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TagLink

/// The time by which sessions live: limits, polling and the sheet's leaving.
///
/// Injected everywhere, so that a test moves time by hand and nothing sleeps.
public protocol RuntimeClock: AnyObject, Sendable {
    /// The time since a fixed moment of the clock's own.
    var now: Duration { get }

    /// Calls `action` once, after a delay.
    ///
    /// - Parameters:
    ///   - delay: how long from now.
    ///   - action: called on any thread, never under the clock's locks.
    /// - Returns: the event, with which it can be cancelled. Cancelling takes it out at once and keeps nothing of it.
    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent

    /// Calls `action` once, when a limit is over that ends what an app does. The same as ``schedule(after:_:)`` unless the
    /// clock of a test passes limits more carefully than other delays.
    ///
    /// - Parameters:
    ///   - limit: how long from now.
    ///   - action: called on any thread, never under the clock's locks.
    /// - Returns: the event, with which it can be cancelled.
    func schedule(limit: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent
}

extension RuntimeClock {
    public func schedule(limit: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        schedule(after: limit, action)
    }
}

/// An event that a clock will fire.
public struct ScheduledEvent: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Creates an event.
    ///
    /// - Parameter onCancel: takes the event out of its clock; does nothing when it has fired.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = onCancel
    }

    /// Takes the event out of its clock. Does nothing when it has fired.
    public func cancel() {
        onCancel()
    }
}

/// Real time, which does not stand still while the machine sleeps: one timer for all events of the process.
///
/// A cancelled event leaves nothing behind, which `Task.sleep` and `asyncAfter` do not promise: they keep their timer
/// until it would have fired.
public final class SystemClock: RuntimeClock {
    /// The one clock of the process.
    public static let shared = SystemClock()

    private struct State {
        var queue = DeadlineQueue()
        /// The deadline for which the timer is armed. A later first deadline leaves it as it is: an early wake-up is
        /// cheaper than arming the timer anew for every session.
        var armedFor: Duration?
        var timer: (any DispatchSourceTimer)?
    }

    private let state = Locked(State())
    private let origin = ContinuousClock.now

    private init() {
        let queue = DispatchQueue(label: "org.opencorenfc.clock")
        state.withLock { state in
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.setEventHandler { [weak self] in self?.fire() }
            timer.activate()
            state.timer = timer
        }
    }

    public var now: Duration {
        origin.duration(to: .now)
    }

    public func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        let deadline = now + max(delay, .zero)
        let id = state.withLock { state in
            let id = state.queue.insert(at: deadline, action)
            arm(&state)
            return id
        }
        return ScheduledEvent { [weak self] in
            // The action is released outside of the lock: what it holds may end here.
            _ = self?.state.withLock { $0.queue.remove(id: id) }
        }
    }

    /// Arms the timer for the first deadline when it is not armed for that or an earlier one.
    private func arm(_ state: inout State) {
        guard let next = state.queue.nextDeadline else { return }
        if let armed = state.armedFor, armed <= next { return }
        state.armedFor = next
        let delay = max(next - now, .zero)
        let (seconds, attoseconds) = delay.components
        let nanoseconds = Int(clamping: seconds) &* 1_000_000_000 &+ Int(attoseconds / 1_000_000_000)
        state.timer?.schedule(deadline: .now() + .nanoseconds(nanoseconds + 1))
    }

    private func fire() {
        state.withLock { $0.armedFor = nil }
        while let due = state.withLock({ $0.queue.popDue(at: now) }) {
            due.action()
        }
        state.withLock { arm(&$0) }
    }
}

/// Events in the order of their deadlines; two with the same deadline keep the order in which they came.
///
/// Sessions schedule a few events each and cancel almost all of them, so a cancelled one is removed at once.
package struct DeadlineQueue: Sendable {
    /// What an event is to the app.
    package enum Kind: Sendable {
        /// Something that the field or the person does.
        case other
        /// The end of a delay that the app has made.
        case delay
        /// A limit that ends what the app does.
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
