// SPDX-License-Identifier: Apache-2.0
public import UniversalLinks

/// Decides where links go, by the installed apps and the association files of their domains.
public struct LinkRouter: Sendable {
    /// The installed apps. Of two with one identifier the first counts.
    public var apps: [InstalledApp]
    /// The association files by their domain, in lower case.
    public var associations: [String: LinkMatcher]
    /// Whether an app's custom scheme opens it. Apple's documents say no; phones do it.
    public var allowsCustomSchemes: Bool
    /// The domains for which the person chose the browser.
    public var choices: LinkChoices
    /// Schemes that nothing on this system opens. A link of theirs is shown, and can't be opened; but a place on a map that is a
    /// page of the web too goes to the browser.
    public var unopenedSchemes: Set<LinkScheme>
    /// The schemes of web links, `http` and `https`, for which this system has no browser.
    public var schemesWithoutBrowser: Set<String>
    /// The name of the browser for `http` and `https`, as far as it is known.
    public var browserNames: [String: String]

    /// Creates a router.
    public init(
        apps: [InstalledApp] = [],
        associations: [String: LinkMatcher] = [:],
        allowsCustomSchemes: Bool = false,
        choices: LinkChoices = LinkChoices(),
        unopenedSchemes: Set<LinkScheme> = [],
        schemesWithoutBrowser: Set<String> = [],
        browserNames: [String: String] = [:]
    ) {
        self.apps = apps
        self.associations = associations
        self.allowsCustomSchemes = allowsCustomSchemes
        self.choices = choices
        self.unopenedSchemes = unopenedSchemes
        self.schemesWithoutBrowser = schemesWithoutBrowser
        self.browserNames = browserNames
    }

    /// Says where a link goes.
    public func route(_ uri: TagURI) -> LinkRoute {
        if let host = uri.host {
            guard !choices.opensBrowser(for: host) else {
                return .browser(why: "The browser was chosen for \(host); nfc apps choose changes it.")
            }
            if LinkScheme(uri) == .map { return mapRoute(uri) }
            let answer = universalLink(uri)
            guard let id = answer.app, let app = apps.first(where: { $0.id == id }) else {
                return .browser(why: answer.why)
            }
            return .app(app, why: answer.why)
        }
        if let scheme = LinkScheme(uri) { return .system(scheme) }
        guard allowsCustomSchemes else { return .refused(.customScheme) }
        guard LinkScheme.isCustom(uri.scheme), let app = apps.first(where: { $0.schemes.contains(uri.scheme) }) else {
            return .refused(.noApp)
        }
        return .customScheme(app)
    }

    /// Where the page of a map goes: to the app for maps, as a place, where there is both.
    private func mapRoute(_ uri: TagURI) -> LinkRoute {
        guard MapPlace(uri.text) != nil else {
            return .browser(why: "The link names no place that an app for maps can show.")
        }
        guard !unopenedSchemes.contains(.map) else {
            return .browser(why: "No app on this system opens geo: links, so the map opens as a page.")
        }
        return .system(.map)
    }

    /// The scheme that nothing on this system opens although a link goes there.
    ///
    /// - Parameters:
    ///   - uri: the link.
    ///   - route: where it goes.
    /// - Returns: nil where something opens it, or the link goes nowhere.
    public func unopenedScheme(of uri: TagURI, route: LinkRoute) -> String? {
        switch route {
        case .system(let scheme): unopenedSchemes.contains(scheme) ? uri.scheme : nil
        case .browser: schemesWithoutBrowser.contains(uri.scheme) ? uri.scheme : nil
        case .app, .customScheme, .refused: nil
        }
    }

    /// Says which installed app opens a link, and why.
    ///
    /// Each app has the association file of the entry that applies to the host by its length; files of longer entries
    /// are asked first.
    public func universalLink(_ uri: TagURI) -> LinkAnswer {
        let url: LinkURL
        do throws(LinkURL.Problem) {
            url = try LinkURL(uri.text)
        } catch {
            return LinkAnswer(app: nil, rule: nil, why: error.description)
        }
        var files: [String: (length: Int, apps: Set<String>)] = [:]
        for app in apps {
            guard let entry = app.entry(for: url.host) else { continue }
            let length = entry.domain.utf8.count + (entry.isWildcard ? 2 : 0)
            let known = files[entry.domain]
            files[entry.domain] = (max(length, known?.length ?? 0), (known?.apps ?? []).union([app.id]))
        }
        var refusal: LinkAnswer?
        // One limit for all files.
        var work = MatchWork()
        let order = files.sorted { ($1.value.length, $0.key) < ($0.value.length, $1.key) }
        for (domain, candidates) in order {
            guard let matcher = associations[domain] else {
                let why = "The association file of \(domain) is not there; nfc links fetch gets it."
                refusal = refusal ?? LinkAnswer(app: nil, rule: nil, why: why)
                continue
            }
            let answer = matcher.answer(url, installed: candidates.apps, &work)
            if answer.app != nil { return answer }
            refusal = refusal ?? answer
        }
        let why = "No installed app has an associated domain for \(url.host)."
        return refusal ?? LinkAnswer(app: nil, rule: nil, why: why)
    }
}

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
