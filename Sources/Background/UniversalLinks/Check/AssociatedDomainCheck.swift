// SPDX-License-Identifier: Apache-2.0

/// Finds problems in an app's associated domains (DOM001 to DOM010).
public struct AssociatedDomainCheck: Sendable {
    private let entries: [String]
    private let host: String?
    private let isRelease: Bool

    private static let services: Set<String> = ["applinks", "webcredentials", "activitycontinuation", "appclips"]
    private static let modes: Set<String> = ["developer", "managed", "developer+managed"]
    private static let maximumCount = 30

    /// - Parameters:
    ///   - entries: the app's entries in `com.apple.developer.associated-domains`.
    ///   - url: the link of a tag that must open the app; nil for none.
    ///   - isRelease: whether the app is built for release.
    public init(entries: [String], url: LinkURL? = nil, isRelease: Bool = false) {
        self.entries = entries
        host = url?.host
        self.isRelease = isRelease
    }

    /// The problems found, in the order of the entries.
    public var findings: [LinkFinding] {
        guard !entries.isEmpty else {
            return [LinkFinding("DOM001", .error, "The app has no associated domains, so no tag opens it.")]
        }
        var result = entries.flatMap(check)
        if !entries.contains(where: { $0.lowercased().hasPrefix("applinks:") }) {
            result.append(LinkFinding("DOM002", .error, "No associated domain is of the service applinks."))
        }
        let read = entries.compactMap(AssociatedDomain.init)
        for entry in read where entry.isWildcard && entry.service == "applinks" {
            guard !read.contains(where: { $0.service == "applinks" && !$0.isWildcard && $0.domain == entry.domain })
            else { continue }
            result.append(
                LinkFinding(
                    "DOM006",
                    .information,
                    "\"\(entry.entry)\" is not for \(entry.domain) itself. Add it if it is meant."
                )
            )
        }
        if entries.count > Self.maximumCount {
            result.append(
                LinkFinding("DOM009", .warning, "There are \(entries.count) entries; 30 are the most to have.")
            )
        }
        var seen: Set<String> = []
        for entry in entries where !seen.insert(entry.lowercased()).inserted {
            result.append(LinkFinding("DOM009", .warning, "\"\(entry)\" is there twice."))
        }
        if let host, AssociatedDomain.applying(entries, host: host) == nil {
            result.append(LinkFinding("DOM010", .error, "No applinks entry is for \(host), the host of the link."))
        }
        return result
    }

    /// Returns why a name is not a valid domain; nil for a valid one.
    private static func fault(of name: Substring) -> String? {
        do throws(HostName.DomainProblem) {
            _ = try HostName.domain(String(name))
            return nil
        } catch {
            let hasMore = error == .notAName && name.contains { "/:@".contains($0) || $0.isWhitespace }
            return hasMore
                ? "has more than a domain: no scheme, path, port, user or space may be there."
                : "has \"\(name)\", which \(error.description)"
        }
    }

    private func check(_ entry: String) -> [LinkFinding] {
        func finding(_ id: String, _ text: String, _ severity: LinkFinding.Severity = .error) -> LinkFinding {
            LinkFinding(id, severity, "\"\(entry)\" \(text)")
        }
        guard let colon = entry.firstIndex(of: ":"), !entry.contains("://") || entry.lowercased().hasPrefix("applinks:")
        else {
            return [finding("DOM003", "has no service. Write applinks: before the domain.")]
        }
        var result: [LinkFinding] = []
        let service = entry[..<colon].lowercased()
        if !Self.services.contains(service) {
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
            if let fault = Self.fault(of: name) { result.append(finding("DOM004", fault)) }
        }
        guard rest.count > domain.count else { return result }
        let mode = rest.dropFirst(domain.count + 1)
        if !mode.hasPrefix("mode=") || !Self.modes.contains(String(mode.dropFirst(5))) {
            result.append(finding("DOM008", "has another mode than developer, managed or developer+managed."))
        } else if isRelease, mode.contains("developer") {
            result.append(finding("DOM007", "is in developer mode, which users' devices do not follow.", .warning))
        }
        return result
    }
}
