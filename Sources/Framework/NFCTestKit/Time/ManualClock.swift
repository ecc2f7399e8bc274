// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
public import TagLink

/// A clock that advances only when a test advances it, or by the airtime of frames.
public final class ManualClock: RuntimeClock {
    private struct State {
        var now: Duration = .zero
        var queue = DeadlineQueue()
        var isClosed = false
    }

    private let state = Locked(State())

    /// Creates a clock that starts at zero.
    public init() {}

    public var now: Duration { state.withLock { $0.now } }

    /// The number of events that have been scheduled and have neither fired nor been cancelled.
    public var scheduledEventCount: Int { state.withLock { $0.queue.count } }

    public func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        schedule(after: delay, .other, action)
    }

    public func schedule(limit: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        schedule(after: limit, .limit, action)
    }

    /// Calls the action when the pause is over; at once when the clock's field has ended.
    public func schedule(pause: Duration, _ action: @escaping @Sendable () -> Void) {
        if state.withLock({ $0.isClosed }) { return action() }
        _ = schedule(after: pause, .pause, action)
    }

    /// Calls the action when a delay of the code under test is over.
    @discardableResult
    func schedule(delayOfApp delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        schedule(after: delay, .delay, action)
    }

    private func schedule(
        after delay: Duration,
        _ kind: DeadlineQueue.Kind,
        _ action: @escaping @Sendable () -> Void
    ) -> ScheduledEvent {
        let id = state.withLock { state in
            state.isClosed ? nil : state.queue.insert(at: state.now + max(delay, .zero), kind: kind, action)
        }
        guard let id else { return ScheduledEvent {} }
        return ScheduledEvent { [weak self] in
            _ = self?.state.withLock { $0.queue.remove(id: id) }
        }
    }

    /// Advances the clock, and fires the events that become due, in order and each at its own time.
    ///
    /// - Parameter duration: how far to advance. Events that are scheduled meanwhile also fire if they become due.
    public func advance(by duration: Duration) {
        let target = now + duration
        while let due = state.withLock({ state -> DeadlineQueue.Entry? in
            let entry = state.queue.popDue(at: target)
            if let entry { state.now = max(state.now, entry.deadline) }
            return entry
        }) {
            due.action()
        }
        state.withLock { $0.now = max($0.now, target) }
    }

    /// The deadline and the kind of the next event; nil when there is none.
    var nextEvent: (deadline: Duration, kind: DeadlineQueue.Kind)? {
        state.withLock { state in state.queue.next.map { ($0.deadline, $0.kind) } }
    }

    /// The end of the next delay of the code under test; nil when there is none.
    var nextDelay: Duration? { state.withLock { $0.queue.nextDeadline(of: .delay) } }

    /// Ends all pauses, removes all other events and ignores further ones, because the clock will not advance any more.
    func close() {
        // The events and their objects are released outside the lock.
        var events = state.withLock { state in
            state.isClosed = true
            defer { state.queue.removeAll() }
            return state.queue
        }
        while let event = events.popDue(at: .seconds(Int64.max)) {
            if event.kind == .pause { event.action() }
        }
    }

    /// Advances the clock by airtime.
    public func advance(by airtime: Airtime) { advance(by: airtime.duration) }
}
