// SPDX-License-Identifier: Apache-2.0
import UniversalLinks

/// What the person chose for the links of single domains: the browser in place of the app.
///
/// As on a phone, the browser opens the links of such a domain until the app is chosen again.
public struct LinkChoices: Sendable, Hashable {
    /// The largest file, in bytes.
    public static let maximumSize = 64 << 10
    /// The most domains.
    public static let maximumCount = 1000

    /// The domains whose links the browser opens, in lower case; `*.example.org` is for all hosts below `example.org`.
    public private(set) var browserDomains: Set<String> = []

    /// Creates choices: the app for every domain.
    public init() {}

    /// Whether the browser opens the links of a host.
    ///
    /// - Parameter host: the host, with its port or without.
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

    /// Chooses for a domain.
    ///
    /// - Parameters:
    ///   - domain: the domain; `*.` before it is for all hosts below it.
    ///   - isBrowser: the browser, or the app.
    /// - Returns: the domain as it counts; nil when it is none, or there are too many.
    public mutating func choose(_ domain: String, isBrowser: Bool) -> String? {
        guard let name = Self.domain(domain), !isBrowser || browserDomains.count < Self.maximumCount else { return nil }
        if isBrowser { browserDomains.insert(name) } else { browserDomains.remove(name) }
        return name
    }

    private static func domain(_ text: String) -> String? {
        let isWildcard = text.hasPrefix("*.")
        return HostName.ascii(isWildcard ? String(text.dropFirst(2)) : text).map { (isWildcard ? "*." : "") + $0 }
    }

    /// Reads a file: a domain a line, and `browser` behind it. Other lines do not count.
    public init(parsing octets: [UInt8]) {
        for line in String(decoding: octets.prefix(Self.maximumSize), as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, words[1] == "browser" { _ = choose(String(words[0]), isBrowser: true) }
        }
    }

    /// The file that ``init(parsing:)`` reads.
    public var file: [UInt8] {
        Array(browserDomains.sorted().map { "\($0) browser\n" }.joined().utf8)
    }
}
