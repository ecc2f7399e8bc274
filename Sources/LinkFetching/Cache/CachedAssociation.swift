// SPDX-License-Identifier: Apache-2.0

/// What is known of a domain's association file.
public struct CachedAssociation: Sendable, Hashable {
    /// How old a file gets before the site is asked again, in seconds: a week.
    public static let refreshInterval: Int64 = 7 * 24 * 3600
    /// After a failure, how long the site is left alone, in seconds: six hours.
    public static let retryInterval: Int64 = 6 * 3600

    /// The domain, in ASCII.
    public let domain: String
    /// The file as its site served it; nil when there was none yet, or the site has withdrawn it.
    public var file: [UInt8]?
    /// When the site last answered, with a file or without, in seconds since 1970; nil when it never did.
    public var answered: Int64?
    /// When the site was last asked, in seconds since 1970.
    public var asked: Int64
    /// Why the site gave no file when it was last asked; nil when it gave one.
    public var failure: String?

    /// Whether the site is to be asked again. A clock that was set back makes it so.
    ///
    /// - Parameter now: the seconds since 1970.
    public func isDue(at now: Int64) -> Bool {
        if now < asked { return true }
        if file != nil, let answered, now >= answered, now - answered < Self.refreshInterval { return false }
        return now - asked >= (failure == nil ? Self.refreshInterval : Self.retryInterval)
    }

    /// Takes the answer of the site. A file that was there stays when the site can't be reached or serves no valid one,
    /// and goes when the site says that there is none.
    mutating func take(_ result: Result<[UInt8], FetchError>, at now: Int64) {
        asked = now
        switch result {
        case .success(let octets):
            file = octets
            answered = now
            failure = nil
        case .failure(let error):
            failure = error.description
            if error.code == .missing {
                file = nil
                answered = now
            }
        }
    }

    // MARK: Its form on the disk: a line, then the file.

    private static let mark = "nfc-links 1"
    private static let none = "-"

    var octets: [UInt8] {
        let answered = answered.map(String.init) ?? Self.none
        let failure = (failure ?? "").map { $0.isNewline || $0 == "\r" ? " " : $0 }.prefix(500)
        let head = "\(Self.mark) \(asked) \(answered) \(file.map { "\($0.count)" } ?? Self.none) \(String(failure))\n"
        return Array(head.utf8) + (file ?? [])
    }

    init(domain: String, asked: Int64) {
        self.domain = domain
        self.asked = asked
    }

    package init?(domain: String, octets: [UInt8]) {
        guard let end = octets.prefix(4096).firstIndex(of: 0x0A) else { return nil }
        let head = String(decoding: octets[..<end], as: UTF8.self)
        let words = head.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false)
        guard words.count == 6, "\(words[0]) \(words[1])" == Self.mark, let asked = Int64(words[2]) else { return nil }
        self.init(domain: domain, asked: asked)
        answered = Int64(words[3])
        failure = words[5].isEmpty ? nil : String(words[5])
        let rest = Array(octets[(end + 1)...])
        if words[4] == Self.none {
            guard rest.isEmpty else { return nil }
        } else {
            guard Int(words[4]) == rest.count else { return nil }
            file = rest
        }
    }
}
