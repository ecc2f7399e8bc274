// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TagLink

/// The clock of sessions, for time limits, polling intervals, and the removal of the sheet.
///
/// All code uses this clock instead of sleeping, so that a test can control the time.
public protocol RuntimeClock: AnyObject, Sendable {
    /// The time since a fixed moment of this clock.
    var now: Duration { get }

    /// Calls `action` once, after a delay.
    ///
    /// - Parameters:
    ///   - delay: the delay from now.
    ///   - action: called on any thread, never under the clock's locks.
    /// - Returns: the event, which can be cancelled. A cancelled event is removed at once, together with its action.
    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent

    /// Calls `action` once, when a time limit of the app expires. Like ``schedule(after:_:)``, but a test's clock may
    /// treat limits differently from other delays.
    ///
    /// - Parameters:
    ///   - limit: the delay from now.
    ///   - action: called on any thread, never under the clock's locks.
    /// - Returns: the event, which can be cancelled.
    func schedule(limit: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent

    /// Calls `action` once, when the phone has done what takes it a moment, such as showing the sheet. Like
    /// ``schedule(after:_:)``, but a test's clock lets such a pause pass while the test waits for the code to rest.
    ///
    /// - Parameters:
    ///   - pause: the delay from now.
    ///   - action: called on any thread, never under the clock's locks.
    func schedule(pause: Duration, _ action: @escaping @Sendable () -> Void)
}

extension RuntimeClock {
    public func schedule(limit: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        schedule(after: limit, action)
    }

    public func schedule(pause: Duration, _ action: @escaping @Sendable () -> Void) {
        _ = schedule(after: pause, action)
    }
}

/// A scheduled event of a clock.
public struct ScheduledEvent: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Creates an event.
    ///
    /// - Parameter onCancel: removes the event from its clock; does nothing if the event has fired.
    public init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    /// Removes the event from its clock. Does nothing if the event has fired.
    public func cancel() { onCancel() }
}

/// Real time, including the time while the machine sleeps. One timer is used for all events of the process.
///
/// A cancelled event is freed at once. `Task.sleep` and `asyncAfter` may keep their timers until they would have fired.
public final class SystemClock: RuntimeClock {
    /// The shared clock of the process.
    public static let shared = SystemClock()

    private struct State {
        var queue = DeadlineQueue()
        /// The deadline that the timer is set to. It may be earlier than the first deadline, because waking up early
        /// costs less than setting the timer again for every session.
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
            // The action is released outside the lock, because its release may free other objects.
            _ = self?.state.withLock { $0.queue.remove(id: id) }
        }
    }

    /// Sets the timer to the first deadline, unless the timer is already set to that or an earlier deadline.
    private func arm(_ state: inout State) {
        guard let next = state.queue.nextDeadline else { return }
        if let armed = state.armedFor, armed <= next { return }
        state.armedFor = next
        let delay = Self.nanoseconds(until: next - now)
        state.timer?.schedule(deadline: .now() + .nanoseconds(delay))
    }

    /// Returns how long the timer waits, at most a day. Then the timer is set again, so that a limit may be as long as
    /// a `Duration` allows.
    ///
    /// - Parameter delay: the delay until the first deadline; negative when the deadline has passed.
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

/// A queue of events, ordered by deadline. Events with the same deadline keep the order in which they were added.
///
/// Each session schedules a few events and cancels almost all of them, so a cancelled event is removed at once.
package struct DeadlineQueue: Sendable {
    /// The kind of an event.
    package enum Kind: Sendable {
        /// An event in the field, or an action of the user.
        case other
        /// The end of a delay that the app created.
        case delay
        case limit
        /// The end of a pause that the phone makes by itself.
        case pause
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

    package func nextDeadline(of kind: Kind) -> Duration? { entries.first { $0.kind == kind }?.deadline }

    /// The first event; nil when there is none.
    package var next: Entry? { entries.first }

    package var count: Int { entries.count }

    package mutating func insert(
        at deadline: Duration,
        kind: Kind = .other,
        _ action: @escaping @Sendable () -> Void
    ) -> UInt64 {
        lastID += 1
        // Searches from the end, where most new events belong.
        let index = entries.lastIndex { $0.deadline <= deadline }.map { $0 + 1 } ?? 0
        entries.insert(Entry(deadline: deadline, id: lastID, kind: kind, action: action), at: index)
        return lastID
    }

    package mutating func removeAll() { entries = [] }

    /// Removes an event. Returns false when the event is not in the queue.
    package mutating func remove(id: UInt64) -> Bool {
        let index = entries.firstIndex { $0.id == id }
        guard let index else { return false }
        entries.remove(at: index)
        return true
    }

    package mutating func popDue(at now: Duration) -> Entry? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        return entries.removeFirst()
    }
}
