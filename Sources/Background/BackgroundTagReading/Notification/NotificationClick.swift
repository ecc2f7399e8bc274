// SPDX-License-Identifier: Apache-2.0

/// The last click on a notification. Many desktops close a notification after a click, and report the same reason as
/// when the user dismisses it. This type distinguishes the two cases.
public struct NotificationClick: Sendable, Hashable {
    /// The longest time until a desktop closes a clicked notification.
    private static let closingTime = Duration.seconds(2)
    /// The same when another notification has replaced it. No user reads and dismisses that one faster.
    private static let closingTimeOfReplaced = Duration.milliseconds(250)

    private let clicked: ContinuousClock.Instant
    private var replaced: ContinuousClock.Instant?

    /// Records a click.
    public init(at now: ContinuousClock.Instant) { clicked = now }

    /// Records that another notification replaced the clicked one.
    public mutating func replace(at now: ContinuousClock.Instant) { replaced = replaced ?? now }

    /// Returns whether the desktop closed the notification because of the click.
    public func explainsClosing(at now: ContinuousClock.Instant) -> Bool {
        if let replaced { return now - replaced < Self.closingTimeOfReplaced }
        return now - clicked < Self.closingTime
    }
}
