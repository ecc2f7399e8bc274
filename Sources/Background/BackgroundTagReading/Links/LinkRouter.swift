// SPDX-License-Identifier: Apache-2.0
public import NDEF
public import UniversalLinks

/// Decides where links go, based on the installed apps and the association files of their domains.
public struct LinkRouter: Sendable {
    /// The installed apps. If two have the same identifier, the first one is used.
    public var apps: [InstalledApp]
    /// The association files by domain, in lower case.
    public var associations: [String: LinkMatcher]
    /// Whether custom schemes open their apps. Apple's documents say that they don't; phones do it.
    public var allowsCustomSchemes: Bool
    /// The domains for which the user chose the browser.
    public var choices: LinkChoices
    /// Schemes that no app on this system opens. Their links are shown but can't be opened, except that a map link that
    /// is also a web page opens in the browser.
    public var unopenedSchemes: Set<LinkScheme>
    /// The schemes of web links, `http` and `https`, for which this system has no browser.
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

    /// Returns where a link goes.
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

    private func mapRoute(_ uri: TagURI) -> LinkRoute {
        guard MapLocation(uri.text) != nil else {
            return .browser(why: "The link names no place that an app for maps can show.")
        }
        guard !unopenedSchemes.contains(.map) else {
            return .browser(why: "No app on this system opens geo: links, so the map opens as a page.")
        }
        return .system(.map)
    }

    /// Returns the scheme of a link that no app on this system opens, although the link goes somewhere.
    ///
    /// - Parameters:
    ///   - uri: the link.
    ///   - route: where the link goes.
    /// - Returns: nil when an app opens it, or the link goes nowhere.
    public func unopenedScheme(of uri: TagURI, route: LinkRoute) -> String? {
        switch route {
        case .system(let scheme): unopenedSchemes.contains(scheme) ? uri.scheme : nil
        case .browser: schemesWithoutBrowser.contains(uri.scheme) ? uri.scheme : nil
        case .app, .customScheme, .refused: nil
        }
    }

    /// Returns which installed app opens a link, and why. For each app, the association file is that of its longest
    /// entry for the host. Files of longer entries are evaluated first.
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
        // All files share one limit.
        var work = MatchWork()
        // Of the domains that a host is in, no two have the same length.
        let order = files.sorted { $0.key.utf8.count > $1.key.utf8.count }
        for (domain, candidates) in order {
            guard let matcher = associations[domain] else {
                let why = "The association file of \(domain) is not there; nfc links fetch gets it."
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

/// Where a link goes.
public enum LinkRoute: Sendable, Hashable {
    /// An app, which gets the whole message: a universal link.
    case app(InstalledApp, why: String)
    case browser(why: String)
    /// The system's handler for the scheme, which gets only the URI.
    case system(LinkScheme)
    /// An app with a custom scheme, which gets only the URI. Only if custom schemes are allowed.
    case customScheme(InstalledApp)
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

/// The part of a message that background reading uses: its first well-known URI record, at any position.
///
/// URIs in smart posters, absolute URI records and other records are ignored.
public enum LinkChoice: Sendable, Hashable {
    case none
    /// The first URI record can't be read.
    case unusable
    case uri(TagURI)

    /// Finds the link of a message.
    public init(_ message: NDEFMessage) {
        guard let record = message.records.first(where: { $0.kind == .uri }) else {
            self = .none
            return
        }
        // A reserved code is a sign of a payload without a code byte: "https" would then start with code 68 and
        // continue "ttps".
        guard let content = try? URIRecord(record), !content.hasReservedPrefix, let uri = TagURI(content.uri) else {
            self = .unusable
            return
        }
        // A link with a system scheme but without a target opens nothing.
        guard LinkScheme(uri) == nil || SystemLink(uri) != nil else {
            self = .unusable
            return
        }
        self = .uri(uri)
    }
}

/// The user's choice, for each domain, to open links in the browser instead of the app.
///
/// As on a phone, the browser opens the links of such a domain until the user chooses the app again.
public struct LinkChoices: Sendable, Hashable {
    /// The most domains.
    public static let maximumCount = 1000
    /// The largest file, in bytes: of as many of the longest domains.
    public static let maximumSize = maximumCount * ("*.".utf8.count + HostName.maximumLength + " browser\n".utf8.count)

    /// The domains whose links the browser opens, in lower case. `*.example.org` applies to all hosts below
    /// `example.org`.
    public private(set) var browserDomains: Set<String> = []

    /// Creates choices without any domain, so apps open all links.
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

    /// Sets the choice for a domain; with `*.` before it, it means all hosts below it. Returns the domain in its normal
    /// form, or nil when it is not valid, or there are too many.
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
