// SPDX-License-Identifier: Apache-2.0

/// Which tags are near, so that one that stays is announced once.
///
/// A tag that is gone for less than ``minimumAbsence`` has not left. While tags are not read nobody sees one leave: the
/// first look afterwards shows which of them stayed. A tag that was seen to leave before has left, however long nobody
/// looked then.
struct TagPresence: Sendable, Hashable {
    /// What tells a tag from others.
    private enum Identity: Hashable {
        case identifier([UInt8])
        /// Of a tag that makes up a new identifier each time, what its link begins with.
        case stem(String)
        /// A tag that makes up a new identifier each time, which only an app has read.
        case unknown
    }

    private struct Tag: Hashable {
        var identity: Identity
        var identifier: [UInt8]
        var leftAt: Duration?
        /// Whether nobody has looked since the tag was near.
        var isUncertain = false
    }

    /// The shortest time between a tag's leaving and a new arrival.
    static let minimumAbsence = Duration.milliseconds(500)
    /// After reading began again, how long a tag that makes up its identifiers counts as one that stayed.
    static let settling = Duration.seconds(1)
    /// More tags are never near at once; the one that was there the longest is forgotten.
    static let maximumCount = 32

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

    /// Notes which tags a look has found.
    ///
    /// - Parameter identifiers: those of all tags that are near.
    mutating func near(_ identifiers: [[UInt8]], now: Duration) {
        let hasMadeUp = identifiers.contains(where: TagReading.isMadeUp)
        for index in tags.indices.reversed() {
            if identifiers.contains(tags[index].identifier) {
                tags[index].isUncertain = false
            } else if !tags[index].isUncertain {
                tags[index].leftAt = tags[index].leftAt ?? now
            } else if !hasMadeUp || !TagReading.isMadeUp(tags[index].identifier) {
                // It left while nobody looked.
                tags.remove(at: index)
            }
        }
    }

    /// Notes tags that an app has read while this service did not: those that still lie there have not arrived.
    mutating func readByApp(_ identifiers: [[UInt8]]) {
        for identifier in identifiers {
            if let index = tags.firstIndex(where: { $0.identifier == identifier }) {
                tags[index].leftAt = nil
                tags[index].isUncertain = true
            } else {
                let identity: Identity = TagReading.isMadeUp(identifier) ? .unknown : .identifier(identifier)
                add(Tag(identity: identity, identifier: identifier, isUncertain: true))
            }
        }
    }

    /// Notes that tags are read no longer: whether one that is near leaves is not seen.
    mutating func pause() {
        for index in tags.indices where tags[index].leftAt == nil { tags[index].isUncertain = true }
        resumedAt = nil
    }

    /// Notes that tags are read again.
    mutating func resume(now: Duration) {
        resumedAt = now
    }

    private mutating func add(_ tag: Tag) {
        if tags.count >= Self.maximumCount { tags.removeFirst() }
        tags.append(tag)
    }
}
