// SPDX-License-Identifier: Apache-2.0
import NDEF

/// The app or program to open, after the user chose to open a link.
public enum Delivery: Sendable, Hashable {
    case app(InstalledApp, UserActivityPayload)
    case browser(String)
    case system(LinkScheme, String)
    case customScheme(InstalledApp, String)

    /// Determines what to open for the bytes of a message; nil when nothing can be opened.
    public init?(message: [UInt8], router: LinkRouter) {
        guard let content = try? NDEFMessage(decoding: message), case .uri(let uri) = LinkChoice(content) else {
            return nil
        }
        switch router.route(uri) {
        case .app(let app, _):
            let payload = try? UserActivityPayload(
                activityType: UserActivityPayload.browsingWeb,
                webpageURL: uri.text,
                message: message
            )
            guard let payload else { return nil }
            self = .app(app, payload)
        case .browser: self = .browser(uri.text)
        case .system(let scheme):
            guard let link = SystemLink(uri) else { return nil }
            self = .system(scheme, link.uri)
        case .customScheme(let app): self = .customScheme(app, uri.text)
        case .refused: return nil
        }
    }
}

/// The data that an app receives for its `NSUserActivity`, in the form that processes exchange.
public struct UserActivityPayload: Sendable, Hashable {
    /// The activity type of a link, with the value that Foundation uses on Apple's platforms.
    public static let browsingWeb = "NSUserActivityTypeBrowsingWeb"
    /// The maximum size of a message in bytes.
    public static let maximumMessageSize = 1 << 16

    /// The activity type.
    public let activityType: String
    /// The link.
    public let webpageURL: String
    /// The bytes of the tag's whole message, as read. For a link that is not from a tag: one empty record.
    public let message: [UInt8]

    /// Creates a payload and checks its values. The link must be the link in the message. Throws ``AppError``.
    public init(activityType: String, webpageURL: String, message: [UInt8]) throws(AppError) {
        guard activityType == Self.browsingWeb else {
            throw AppError("The activity's type is not \(Self.browsingWeb).")
        }
        guard message.count <= Self.maximumMessageSize else {
            throw AppError("The message is larger than \(Self.maximumMessageSize) bytes.")
        }
        guard let content = try? NDEFMessage(decoding: message) else {
            throw AppError("The data is not an NDEF message.")
        }
        guard case .uri(let uri) = LinkChoice(content), uri.host != nil, uri.text == webpageURL else {
            throw AppError("The link differs from the link in the message.")
        }
        self.activityType = activityType
        self.webpageURL = webpageURL
        self.message = message
    }

    /// Creates the payload of a web link that is not from a tag. Throws ``AppError``.
    public init(webpageURL: String) throws(AppError) {
        guard let uri = TagURI(webpageURL), uri.host != nil else {
            throw AppError("The link is not an http or https URL.")
        }
        activityType = Self.browsingWeb
        self.webpageURL = uri.text
        message = [0xD0, 0x00, 0x00]
    }
}

/// The D-Bus interface through which an app receives the links of tags.
///
/// The app owns the bus name of its desktop entry, as `org.freedesktop.Application` requires, and exports the object
/// for that name. `ContinueUserActivity(s activity_type, s webpage_url, ay ndef_message, a{sv} platform_data) → (b
/// handled)` passes a link and the bytes of the whole message. `platform_data` may contain `activation-token` (s) and
/// `desktop-startup-id` (s), as in the Desktop Entry Specification. If the app lacks the interface,
/// `org.freedesktop.Application.Open` is called with only the link. An app receives links that are not from tags through
/// this method too.
public enum DeliveryInterface {
    /// The name of the interface.
    public static let name = "org.opencorenfc.UserActivity1"
    /// The name of the method.
    public static let method = "ContinueUserActivity"
    /// The signature of the method's arguments.
    public static let argumentSignature = "ssaya{sv}"
    /// The interface and the method for an app without this interface.
    public static let fallback = (interface: "org.freedesktop.Application", method: "Open")
    /// The signature of the arguments of ``fallback``.
    public static let fallbackSignature = "asa{sv}"

    /// Returns the object path for an app's desktop entry (Desktop Entry Specification 1.5, D-Bus Activation). Nil when
    /// the desktop ID can't be a bus name, because it has fewer than two elements or an element starts with a digit.
    public static func objectPath(of desktopID: String) -> String? {
        let elements = desktopID.split(separator: ".", omittingEmptySubsequences: false)
        guard elements.count >= 2, DesktopEntry.isName(desktopID),
            !elements.contains(where: { $0.first?.isNumber ?? true })
        else { return nil }
        return "/" + desktopID.replacing(".", with: "/").replacing("-", with: "_")
    }
}
