// SPDX-License-Identifier: Apache-2.0

/// A notification as the desktop is asked for it (Desktop Notifications Specification 1.2).
///
/// It is never transient, so that one that nobody acts on is kept; and it has a button beside the action of a click, since
/// some desktops have no such action.
public struct NotificationRequest: Sendable, Hashable {
    /// The action of a click on the notification.
    public static let clickAction = "default"
    /// The action of the button.
    public static let buttonAction = "open"

    /// The app's name.
    public var appName = "NFC"
    /// The number of the notification that this one takes the place of; 0 for none.
    public var replacedNumber: UInt32
    /// The name of the icon.
    public var icon = "nfc"
    /// The heading.
    public var summary: String
    /// The text, in markup where the desktop takes it for that.
    public var body: String
    /// The actions, each by its name and its text.
    public var actions: [String]

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - content: what the notification says.
    ///   - capabilities: what the desktop's notifications can do.
    ///   - number: the number of the notification that this one takes the place of; 0 for none.
    public init(_ content: NotificationContent, capabilities: Set<String>, replacing number: UInt32 = 0) {
        replacedNumber = number
        summary = content.title
        body = capabilities.contains("body-markup") ? content.markupBody : content.body
        actions = []
        if let title = content.actionTitle, capabilities.contains("actions") {
            actions = [Self.clickAction, title, Self.buttonAction, title]
        }
    }

    /// Whether an action opens what the notification is about.
    public static func opens(_ action: String) -> Bool { action == clickAction || action == buttonAction }
}
