// SPDX-License-Identifier: Apache-2.0

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
