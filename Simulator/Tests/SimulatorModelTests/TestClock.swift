// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import SimulatorModel

/// Time that stands still until a test moves it.
final class TestClock: RuntimeClock {
    private struct State {
        var now = Duration.zero
        var last = 0
        var events: [(id: Int, deadline: Duration, action: @Sendable () -> Void)] = []
    }

    private let state = Locked(State())

    var now: Duration { state.withLock { $0.now } }

    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        let id = state.withLock { state in
            state.last += 1
            state.events.append((state.last, state.now + delay, action))
            return state.last
        }
        return ScheduledEvent { [weak self] in self?.state.withLock { $0.events.removeAll { $0.id == id } } }
    }

    /// Lets time pass, and calls what is due in it.
    func advance(by time: Duration) {
        let end = now + time
        while let action = state.withLock({ state -> (@Sendable () -> Void)? in
            let due = state.events.enumerated().filter { $0.element.deadline <= end }
            guard let next = due.min(by: { $0.element.deadline < $1.element.deadline }) else { return nil }
            state.now = max(state.now, next.element.deadline)
            return state.events.remove(at: next.offset).action
        }) {
            action()
        }
        state.withLock { $0.now = end }
    }
}
