// SPDX-License-Identifier: Apache-2.0
public import NFCRuntime
public import TagLink

/// Time that moves when a test says so, or when frames take time on the air.
public final class ManualClock: RuntimeClock {
    private struct State {
        var now: Duration = .zero
        var queue = DeadlineQueue()
        /// Whether the field has ended whose time it is.
        var isClosed = false
    }

    private let state = Locked(State())

    /// Creates a clock that stands at zero.
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

    /// Calls the action when a delay is over that code under test has made.
    func schedule(delayOfApp delay: Duration, _ action: @escaping @Sendable () -> Void) {
        _ = schedule(after: delay, .delay, action)
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

    /// Moves time on, and fires what falls due, in order and at its own time.
    ///
    /// - Parameter duration: how far. Events that were scheduled meanwhile fire too when they fall due.
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

    /// When the next event is due, and what it is; nil when there is none.
    var nextEvent: (deadline: Duration, kind: DeadlineQueue.Kind)? {
        state.withLock { state in state.queue.next.map { ($0.deadline, $0.kind) } }
    }

    /// Takes all events out, with what they hold, and takes no more: nobody moves the time on.
    func close() {
        // What the events hold may end here: outside of the lock.
        let events = state.withLock { state in
            state.isClosed = true
            defer { state.queue.removeAll() }
            return state.queue
        }
        _ = events
    }

    /// Moves time on by a span of airtime.
    public func advance(by airtime: Airtime) {
        advance(by: airtime.duration)
    }
}
