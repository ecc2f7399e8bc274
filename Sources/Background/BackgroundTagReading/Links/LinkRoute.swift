// SPDX-License-Identifier: Apache-2.0

/// Where a link goes.
public enum LinkRoute: Sendable, Hashable {
    /// An app, which gets the whole message: a universal link.
    case app(InstalledApp, why: String)
    /// The browser, which gets only the URL.
    case browser(why: String)
    /// The system's handler for the scheme, which gets only the URI.
    case system(LinkScheme)
    /// An app with a custom scheme, which gets only the URI. Only if custom schemes are allowed.
    case customScheme(InstalledApp)
    /// Nowhere.
    case refused(Refusal)

    /// Why a link goes nowhere.
    public enum Refusal: String, Sendable, Hashable {
        /// Background tag reading does not support custom schemes.
        case customScheme = "custom-scheme"
        /// Custom schemes are allowed, but no installed app has this one, or it can't be an app's own.
        case noApp = "no-app"

        /// A sentence that explains the refusal.
        public var reason: String {
            switch self {
            case .customScheme: "Custom schemes are not read in the background. Use a universal link."
            case .noApp: "No installed app has this scheme as its own."
            }
        }
    }
}
