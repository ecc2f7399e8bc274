// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TagLink

/// The clock for sessions: time limits, polling, and how long the sheet stays.
///
/// It is injected everywhere, so that a test controls time and nothing sleeps.
public protocol RuntimeClock: AnyObject, Sendable {
    /// The time since a fixed moment of this clock.
    var now: Duration { get }

    /// Calls `action` once, after a delay.
    ///
    /// - Parameters:
    ///   - delay: the delay from now.
    ///   - action: called on any thread, never under the clock's locks.
    /// - Returns: the event, to cancel it. A cancelled event is removed at once, with its action.
    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent

    /// Calls `action` once, when a time limit for the app is over. Like ``schedule(after:_:)``, but a test's clock may
    /// advance past limits more carefully than past other delays.
    ///
    /// - Parameters:
    ///   - limit: the delay from now.
    ///   - action: called on any thread, never under the clock's locks.
    /// - Returns: the event, to cancel it.
    func schedule(limit: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent
}

extension RuntimeClock {
    public func schedule(limit: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        schedule(after: limit, action)
    }
}

/// A scheduled event of a clock.
public struct ScheduledEvent: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Creates an event.
    ///
    /// - Parameter onCancel: removes the event from its clock; does nothing if it has fired.
    public init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    /// Removes the event from its clock. Does nothing if it has fired.
    public func cancel() { onCancel() }
}

/// Real time, which continues while the machine sleeps. One timer serves all events of the process.
///
/// A cancelled event leaves nothing behind. `Task.sleep` and `asyncAfter` do not promise that: they keep their timer
/// until it would have fired.
public final class SystemClock: RuntimeClock {
    /// The shared clock of the process.
    public static let shared = SystemClock()

    private struct State {
        var queue = DeadlineQueue()
        /// The deadline that the timer is set to. It is not changed when the first deadline becomes later: waking up
        /// early costs less than setting the timer again for every session.
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

    public var now: Duration { origin.duration(to: .now) }

    public func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        let deadline = now + max(delay, .zero)
        let id = state.withLock { state in
            let id = state.queue.insert(at: deadline, action)
            arm(&state)
            return id
        }
        return ScheduledEvent { [weak self] in
            // The action is released outside the lock, because this may free the objects that it holds.
            _ = self?.state.withLock { $0.queue.remove(id: id) }
        }
    }

    /// Sets the timer to the first deadline, unless it is already set to that or an earlier one.
    private func arm(_ state: inout State) {
        guard let next = state.queue.nextDeadline else { return }
        if let armed = state.armedFor, armed <= next { return }
        state.armedFor = next
        let delay = Self.nanoseconds(until: next - now)
        state.timer?.schedule(deadline: .now() + .nanoseconds(delay))
    }

    /// Returns how long the timer waits: a day at most, after which it is set again. So a limit may be as long as a
    /// `Duration` can be.
    ///
    /// - Parameter delay: the delay until the first deadline; negative when that has passed.
    package static func nanoseconds(until delay: Duration) -> Int {
        let (seconds, attoseconds) = min(max(delay, .zero), .seconds(86_400)).components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }

    private func fire() {
        state.withLock { $0.armedFor = nil }
        while let due = state.withLock({ $0.queue.popDue(at: now) }) {
            due.action()
        }
        state.withLock { arm(&$0) }
    }
}

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
        // From the end, where most new events belong.
        let index = entries.lastIndex { $0.deadline <= deadline }.map { $0 + 1 } ?? 0
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
}
