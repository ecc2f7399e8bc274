// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TagLink

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
