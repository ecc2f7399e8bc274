// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TagLink

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
