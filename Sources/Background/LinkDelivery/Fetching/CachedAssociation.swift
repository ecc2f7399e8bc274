// SPDX-License-Identifier: Apache-2.0

/// A domain's association file in the cache, with the time and the result of the last fetch.
package struct CachedAssociation: Sendable, Hashable {
    /// How long to use a file before the site is asked again, in seconds: a week.
    package static let refreshInterval: Int64 = 7 * 24 * 3600
    /// How long to wait after a site's first failure, in seconds: a minute. Each further failure doubles the time.
    package static let firstRetryInterval: Int64 = 60
    /// The longest wait after a failure, in seconds: six hours.
    package static let longestRetryInterval: Int64 = 6 * 3600

    package let domain: String
    package var file: [UInt8]?
    /// When the site last answered, with or without a file, in seconds since 1970; nil if it has never answered.
    package var answered: Int64?
    /// When the site was last asked, in seconds since 1970.
    package var asked: Int64
    package var failure: String?
    /// The code and the reason of the failure, as shown on the command line; nil without a failure.
    package var failureParts: (code: String, reason: String)? {
        guard let failure else { return nil }
        let parts = failure.split(separator: ":", maxSplits: 1).map(String.init)
        return (parts.first ?? "", parts.count > 1 ? String(parts[1].drop { $0 == " " }) : failure)
    }
    /// How many times in a row the site has failed; 0 after a success.
    package private(set) var failureCount = 0
    /// Whether the file was added on this machine, in developer mode. Such a file replaces the site's file, and the
    /// site is not asked.
    package let isLocal: Bool

    private var interval: Int64 {
        guard failureCount > 0 else { return Self.refreshInterval }
        // Twelve doublings exceed six hours.
        return min(Self.firstRetryInterval << Int64(min(failureCount, 12) - 1), Self.longestRetryInterval)
    }

    /// Returns when to ask the site again, in seconds since 1970; nil for a local file, whose site is never asked. If
    /// the clock was set back, the site is asked now.
    package func nextTry(at now: Int64) -> Int64? {
        guard !isLocal else { return nil }
        return now < asked ? now : asked + interval
    }

    package func isDue(at now: Int64) -> Bool { nextTry(at: now).map { $0 <= now } ?? false }

    /// Stores the result of a request. If the site can't be reached or its file is invalid, the stored file is kept. If
    /// the site reports that the file does not exist, the stored file is removed.
    mutating func take(_ result: Result<[UInt8], FetchError>, at now: Int64) {
        asked = now
        switch result {
        case .success(let bytes):
            file = bytes
            answered = now
            failure = nil
            failureCount = 0
        case .failure(let error):
            failure = error.description
            // The number comes from a file, which may contain any number.
            if failureCount < .max { failureCount += 1 }
            if error.code == .missing {
                file = nil
                answered = now
            }
        }
    }

    // MARK: The format on the disk: a line, then the file.

    private static let mark = "nfc-links 2"
    /// The old format, without the number of failures.
    private static let firstMark = "nfc-links 1"
    private static let none = "-"

    var bytes: [UInt8] {
        let answered = answered.map(String.init) ?? Self.none
        // Limited in bytes, because the head must be within the first 4096.
        let line = String((failure ?? "").map { $0.isNewline ? " " : $0 })
        let failure = String(decoding: line.utf8.prefix(500), as: UTF8.self)
        let size = file.map { "\($0.count)" } ?? Self.none
        let head = "\(Self.mark) \(asked) \(answered) \(size) \(failureCount) \(failure)\n"
        return Array(head.utf8) + (file ?? [])
    }

    init(domain: String, asked: Int64) {
        self.domain = domain
        self.asked = asked
        isLocal = false
    }

    init(domain: String, local file: [UInt8]) {
        self.domain = domain
        self.file = file
        asked = 0
        isLocal = true
    }

    package init?(domain: String, bytes: [UInt8]) {
        guard let end = bytes.prefix(4096).firstIndex(of: 0x0A) else { return nil }
        let head = String(decoding: bytes[..<end], as: UTF8.self)
        var words = head.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false).map(String.init)
        guard words.count == 6, let asked = Int64(words[2]) else { return nil }
        self.init(domain: domain, asked: asked)
        switch "\(words[0]) \(words[1])" {
        case Self.firstMark: failureCount = words[5].isEmpty ? 0 : 1
        case Self.mark:
            let parts = words[5].split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let count = Int(parts[0]), count >= 0 else { return nil }
            failureCount = count
            words[5] = String(parts[1])
        default: return nil
        }
        answered = Int64(words[3])
        failure = words[5].isEmpty ? nil : words[5]
        let rest = Array(bytes[(end + 1)...])
        if words[4] == Self.none {
            guard rest.isEmpty else { return nil }
        } else {
            guard Int(words[4]) == rest.count else { return nil }
            file = rest
        }
    }
}

/// Decides how long to wait after changes before sites are asked again. A network starts in several steps, and so does
/// the installation of an app, so each change restarts the wait. Because some networks change all the time, the total
/// wait is limited.
package struct ChangeSettling: Sendable, Hashable {
    package static let pause = Duration.seconds(2)
    package static let longest = Duration.seconds(60)

    private var first: Duration?

    package init() {}

    /// Whether anything has changed since the sites were last asked.
    package var hasChanged: Bool { first != nil }

    /// Records a change, and returns how long after `now` to ask the sites. `now` is measured from an arbitrary fixed
    /// moment.
    package mutating func change(at now: Duration) -> Duration {
        let first = first ?? now
        self.first = first
        return max(min(Self.pause, first + Self.longest - now), .zero)
    }

    package mutating func settle() { first = nil }
}
