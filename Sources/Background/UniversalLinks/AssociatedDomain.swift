// SPDX-License-Identifier: Apache-2.0

/// An entry of an app's `com.apple.developer.associated-domains`, such as `applinks:*.example.org?mode=developer`.
public struct AssociatedDomain: Sendable, Hashable {
    /// The source from which the association file is loaded.
    public enum Mode: String, Sendable, Hashable {
        /// From the site, for apps in development.
        case developer
        /// From the site, on managed devices.
        case managed
        /// From the site, on managed devices and for apps in development.
        case developerAndManaged = "developer+managed"
    }

    /// The entry as written in the app.
    public let entry: String
    /// The service, such as `applinks`.
    public let service: String
    /// The domain in ASCII, without the wildcard. The association file is requested from this domain.
    public let domain: String
    /// Whether the entry covers the domain's subdomains, but not the domain itself.
    public let isWildcard: Bool
    /// Where the association file is loaded from; nil for Apple's network.
    public let mode: Mode?

    /// Parses an entry. Nil when the service or domain is missing, the mode is unknown, there is a port or path, or the
    /// domain is an address or has no dot.
    public init?(_ entry: String) {
        guard let colon = entry.firstIndex(of: ":") else { return nil }
        service = entry[..<colon].lowercased()
        var name = entry[entry.index(after: colon)...]
        if let mark = name.firstIndex(of: "?") {
            guard name[mark...].hasPrefix("?mode="), let mode = Mode(rawValue: String(name[mark...].dropFirst(6)))
            else { return nil }
            self.mode = mode
            name = name[..<mark]
        } else {
            mode = nil
        }
        isWildcard = name.hasPrefix("*.")
        if isWildcard { name = name.dropFirst(2) }
        guard !service.isEmpty, !(isWildcard && service == "appclips"), let domain = try? HostName.domain(String(name))
        else { return nil }
        self.domain = domain
        self.entry = entry
    }

    /// Returns whether the entry covers a host, ignoring case.
    public func covers(_ host: String) -> Bool {
        let host = host.lowercased()
        return isWildcard ? host.hasSuffix(".\(domain)") && host.count > domain.count + 1 : host == domain
    }

    /// Returns the longest entry that covers a host, ignoring case (Apple archive, Support Universal Links).
    public static func applying(
        _ entries: [String],
        service: String = "applinks",
        host: String
    ) -> AssociatedDomain? {
        var best: AssociatedDomain?
        for entry in entries.compactMap(AssociatedDomain.init) where entry.service == service && entry.covers(host) {
            // Compared without the wildcard, because the host's own name is longer than any domain above it.
            if entry.domain.utf8.count > best?.domain.utf8.count ?? 0 { best = entry }
        }
        return best
    }
}

extension AssociatedDomain {
    private static let services: Set<String> = ["applinks", "webcredentials", "activitycontinuation", "appclips"]
    private static let modes: Set<String> = ["developer", "managed", "developer+managed"]
    private static let maximumCount = 30

    /// Finds problems in an app's associated domains (DOM001 to DOM010), in the order of the entries.
    ///
    /// - Parameters:
    ///   - entries: the entries as written in the app.
    ///   - url: the link of a tag that must open the app; nil without such a link.
    ///   - isRelease: whether the app is built for release.
    public static func check(_ entries: [String], url: LinkURL? = nil, isRelease: Bool = false) -> [LinkFinding] {
        guard !entries.isEmpty else {
            return [LinkFinding("DOM001", .error, "The app has no associated domains, so no tag opens it.")]
        }
        var result = entries.flatMap { check($0, isRelease) }
        if !entries.contains(where: { $0.lowercased().hasPrefix("applinks:") }) {
            result.append(LinkFinding("DOM002", .error, "No associated domain has the service applinks."))
        }
        let domains = entries.compactMap(AssociatedDomain.init)
        for entry in domains where entry.isWildcard && entry.service == "applinks" {
            guard !domains.contains(where: { $0.service == "applinks" && !$0.isWildcard && $0.domain == entry.domain })
            else { continue }
            let step = "Add an entry for it if the app should open its links."
            let text = "\"\(entry.entry)\" does not cover \(entry.domain) itself. \(step)"
            result.append(LinkFinding("DOM006", .information, text))
        }
        if entries.count > maximumCount {
            result.append(
                LinkFinding("DOM009", .warning, "There are \(entries.count) entries; the maximum is 30.")
            )
        }
        var seen: Set<String> = []
        for entry in entries where !seen.insert(entry.lowercased()).inserted {
            result.append(LinkFinding("DOM009", .warning, "\"\(entry)\" occurs twice."))
        }
        if let url, applying(entries, host: url.host) == nil {
            result.append(LinkFinding("DOM010", .error, "No applinks entry matches the link's host, \(url.host)."))
        }
        return result
    }

    private static func fault(of name: Substring) -> String? {
        do throws(HostName.DomainProblem) {
            _ = try HostName.domain(String(name))
            return nil
        } catch {
            let hasMore = error == .notAName && name.contains { "/:@".contains($0) || $0.isWhitespace }
            return hasMore
                ? "has more than a domain. A scheme, path, port, user or space is not allowed."
                : "has \"\(name)\", which \(error.description)"
        }
    }

    private static func check(_ entry: String, _ isRelease: Bool) -> [LinkFinding] {
        func finding(_ id: String, _ text: String, _ severity: LinkFinding.Severity = .error) -> LinkFinding {
            LinkFinding(id, severity, "\"\(entry)\" \(text)")
        }
        guard let colon = entry.firstIndex(of: ":"), !entry.contains("://") || entry.lowercased().hasPrefix("applinks:")
        else { return [finding("DOM003", "has no service. Write applinks: before the domain.")] }
        var result: [LinkFinding] = []
        let service = entry[..<colon].lowercased()
        if !services.contains(service) {
            result.append(finding("DOM003", "has the unknown service \"\(service)\"."))
        }
        let rest = entry[entry.index(after: colon)...]
        let domain = rest.prefix { $0 != "?" }
        let name = domain.hasPrefix("*.") ? domain.dropFirst(2) : domain
        if domain.isEmpty {
            result.append(finding("DOM004", "has no domain. Write a name such as example.org."))
        } else if name.contains("*") {
            result.append(finding("DOM005", "has a wildcard that is not \"*.\" at its beginning."))
        } else {
            if domain != name, service == "appclips" {
                result.append(finding("DOM005", "has a wildcard, which appclips can't have."))
            }
            if let fault = fault(of: name) { result.append(finding("DOM004", fault)) }
        }
        guard rest.count > domain.count else { return result }
        let mode = rest.dropFirst(domain.count + 1)
        if !mode.hasPrefix("mode=") || !modes.contains(String(mode.dropFirst(5))) {
            result.append(finding("DOM008", "has a mode other than developer, managed or developer+managed."))
        } else if isRelease, mode.contains("developer") {
            result.append(finding("DOM007", "is in developer mode, which users' devices do not follow.", .warning))
        }
        return result
    }
}
