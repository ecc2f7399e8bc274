// SPDX-License-Identifier: Apache-2.0

/// Where a link goes.
public enum LinkRoute: Sendable, Hashable {
    /// To an app, with the whole message: a universal link.
    case app(InstalledApp, why: String)
    /// To the browser, with the URL alone.
    case browser(why: String)
    /// To what the system has for the scheme, with the URI alone.
    case system(LinkScheme)
    /// To an app that has the scheme as its own, with the URI alone. Only where custom schemes are allowed.
    case customScheme(InstalledApp)
    /// Nowhere.
    case refused(Refusal)

    /// Why a link goes nowhere.
    public enum Refusal: String, Sendable, Hashable {
        /// Background tag reading does not support custom schemes.
        case customScheme = "custom-scheme"
        /// Custom schemes are allowed, and no installed app has this one, or it can't be an app's.
        case noApp = "no-app"

        /// The reason, as a sentence for people.
        public var reason: String {
            switch self {
            case .customScheme: "Custom schemes are not read in the background. Use a universal link."
            case .noApp: "No installed app has this scheme as its own."
            }
        }
    }
}
