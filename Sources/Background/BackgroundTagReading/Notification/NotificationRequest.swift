// SPDX-License-Identifier: Apache-2.0

/// A request to the desktop to show a notification (Desktop Notifications Specification 1.2).
///
/// A notification is never transient, so the desktop keeps it until the user acts on it. Its only action is a click. A
/// desktop without clicks shows a button instead.
public struct NotificationRequest: Sendable, Hashable {
    /// The name of the action for a click on the notification.
    public static let clickAction = "default"
    /// The name of the desktop entry and of the icon. Both are installed with the service.
    public static let desktopEntry = "org.opencorenfc.Background"

    /// The app's name.
    public var appName = "NFC"
    /// The number of the notification to replace; 0 for none.
    public var replacedNumber: UInt32
    /// The name of the icon.
    public var icon = Self.desktopEntry
    /// The heading.
    public var summary: String
    /// The text, as markup if the desktop supports it.
    public var body: String
    /// The names of actions, each followed by its title.
    public var actions: [String]
    /// Whether the desktop must be asked to keep the notification, because it does not keep notifications by itself.
    /// Such a notification does not expire, and a click does not close it. The service closes it when its subject is
    /// done.
    public var staysUntilClosed: Bool

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - content: the texts of the notification.
    ///   - capabilities: the capabilities of the desktop's notification service.
    ///   - number: the number of the notification to replace; 0 for none.
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

/// The last click on a notification. After a click, many desktops close the notification, and report the same reason as
/// when the user dismisses it. This type tells the two cases apart.
public struct NotificationClick: Sendable, Hashable {
    /// How long a desktop may take to close a clicked notification.
    private static let closingTime = Duration.seconds(2)
    /// The same time after another notification has replaced the clicked one. No user can dismiss the new one faster.
    private static let closingTimeOfReplaced = Duration.milliseconds(250)

    private let clickTime: ContinuousClock.Instant
    private var replacementTime: ContinuousClock.Instant?

    /// Records a click.
    public init(at now: ContinuousClock.Instant) { clickTime = now }

    /// Records that another notification replaced the clicked notification.
    public mutating func replace(at now: ContinuousClock.Instant) { replacementTime = replacementTime ?? now }

    /// Returns whether the desktop closed the notification because of the click.
    public func explainsClosing(at now: ContinuousClock.Instant) -> Bool {
        if let replacementTime { return now - replacementTime < Self.closingTimeOfReplaced }
        return now - clickTime < Self.closingTime
    }
}

/// Decides when to try again to show a notification. Each delay is twice as long as the delay before. A success resets
/// the delay.
public struct NotificationRetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts. After that, due notifications are shown with the next arrival, or when
    /// notifications are available again.
    public static let maximumCount = 8
    private static let maximumDelay = Duration.seconds(60)

    private var count = 0
    private var isWaiting = false

    /// Creates the state before any failure.
    public init() {}

    /// Records a failure, and returns the delay before the next attempt; nil when an attempt is already planned, or
    /// after too many attempts.
    public mutating func failed() -> Duration? {
        guard !isWaiting, count < Self.maximumCount else { return nil }
        isWaiting = true
        defer { count += 1 }
        return min(.seconds(1 << count), Self.maximumDelay)
    }

    /// Records that the delay is over and the next attempt starts.
    public mutating func began() { isWaiting = false }

    /// Records that a notification was shown. The next failure starts with the shortest delay.
    public mutating func succeeded() { count = 0 }
}
