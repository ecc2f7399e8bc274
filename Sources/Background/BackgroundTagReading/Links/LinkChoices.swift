// SPDX-License-Identifier: Apache-2.0
import UniversalLinks

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
