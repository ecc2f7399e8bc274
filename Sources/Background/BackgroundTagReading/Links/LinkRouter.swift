// SPDX-License-Identifier: Apache-2.0
public import NDEF
public import UniversalLinks

/// Decides what opens a link, based on the installed apps and the association files of their domains.
public struct LinkRouter: Sendable {
    /// The installed apps. If two apps have the same identifier, the first is used.
    public var apps: [InstalledApp]
    /// The association files by domain, in lower case.
    public var associations: [String: LinkMatcher]
    /// Whether custom schemes open their apps. Apple's documentation says no, but phones do open them.
    public var allowsCustomSchemes: Bool
    /// The domains for which the user chose the browser.
    public var choices: LinkChoices
    /// Schemes that no app on this system opens. Their links are shown but can't be opened. As an exception, a map link
    /// that is also a web page opens in the browser.
    public var unopenedSchemes: Set<LinkScheme>
    /// The web schemes, `http` or `https`, for which this system has no browser.
    public var schemesWithoutBrowser: Set<String>
    /// The name of the browser for `http` and `https`, if known.
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

    /// Returns what opens a link.
    public func route(_ uri: TagURI) -> LinkRoute {
        if let host = uri.host {
            guard !choices.opensBrowser(for: host) else {
                return .browser(why: "The browser was chosen for \(host). To change this: nfc apps choose.")
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

    private func mapRoute(_ uri: TagURI) -> LinkRoute {
        guard MapLocation(uri.text) != nil else {
            return .browser(why: "The link contains no location that a maps app can show.")
        }
        guard !unopenedSchemes.contains(.map) else {
            return .browser(why: "No app on this system opens geo: links, so the map opens as a web page.")
        }
        return .system(.map)
    }

    /// Returns the scheme of a link that should open, although no app on this system opens that scheme.
    ///
    /// - Parameters:
    ///   - uri: the link.
    ///   - route: the result of ``route(_:)``.
    /// - Returns: nil when an app opens the link, or the link is refused.
    public func unopenedScheme(of uri: TagURI, route: LinkRoute) -> String? {
        switch route {
        case .system(let scheme): unopenedSchemes.contains(scheme) ? uri.scheme : nil
        case .browser: schemesWithoutBrowser.contains(uri.scheme) ? uri.scheme : nil
        case .app, .customScheme, .refused: nil
        }
    }

    /// Returns which installed app opens a link, and why. For each app, the association file of its longest entry for
    /// the host is used. Files of longer entries are evaluated first.
    public func universalLink(_ uri: TagURI) -> LinkAnswer {
        let url: LinkURL
        do throws(LinkURL.Problem) {
            url = try LinkURL(uri.text)
        } catch {
            return LinkAnswer(why: error.description)
        }
        var files: [String: Set<String>] = [:]
        var seen: Set<String> = []
        for app in apps where seen.insert(app.id).inserted {
            guard let entry = app.entry(for: url.host) else { continue }
            files[entry.domain, default: []].insert(app.id)
        }
        var refusal: LinkAnswer?
        // All files share one limit for the work of matching.
        var work = MatchWork()
        // No two of these domains have the same length, because the host belongs to all of them.
        let order = files.sorted { $0.key.utf8.count > $1.key.utf8.count }
        for (domain, candidates) in order {
            guard let matcher = associations[domain] else {
                let why = "The association file of \(domain) is missing; get it with nfc links fetch."
                refusal = refusal ?? LinkAnswer(why: why)
                continue
            }
            let answer = matcher.answer(url, installed: candidates, &work)
            if answer.app != nil { return answer }
            refusal = refusal ?? answer
        }
        let why = "No installed app has an associated domain for \(url.host)."
        return refusal ?? LinkAnswer(why: why)
    }
}

/// What opens a link.
public enum LinkRoute: Sendable, Hashable {
    /// An app that receives the whole message: a universal link.
    case app(InstalledApp, why: String)
    case browser(why: String)
    /// The system's handler for the scheme. It receives only the URI.
    case system(LinkScheme)
    /// An app with a custom scheme. It receives only the URI. Only possible if custom schemes are allowed.
    case customScheme(InstalledApp)
    case refused(Refusal)

    /// The reason why nothing opens a link.
    public enum Refusal: String, Sendable, Hashable {
        /// Background tag reading does not support custom schemes.
        case customScheme = "custom-scheme"
        /// Custom schemes are allowed, but no installed app has this scheme, or no app may claim it.
        case noApp = "no-app"

        /// A sentence that explains the refusal.
        public var reason: String {
            switch self {
            case .customScheme: "Background reading ignores custom schemes. Use a universal link."
            case .noApp: "No installed app handles this scheme."
            }
        }
    }
}

/// The link in a message that background reading uses: the first well-known URI record, at any position.
///
/// URIs in smart posters, absolute URI records and other records are ignored.
public enum LinkChoice: Sendable, Hashable {
    case none
    /// The first URI record is invalid.
    case unusable
    case uri(TagURI)

    /// Finds the link of a message.
    public init(_ message: NDEFMessage) {
        guard let record = message.records.first(where: { $0.kind == .uri }) else {
            self = .none
            return
        }
        // A reserved code indicates that the code byte is missing: a payload "https" would start with code 68 and
        // continue with "ttps".
        guard let content = try? URIRecord(record), !content.hasReservedPrefix, let uri = TagURI(content.uri) else {
            self = .unusable
            return
        }
        // A link with a system scheme but without a target can't open anything.
        guard LinkScheme(uri) == nil || SystemLink(uri) != nil else {
            self = .unusable
            return
        }
        self = .uri(uri)
    }
}

/// The domains for which the user chose to open links in the browser instead of the app.
///
/// As on a phone, this choice applies until the user chooses the app again.
public struct LinkChoices: Sendable, Hashable {
    /// The maximum number of domains.
    public static let maximumCount = 1000
    /// The maximum size of a file in bytes: that of the maximum number of domains, each as long as possible.
    public static let maximumSize = maximumCount * ("*.".utf8.count + HostName.maximumLength + " browser\n".utf8.count)

    /// The domains whose links the browser opens, in lower case. `*.example.org` applies to all hosts below
    /// `example.org`.
    public private(set) var browserDomains: Set<String> = []

    /// Creates choices without domains, so apps open all links.
    public init() {}

    /// Returns whether the browser opens the links of a host, with or without port.
    public func opensBrowser(for host: String) -> Bool {
        guard !browserDomains.isEmpty else { return false }
        var name = host[...]
        if !name.hasPrefix("["), let colon = name.lastIndex(of: ":") { name = name[..<colon] }
        if browserDomains.contains(String(name)) { return true }
        while let period = name.firstIndex(of: ".") {
            name = name[name.index(after: period)...]
            if browserDomains.contains("*.\(name)") { return true }
        }
        return false
    }

    /// Sets the choice for a domain, or with the prefix `*.` for all hosts below it. Returns the domain in its normal
    /// form; nil when it is invalid, or there are too many.
    public mutating func choose(_ domain: String, isBrowser: Bool) -> String? {
        guard let name = Self.domain(domain) else { return nil }
        guard isBrowser else {
            browserDomains.remove(name)
            return name
        }
        guard browserDomains.contains(name) || browserDomains.count < Self.maximumCount else { return nil }
        browserDomains.insert(name)
        return name
    }

    private static func domain(_ text: String) -> String? {
        let isWildcard = text.hasPrefix("*.")
        return HostName.ascii(isWildcard ? String(text.dropFirst(2)) : text).map { (isWildcard ? "*." : "") + $0 }
    }

    /// Reads a file. Each line has a domain, followed by `browser`. Other lines are ignored.
    public init(parsing bytes: [UInt8]) {
        for line in String(decoding: bytes.prefix(Self.maximumSize), as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, words[1] == "browser" { _ = choose(String(words[0]), isBrowser: true) }
        }
    }

    /// The choices in the format that ``init(parsing:)`` reads.
    public var file: [UInt8] {
        Array(browserDomains.sorted().map { "\($0) browser\n" }.joined().utf8)
    }
}
