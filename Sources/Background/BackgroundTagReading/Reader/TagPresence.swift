// SPDX-License-Identifier: Apache-2.0

/// Tracks which tags are near, so that a tag that is never removed is announced only once.
///
/// A tag that is gone for less than ``minimumAbsence`` has not left. While reading is paused, tags may leave unnoticed.
/// The first poll after the pause shows which tags are still near. A tag that left before the pause stays gone, however
/// long the pause was.
struct TagPresence: Sendable, Hashable {
    private enum Identity: Hashable {
        case identifier([UInt8])
        /// The start of the link. Identifies a tag whose identifier is random each time.
        case stem(String)
        /// A tag whose identifier is random each time, and that only an app has read.
        case unknown
    }

    private struct Tag: Hashable {
        var identity: Identity
        var identifier: [UInt8]
        var leftAt: Duration?
        /// Whether no poll has followed since the tag was last seen.
        var isUncertain = false
    }

    /// The shortest absence after which a tag counts as a new arrival.
    static let minimumAbsence = Duration.milliseconds(500)
    /// For how long after reading resumes a tag with a random identifier counts as never removed.
    static let settlingTime = Duration.seconds(1)
    static let maximumCount = 32

    private var tags: [Tag] = []
    private var resumedAt: Duration?

    /// Records that a tag was read. Returns whether the tag has just arrived; false if it was near all the time.
    mutating func read(_ reading: TagReading, stem: String, now: Duration) -> Bool {
        let identity: Identity = reading.hasStableIdentifier ? .identifier(reading.identifier) : .stem(stem)
        tags.removeAll { tag in
            if let left = tag.leftAt { return now - left >= Self.minimumAbsence }
            guard tag.isUncertain, let resumedAt else { return false }
            return now - resumedAt > Self.settlingTime
        }
        let known = tags.firstIndex { tag in
            tag.identity == identity || tag.identity == .unknown && !reading.hasStableIdentifier
        }
        if let index = known {
            tags[index] = Tag(identity: identity, identifier: reading.identifier)
            return false
        }
        add(Tag(identity: identity, identifier: reading.identifier))
        return true
    }

    /// Records the identifiers of all tags that are near.
    mutating func near(_ identifiers: [[UInt8]], now: Duration) {
        let hasUnstable = identifiers.contains(where: TagReading.isUnstable)
        for index in tags.indices.reversed() {
            if identifiers.contains(tags[index].identifier) {
                tags[index].isUncertain = false
            } else if !tags[index].isUncertain {
                tags[index].leftAt = tags[index].leftAt ?? now
            } else if !hasUnstable || !TagReading.isUnstable(tags[index].identifier) {
                // The tag left during the pause.
                tags.remove(at: index)
            }
        }
    }

    /// Records tags that an app has read while this service was paused. If they are still near, they are not new.
    mutating func readByApp(_ identifiers: [[UInt8]]) {
        for identifier in identifiers {
            if let index = tags.firstIndex(where: { $0.identifier == identifier }) {
                tags[index].leftAt = nil
                tags[index].isUncertain = true
            } else {
                let identity: Identity = TagReading.isUnstable(identifier) ? .unknown : .identifier(identifier)
                add(Tag(identity: identity, identifier: identifier, isUncertain: true))
            }
        }
    }

    /// Records that reading is paused. From now on, tags may leave unnoticed.
    mutating func pause() {
        for index in tags.indices where tags[index].leftAt == nil { tags[index].isUncertain = true }
        resumedAt = nil
    }

    mutating func resume(now: Duration) {
        resumedAt = now
    }

    private mutating func add(_ tag: Tag) {
        if tags.count >= Self.maximumCount { tags.removeFirst() }
        tags.append(tag)
    }
}

/// The result of reading a tag.
public struct TagReading: Sendable, Hashable {
    /// The tag's identifier.
    public var identifier: [UInt8]
    /// The bytes of the tag's message; nil when it has no message.
    public var message: [UInt8]?
    /// Whether the tag always has the same identifier.
    public var hasStableIdentifier: Bool

    /// Creates a reading.
    ///
    /// - Parameters:
    ///   - identifier: the tag's identifier.
    ///   - message: the bytes of the tag's message; nil when it has no message.
    ///   - hasStableIdentifier: nil to derive it from the identifier; see ``isUnstable(_:)``.
    public init(identifier: [UInt8], message: [UInt8]?, hasStableIdentifier: Bool? = nil) {
        self.identifier = identifier
        self.message = message
        self.hasStableIdentifier = hasStableIdentifier ?? !Self.isUnstable(identifier)
    }

    /// Returns whether an identifier is not specific to a tag: four bytes that start with 08 are random each time
    /// (ISO/IEC 14443-3, 6.5.4), and an empty identifier is unknown.
    public static func isUnstable(_ identifier: [UInt8]) -> Bool {
        identifier.isEmpty || identifier.count == 4 && identifier.first == 0x08
    }
}

/// Limits the arrivals. The first arrivals of a burst get their own notifications. More arrivals are kept and share a
/// summary, and the rest is refused.
struct ArrivalLimiter: Sendable, Hashable {
    /// A maximum number of arrivals in a burst, and the time after which one more is allowed.
    private struct Allowance: Hashable {
        let burst: Int
        let interval: Duration
        private var used = 0
        private var since = Duration.zero

        init(burst: Int, interval: Duration) {
            self.burst = burst
            self.interval = interval
        }

        mutating func take(at now: Duration) -> Bool {
            if now - since >= interval * used {
                used = 0
                since = now
            } else {
                let gained = Int((now - since) / interval)
                used -= gained
                since += interval * gained
            }
            guard used < burst else { return false }
            used += 1
            return true
        }
    }

    /// How many arrivals of a burst get their own notifications.
    static let burst = 8
    static let reserve = 24

    private var alone = Allowance(burst: ArrivalLimiter.burst, interval: .seconds(2))
    private var together = Allowance(burst: ArrivalLimiter.reserve, interval: .seconds(10))
    /// The number of arrivals refused since an arrival was last admitted.
    private(set) var refused = 0

    enum Outcome {
        case alone
        /// The arrival is kept, and appears only in the summary.
        case together
        case refused
    }

    /// - Parameter canWait: whether the arrival may appear only in the summary.
    mutating func admit(at now: Duration, canWait: Bool) -> Outcome {
        let outcome: Outcome =
            alone.take(at: now) ? .alone : canWait && together.take(at: now) ? .together : .refused
        refused = outcome == .refused ? refused + 1 : 0
        return outcome
    }
}
