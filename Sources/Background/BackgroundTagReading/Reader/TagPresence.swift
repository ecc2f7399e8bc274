// SPDX-License-Identifier: Apache-2.0

/// Tracks which tags are near, so that a tag that stays is announced only once.
///
/// A tag that is gone for less than ``minimumAbsence`` has not left. While reading is paused, nobody sees tags leave;
/// the first look afterwards shows which of them stayed. A tag that was seen leaving before the pause has left, no
/// matter how long the pause was.
struct TagPresence: Sendable, Hashable {
    /// Distinguishes a tag from others.
    private enum Identity: Hashable {
        case identifier([UInt8])
        /// The start of the link, for a tag with a new random identifier each time.
        case stem(String)
        /// A tag with a new random identifier each time, which only an app has read.
        case unknown
    }

    private struct Tag: Hashable {
        var identity: Identity
        var identifier: [UInt8]
        var leftAt: Duration?
        /// Whether nobody has looked since the tag was last seen.
        var isUncertain = false
    }

    /// The shortest absence after which a tag counts as a new arrival.
    static let minimumAbsence = Duration.milliseconds(500)
    /// How long after reading resumed a tag with a random identifier counts as one that stayed.
    static let settling = Duration.seconds(1)
    /// The most tags that are tracked. When there are more, the one that was added first is dropped.
    static let maximumCount = 32

    private var tags: [Tag] = []
    private var resumedAt: Duration?

    /// Records a reading.
    ///
    /// - Returns: whether the tag has arrived; false when it was near all the time.
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

    /// Records which tags a look has found.
    ///
    /// - Parameter identifiers: the identifiers of all tags that are near.
    mutating func near(_ identifiers: [[UInt8]], now: Duration) {
        let hasMadeUp = identifiers.contains(where: TagReading.isUnstable)
        for index in tags.indices.reversed() {
            if identifiers.contains(tags[index].identifier) {
                tags[index].isUncertain = false
            } else if !tags[index].isUncertain {
                tags[index].leftAt = tags[index].leftAt ?? now
            } else if !hasMadeUp || !TagReading.isUnstable(tags[index].identifier) {
                // The tag left while nobody looked.
                tags.remove(at: index)
            }
        }
    }

    /// Records tags that an app has read while this service did not. If they are still near, they have not arrived.
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

    /// Records that reading is paused. Then nobody sees when a tag leaves.
    mutating func pause() {
        for index in tags.indices where tags[index].leftAt == nil { tags[index].isUncertain = true }
        resumedAt = nil
    }

    /// Records that reading has resumed.
    mutating func resume(now: Duration) {
        resumedAt = now
    }

    private mutating func add(_ tag: Tag) {
        if tags.count >= Self.maximumCount { tags.removeFirst() }
        tags.append(tag)
    }
}
