// SPDX-License-Identifier: Apache-2.0

/// One entry of an app's `com.apple.developer.associated-domains`, such as `applinks:*.example.org?mode=developer`.
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
    /// The domain in ASCII, without the wildcard. The association file of this domain is requested.
    public let domain: String
    /// Whether the entry is for the domain's subdomains, but not for the domain itself.
    public let isWildcard: Bool
    /// The mode; nil when the entry has none.
    public let mode: Mode?

    /// Reads an entry.
    ///
    /// - Returns: nil when the entry has no service, no domain or an unknown mode, when it has a port or a path, and
    ///   when the domain is an address or has no dot.
    public init?(_ entry: String) {
        guard let colon = entry.firstIndex(of: ":") else { return nil }
        service = entry[..<colon].lowercased()
        var name = entry[entry.index(after: colon)...]
        if let mark = name.firstIndex(of: "?") {
            guard name[mark...].hasPrefix("?mode="), let mode = Mode(rawValue: String(name[mark...].dropFirst(6)))
            else {
                return nil
            }
            self.mode = mode
            name = name[..<mark]
        } else {
            mode = nil
        }
        isWildcard = name.hasPrefix("*.")
        if isWildcard { name = name.dropFirst(2) }
        guard !service.isEmpty, !(isWildcard && service == "appclips"), let domain = try? HostName.domain(String(name))
        else {
            return nil
        }
        self.domain = domain
        self.entry = entry
    }

    /// Returns whether the entry is for a host.
    ///
    /// - Parameter host: the host's name, in any case.
    public func covers(_ host: String) -> Bool {
        let host = host.lowercased()
        return isWildcard ? host.hasSuffix(".\(domain)") && host.count > domain.count + 1 : host == domain
    }

    /// Returns the entry that applies to a host: the longest one that is for it (Apple archive, Support Universal
    /// Links).
    ///
    /// - Parameters:
    ///   - entries: an app's entries.
    ///   - service: the service, such as `applinks`.
    ///   - host: the host's name, in any case.
    /// - Returns: the entry; nil when none is for the host.
    public static func applying(
        _ entries: [String],
        service: String = "applinks",
        host: String
    ) -> AssociatedDomain? {
        var best: AssociatedDomain?
        for entry in entries.compactMap(AssociatedDomain.init) where entry.service == service && entry.covers(host) {
            // Without the wildcard: the host's own name is longer than any domain that it is in.
            if entry.domain.utf8.count > best?.domain.utf8.count ?? 0 { best = entry }
        }
        return best
    }
}
