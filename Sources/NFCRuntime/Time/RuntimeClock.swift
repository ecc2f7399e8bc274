// SPDX-License-Identifier: Apache-2.0

/// The time by which sessions live: limits, polling and the sheet's leaving.
///
/// Injected everywhere, so that a test moves time by hand and nothing sleeps.
public protocol RuntimeClock: AnyObject, Sendable {
    /// The time since a fixed moment of the clock's own.
    var now: Duration { get }

    /// Calls `action` once, after a delay.
    ///
    /// - Parameters:
    ///   - delay: how long from now.
    ///   - action: called on any thread, never under the clock's locks.
    /// - Returns: the event, with which it can be cancelled. Cancelling takes it out at once and keeps nothing of it.
    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent
}

/// An event that a clock will fire.
public struct ScheduledEvent: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Creates an event.
    ///
    /// - Parameter onCancel: takes the event out of its clock; does nothing when it has fired.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = onCancel
    }

    /// Takes the event out of its clock. Does nothing when it has fired.
    public func cancel() {
        onCancel()
    }
}
