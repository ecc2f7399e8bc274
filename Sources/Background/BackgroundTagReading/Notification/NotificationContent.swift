// SPDX-License-Identifier: Apache-2.0

/// What a notification of a tag says.
///
/// Everything is safe to show: of a web link the host stands alone and in ASCII, so that no name looks like another.
public struct NotificationContent: Sendable, Hashable {
    /// The longest host that is shown whole, in characters. Of a longer one the end is shown.
    public static let maximumHostLength = 80
    /// The most characters that are shown of another target, such as a mail address.
    public static let maximumTargetLength = 100
    /// The most characters that are shown of a number.
    public static let maximumNumberLength = 32

    /// The heading.
    public var title: String
    /// The text, as plain text.
    public var body: String
    /// The text as markup, for services that have `body-markup`.
    public var markupBody: String { DisplayText.escapingMarkup(body) }
    /// The text of the button; nil when there is nothing to open.
    public var actionTitle: String?
    /// The host that is shown; nil for other targets.
    public var host: String?

    /// What is said of a tag whose URI record can't be read.
    public static let unusable = NotificationContent(
        title: "NFC Tag Detected",
        body: "No usable data found",
        actionTitle: nil,
        host: nil
    )

    /// What is said of a link that could not be opened.
    ///
    /// - Parameter reason: why, as sentences for people.
    public static func notOpened(reason: String) -> NotificationContent {
        let body = DisplayText.plain(reason, limit: 300)
        return NotificationContent(title: "The Link Was Not Opened", body: body, actionTitle: "Try Again", host: nil)
    }

    /// What is said of a link that another process is opening.
    public static let beingOpened = NotificationContent(
        title: "The Link Is Being Opened",
        body: "Another program opens it now.",
        actionTitle: "Open",
        host: nil
    )

    /// Creates what is said of a link.
    ///
    /// - Parameters:
    ///   - uri: the link.
    ///   - route: where it goes.
    ///   - browser: the name of the browser; nil where it is not known.
    /// - Returns: nil when it goes nowhere, of which nothing is said.
    public init?(_ uri: TagURI, route: LinkRoute, browser: String? = nil) {
        let host = uri.host.map { DisplayText.plain($0, limit: Self.maximumHostLength, keeping: .tail) }
        let target = host ?? Self.target(uri)
        switch route {
        case .app(let app, _): self.init(body: "Open “\(target)” in \(app.name)", host: host)
        case .browser: self.init(body: "Open “\(target)” in \(browser ?? "the browser")", host: host)
        case .customScheme(let app):
            self.init(body: "Open “\(uri.scheme):” in \(app.name)", host: nil)
        case .system(let scheme):
            let verb =
                switch scheme {
                case .mail: "Write a mail to “\(target)”"
                case .textMessage: "Write a text message to “\(target)”"
                case .call: "Call “\(target)”"
                case .faceTime: "Call “\(target)” with FaceTime"
                case .faceTimeAudio: "Call “\(target)” with FaceTime Audio"
                case .map where host == nil && !target.isEmpty: "Show “\(target)” on the map"
                case .map: "Show a place on the map"
                case .homeKit: "Set up a HomeKit accessory"
                }
            self.init(body: verb, host: host)
        case .refused: return nil
        }
    }

    /// Creates what is said of a link. One that nothing on the system opens has no button, and says where to see what to do.
    ///
    /// - Returns: nil when it goes nowhere, of which nothing is said.
    public init?(_ uri: TagURI, router: LinkRouter) {
        let route = router.route(uri)
        self.init(uri, route: route, browser: router.browserNames[uri.scheme])
        if let scheme = router.unopenedScheme(of: uri, route: route) {
            let target = host ?? Self.target(uri)
            let example = target.isEmpty ? "" : ", such as “\(target)”"
            body = "No app opens “\(scheme):” links\(example). To see what to install, run: nfc background doctor"
            actionTitle = nil
        }
    }

    init(title: String, body: String, actionTitle: String?, host: String?) {
        self.title = title
        self.body = body
        self.actionTitle = actionTitle
        self.host = host
    }

    private init(body: String, host: String?) {
        self.init(title: "NFC Tag Detected", body: body, actionTitle: "Open", host: host)
    }

    /// Whom a URI without a host is for. The escapes of numbers are resolved; of what is too long both ends are shown, since
    /// the digits that tell numbers apart may stand at either.
    ///
    /// - Parameter limit: the most characters.
    static func target(_ uri: TagURI, limit: Int = maximumTargetLength) -> String {
        guard let link = SystemLink(uri) else { return DisplayText.plain(SystemLink.path(uri), limit: limit) }
        switch link.scheme {
        case .call, .textMessage, .faceTime, .faceTimeAudio:
            return DisplayText.plain(link.target, limit: min(limit, maximumNumberLength), keeping: .both)
        case .mail, .map, .homeKit: return DisplayText.plain(link.target, limit: limit, keeping: .both)
        }
    }
}

/// A notification as the desktop is asked for it (Desktop Notifications Specification 1.2).
///
/// It is never transient, so that one that nobody acts on is kept. It has one action, that of a click: a desktop without
/// clicks makes a button of it.
public struct NotificationRequest: Sendable, Hashable {
    /// The action of a click on the notification.
    public static let clickAction = "default"
    /// The name of the desktop entry and of the icon, which are installed with the service.
    public static let desktopEntry = "org.opencorenfc.Background"

    /// The app's name.
    public var appName = "NFC"
    /// The number of the notification that this one takes the place of; 0 for none.
    public var replacedNumber: UInt32
    /// The name of the icon.
    public var icon = Self.desktopEntry
    /// The heading.
    public var summary: String
    /// The text, in markup where the desktop takes it for that.
    public var body: String
    /// The actions, each by its name and its text.
    public var actions: [String]
    /// Whether the desktop has to be told to keep it, since it does not keep what nobody has acted on. Then it neither
    /// expires nor goes when it is clicked: it is closed when what it is about is done.
    public var staysUntilClosed: Bool

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
        staysUntilClosed = !capabilities.contains("persistence")
        actions = []
        if let title = content.actionTitle, capabilities.contains("actions") {
            actions = [Self.clickAction, title]
        }
    }

    /// Whether an action opens what the notification is about.
    public static func opens(_ action: String) -> Bool { action == clickAction }
}
