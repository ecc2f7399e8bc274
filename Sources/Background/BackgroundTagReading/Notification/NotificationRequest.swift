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
