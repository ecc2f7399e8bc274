// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import NFCSessions

/// Real time, whose events are called on the thread of an event loop.
final class LoopClock: RuntimeClock {
    private let loop: EventLoop
    private let origin = ContinuousClock.now

    init(_ loop: EventLoop) { self.loop = loop }

    var now: Duration { origin.duration(to: .now) }

    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        // Nothing here cancels events, so they need no number.
        loop.perform { [loop] in loop.after(delay, action) }
        return ScheduledEvent {}
    }
}
