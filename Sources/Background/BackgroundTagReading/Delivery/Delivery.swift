// SPDX-License-Identifier: Apache-2.0
import NDEF

/// What to open, after the user chose to open a link.
public enum Delivery: Sendable, Hashable {
    /// An app, which gets the link and the whole message.
    case app(InstalledApp, UserActivityPayload)
    /// The browser, with the URL.
    case browser(String)
    /// The system's handler for the scheme, which gets the URI.
    case system(LinkScheme, String)
    /// An app, which gets a URI of its custom scheme.
    case customScheme(InstalledApp, String)

    /// Determines what to open for a message.
    ///
    /// - Parameters:
    ///   - message: the bytes of the message.
    ///   - router: decides where its link goes.
    /// - Returns: nil when there is nothing to open.
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
