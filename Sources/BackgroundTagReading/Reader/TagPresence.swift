// SPDX-License-Identifier: Apache-2.0

/// Which tags are near, so that one that stays is announced once.
///
/// A tag that is gone for less than ``minimumAbsence`` has not left. While tags are not read nobody sees one leave: what
/// was near then still counts as near when it is read again at once.
struct TagPresence: Sendable, Hashable {
    /// What tells a tag from others.
    private enum Identity: Hashable {
        case identifier([UInt8])
        /// Of a tag that makes up a new identifier each time, what its link begins with.
        case stem(String)
    }

    private struct Tag: Hashable {
        var identity: Identity
        var identifier: [UInt8]
        var leftAt: Duration?
        var isUncertain = false
    }

    /// The shortest time between a tag's leaving and a new arrival.
    static let minimumAbsence = Duration.milliseconds(500)
    /// After reading began again, how long a tag that was near before counts as one that stayed.
    static let settling = Duration.seconds(1)
    /// More tags are never near at once; the one that was there the longest is forgotten.
    static let maximumCount = 16

    private var tags: [Tag] = []
    private var resumedAt: Duration?

    /// Notes a reading.
    ///
    /// - Returns: whether the tag arrived; false when it was near all the time.
    mutating func read(_ reading: TagReading, stem: String, now: Duration) -> Bool {
        let identity: Identity = reading.hasStableIdentifier ? .identifier(reading.identifier) : .stem(stem)
        tags.removeAll { tag in
            if let left = tag.leftAt { return now - left >= Self.minimumAbsence }
            guard tag.isUncertain, let resumedAt else { return false }
            return now - resumedAt > Self.settling
        }
        if let index = tags.firstIndex(where: { $0.identity == identity }) {
            tags[index] = Tag(identity: identity, identifier: reading.identifier)
            return false
        }
        if tags.count >= Self.maximumCount { tags.removeFirst() }
        tags.append(Tag(identity: identity, identifier: reading.identifier))
        return true
    }

    /// Notes that a tag is gone.
    mutating func left(_ identifier: [UInt8], now: Duration) {
        guard let index = tags.firstIndex(where: { $0.identifier == identifier }) else { return }
        tags[index].leftAt = tags[index].leftAt ?? now
    }

    /// Notes that there is no tag.
    mutating func nothingNear(now: Duration) {
        tags.removeAll(where: \.isUncertain)
        for index in tags.indices { tags[index].leftAt = tags[index].leftAt ?? now }
    }

    /// Notes that tags are read no longer: whether one leaves is not seen.
    mutating func pause() {
        for index in tags.indices {
            tags[index].isUncertain = true
            tags[index].leftAt = nil
        }
        resumedAt = nil
    }

    /// Notes that tags are read again.
    mutating func resume(now: Duration) {
        resumedAt = now
    }
}

/// A tag, as it was read.
public struct TagReading: Sendable, Hashable {
    /// The tag's identifier.
    public var identifier: [UInt8]
    /// The octets of its message; nil when it has none.
    public var message: [UInt8]?
    /// Whether the tag has the identifier each time.
    public var hasStableIdentifier: Bool

    /// Creates a reading.
    ///
    /// - Parameters:
    ///   - identifier: the tag's identifier.
    ///   - message: the octets of its message; nil when it has none.
    ///   - hasStableIdentifier: nil tells it from the identifier: one of four octets that begins with 08 is made up each
    ///     time (ISO/IEC 14443-3, 6.5.4).
    public init(identifier: [UInt8], message: [UInt8]?, hasStableIdentifier: Bool? = nil) {
        self.identifier = identifier
        self.message = message
        self.hasStableIdentifier = hasStableIdentifier ?? !(identifier.count == 4 && identifier.first == 0x08)
    }
}
