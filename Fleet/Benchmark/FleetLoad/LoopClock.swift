// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import NFCSessions

/// A clock of real time, whose events run on the thread of an event loop.
final class LoopClock: RuntimeClock {
    private let loop: EventLoop
    private let origin = ContinuousClock.now

    init(_ loop: EventLoop) { self.loop = loop }

    var now: Duration { origin.duration(to: .now) }

    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        // Cancelling has no effect, because nothing here cancels events.
        loop.perform { [loop] in loop.after(delay, action) }
        return ScheduledEvent {}
    }
}
