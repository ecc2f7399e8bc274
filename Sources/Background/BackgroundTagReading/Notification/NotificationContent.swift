// SPDX-License-Identifier: Apache-2.0
import NDEF
import TextSafety

/// The texts of a notification about a tag.
///
/// All texts are safe to show. For a web link, only the host is shown, in ASCII, so that no host can look like another.
public struct NotificationContent: Sendable, Hashable {
    /// The maximum length of a completely shown host, in characters. Only the end of a longer host is shown.
    public static let maximumHostLength = 80
    /// The maximum length of other targets, such as a mail address.
    public static let maximumTargetLength = 100
    /// The maximum length of a number.
    public static let maximumNumberLength = 32

    /// The heading.
    public var title: String
    /// The text, as plain text.
    public var body: String
    /// The text as markup, for notification services with `body-markup`.
    public var markupBody: String { DisplayText.escapingMarkup(body) }
    /// The title of the button; nil when nothing can be opened.
    public var actionTitle: String?
    /// The host in the text; nil for other targets.
    public var host: String?

    /// The text for a tag whose URI record is invalid.
    public static let unusable = NotificationContent(title: "NFC Tag Detected", body: "No usable data found")

    /// Returns the text for a link that could not be opened. The reason consists of sentences.
    public static func notOpened(reason: String) -> NotificationContent {
        let body = DisplayText.plain(reason, limit: 300)
        return NotificationContent(title: "The Link Was Not Opened", body: body, actionTitle: "Try Again")
    }

    /// The text for a link that another process is opening.
    public static let beingOpened = NotificationContent(
        title: "The Link Is Being Opened",
        body: "Another program is opening it.",
        actionTitle: "Open"
    )

    /// Creates the text for a link; nil when the link is refused, so nothing is shown. If no app on the system opens
    /// the link, the button is missing, and the text explains how to find out what to install.
    public init?(_ uri: TagURI, router: LinkRouter) {
        let route = router.route(uri)
        let host = uri.host.map { DisplayText.plain($0, limit: Self.maximumHostLength, keeping: .tail) }
        let target = host ?? Self.target(uri)
        switch route {
        case .app(let app, _): self.init(body: "Open “\(target)” in \(app.name)", host: host)
        case .browser:
            let browser = router.browserNames[uri.scheme] ?? "the browser"
            self.init(body: "Open “\(target)” in \(browser)", host: host)
        case .customScheme(let app): self.init(body: "Open “\(uri.scheme):” in \(app.name)", host: nil)
        case .system(let scheme):
            let verb =
                switch scheme {
                case .mail: "Write an email to “\(target)”"
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
        if let scheme = router.unopenedScheme(of: uri, route: route) {
            let example = target.isEmpty ? "" : ", such as “\(target)”"
            body = "No app opens “\(scheme):” links\(example). To see what to install, run: nfc background doctor"
            actionTitle = nil
        }
    }

    init(title: String, body: String, actionTitle: String? = nil, host: String? = nil) {
        self.title = title
        self.body = body
        self.actionTitle = actionTitle
        self.host = host
    }

    private init(body: String, host: String?) {
        self.init(title: "NFC Tag Detected", body: body, actionTitle: "Open", host: host)
    }

    /// Returns the target of a URI without a host, shortened to a limit. Escapes in numbers are decoded. If the target
    /// is too long, both ends are shown, because numbers may differ at either end.
    static func target(_ uri: TagURI, limit: Int = maximumTargetLength) -> String {
        guard let link = SystemLink(uri) else { return DisplayText.plain(SystemLink.path(uri), limit: limit) }
        switch link.scheme {
        case .call, .textMessage, .faceTime, .faceTimeAudio:
            return DisplayText.plain(link.target, limit: min(limit, maximumNumberLength), keeping: .both)
        case .mail, .map, .homeKit: return DisplayText.plain(link.target, limit: limit, keeping: .both)
        }
    }

    // MARK: Waiting links

    static let maximumTargets = 3
    /// The maximum length of a name in a summary, in characters. Only the end of a longer name is shown.
    static let maximumNameLength = 40

    /// Creates the text for a link that the user wants to open while the screen is locked; nil when it can't be opened.
    public init?(unlockingFor uri: TagURI, router: LinkRouter) {
        guard let content = NotificationContent(uri, router: router), content.actionTitle != nil else { return nil }
        self = content
        switch router.route(uri) {
        case .app, .browser: body = "Unlock to open “\(host ?? uri.scheme)”"
        case .system, .customScheme, .refused: body = "Unlock to \(body.prefix(1).lowercased())\(body.dropFirst())"
        }
        actionTitle = "Unlock"
    }

    /// Creates the text for several waiting links. `targets` are the known targets, oldest first.
    init(waiting count: Int, targets: [String]) {
        var names: [String] = []
        for target in targets.reversed() where !names.contains(target) { names.append(target) }
        let shown = names.prefix(Self.maximumTargets).map { "“\($0)”" }.joined(separator: ", ")
        let isAll = names.count <= Self.maximumTargets
        self.init(
            title: count == 1 ? "1 link is waiting" : "\(count) links are waiting",
            body: isAll ? shown : shown + " and others",
            actionTitle: "Show"
        )
    }

    /// Returns the target of a message's link as a short text: a host, a number or an address.
    static func target(of message: NDEFMessage) -> String? {
        guard case .uri(let uri) = LinkChoice(message) else { return nil }
        guard let host = uri.host else { return target(uri, limit: maximumNameLength) }
        return DisplayText.plain(host, limit: maximumNameLength, keeping: .tail)
    }
}

/// Makes text from tags and files safe to show.
public enum DisplayText {
    /// The part that remains of a text that is too long.
    public enum End: Sendable {
        case head
        /// The end. For a host, whose last labels identify its owner.
        case tail
        /// Both ends, with an ellipsis in the middle. For a number, which may differ at either end.
        case both
    }

    /// Returns text without control characters, line breaks, direction marks and other invisible characters, with at
    /// most two combining marks per letter. The limit counts Unicode scalars. An ellipsis replaces the removed part.
    public static func plain(_ text: String, limit: Int, keeping: End = .head) -> String {
        var scalars: [Unicode.Scalar] = []
        var marks = 0
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .spacingMark:
                marks += 1
                if marks <= 2, !scalar.isInvisible { scalars.append(scalar) }
            case .spaceSeparator:
                marks = 0
                scalars.append(" ")
            default:
                marks = 0
                scalars.append(scalar.isInvisible ? "\u{FFFD}" : scalar)
            }
            if keeping == .head, scalars.count > limit { break }
        }
        guard scalars.count > limit else { return string(scalars[...]) }
        let kept = max(limit - 1, 0)
        return switch keeping {
        case .head: string(scalars.prefix(kept)) + "…"
        case .tail: "…" + string(scalars.suffix(kept))
        case .both: string(scalars.prefix(kept - kept / 2)) + "…" + string(scalars.suffix(kept / 2))
        }
    }

    /// Returns text escaped for the markup of notifications (Desktop Notifications Specification 1.2).
    public static func escapingMarkup(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
}
