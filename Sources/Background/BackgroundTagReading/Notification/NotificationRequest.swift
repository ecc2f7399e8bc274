// SPDX-License-Identifier: Apache-2.0

/// A notification, as requested from the desktop (Desktop Notifications Specification 1.2).
///
/// It is never transient, so it is kept until the user acts on it. It has one action, for a click; a desktop without
/// clicks shows it as a button.
public struct NotificationRequest: Sendable, Hashable {
    /// The action of a click on the notification.
    public static let clickAction = "default"
    /// The name of the desktop entry and of the icon. Both are installed with the service.
    public static let desktopEntry = "org.opencorenfc.Background"

    /// The app's name.
    public var appName = "NFC"
    /// The number of the notification that this one replaces; 0 for none.
    public var replacedNumber: UInt32
    /// The name of the icon.
    public var icon = Self.desktopEntry
    /// The heading.
    public var summary: String
    /// The text, as markup if the desktop supports it.
    public var body: String
    /// The actions, each with its name and its title.
    public var actions: [String]
    /// Whether the desktop must be asked to keep the notification, because it does not keep notifications by itself.
    /// Then the notification does not expire and does not close on a click. The service closes it when its subject is
    /// done.
    public var staysUntilClosed: Bool

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - content: the texts of the notification.
    ///   - capabilities: the capabilities of the desktop's notification service.
    ///   - number: the number of the notification that this one replaces; 0 for none.
    public init(_ content: NotificationContent, capabilities: Set<String>, replacing number: UInt32 = 0) {
        replacedNumber = number
        summary = content.title
        body = capabilities.contains("body-markup") ? content.markupBody : content.body
        staysUntilClosed = !capabilities.contains("persistence")
        actions = []
        if let title = content.actionTitle, capabilities.contains("actions") {
            actions = [Self.clickAction, title]
        }
    }

    /// Returns whether an action opens the notification's subject.
    public static func opens(_ action: String) -> Bool { action == clickAction }
}

/// The subject of a notification.
public enum NotificationSubject: Sendable, Hashable {
    case entry(InboxEntry.ID)
    case summary
}

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

/// Decides when to try again to show a notification: a few times, each after twice the previous delay, until one is
/// shown.
public struct NotificationRetryPolicy: Sendable, Hashable {
    /// The most tries. After that, due notifications are shown with the next arrival, or when notifications are
    /// available again.
    public static let maximumCount = 8
    private static let longest = Duration.seconds(60)

    private var count = 0
    private var isWaiting = false

    /// Creates the state without a failure.
    public init() {}

    /// Records a failure, and returns the delay before the next try; nil when a try is planned already, or there were
    /// enough.
    public mutating func failed() -> Duration? {
        guard !isWaiting, count < Self.maximumCount else { return nil }
        isWaiting = true
        defer { count += 1 }
        return min(.seconds(1 << count), Self.longest)
    }

    /// Records that the delay is over and the next try starts.
    public mutating func began() { isWaiting = false }

    /// Records that a notification was shown. The next failure starts with the shortest delay.
    public mutating func succeeded() { count = 0 }
}
