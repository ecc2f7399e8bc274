// SPDX-License-Identifier: Apache-2.0

/// The last click on a notification, which many desktops close for it: that is no refusal, although they give the reason of
/// one. It tells that closing from one by the person, who dismisses what took the notification's place.
public struct NotificationClick: Sendable, Hashable {
    /// The longest that a desktop takes to close what was clicked.
    private static let closingTime = Duration.seconds(2)
    /// The longest that it takes when another notification has taken the place meanwhile. Nobody reads and dismisses that
    /// one sooner.
    private static let closingTimeOfReplaced = Duration.milliseconds(250)

    private let clicked: ContinuousClock.Instant
    private var replaced: ContinuousClock.Instant?

    /// Notes a click.
    public init(at now: ContinuousClock.Instant) { clicked = now }

    /// Notes that another notification is shown in the place of the one that was clicked.
    public mutating func replace(at now: ContinuousClock.Instant) { replaced = replaced ?? now }

    /// Whether a closing is the desktop's, for the click.
    public func explainsClosing(at now: ContinuousClock.Instant) -> Bool {
        if let replaced { return now - replaced < Self.closingTimeOfReplaced }
        return now - clicked < Self.closingTime
    }
}
