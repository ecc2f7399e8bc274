// SPDX-License-Identifier: Apache-2.0

/// Tracks which tags are on a reader, and since when.
///
/// A tag that is missing for less than the delay counts as never removed.
package struct TagStays: Sendable {
    /// A tag on the reader.
    package struct Stay: Sendable, Hashable {
        package var identifier: [UInt8]
        /// When the tag arrived, by a monotonic clock.
        package var since: Duration
        /// The ID of the arrival event; nil if it could not be stored.
        package var event: String?
        /// When the tag was first missed; nil while it is detected.
        package var missedAt: Duration?
    }

    /// A tag that was taken away.
    package struct Departure: Sendable, Hashable {
        package var identifier: [UInt8]
        package var event: String?
        /// How long the tag was on the reader.
        package var duration: Duration
    }

    /// The maximum number of tags tracked at once.
    package static let maximumCount = 64

    private let delay: Duration
    private(set) package var stays: [Stay] = []

    /// - Parameter delay: how long a tag must be missing before it counts as removed.
    package init(delay: Duration) { self.delay = delay }

    /// Returns whether a tag that was just read was never removed. If so, marks the tag as present again.
    package mutating func continues(_ identifier: [UInt8], now: Duration) -> Bool {
        guard let index = stays.firstIndex(where: { $0.identifier == identifier }) else { return false }
        if let missed = stays[index].missedAt, now - missed >= delay { return false }
        stays[index].missedAt = nil
        return true
    }

    /// Removes stays that must end before a tag is added: an earlier stay of the same tag, and the oldest stay if too
    /// many tags are tracked.
    package mutating func makeRoom(for identifier: [UInt8], now: Duration) -> [Departure] {
        var departures: [Departure] = []
        // The tag's earlier stay has timed out, but no sweep has removed it yet.
        if let index = stays.firstIndex(where: { $0.identifier == identifier }) {
            departures.append(departure(of: stays.remove(at: index), now: now))
        }
        if stays.count >= Self.maximumCount { departures.append(departure(of: stays.removeFirst(), now: now)) }
        return departures
    }

    /// Adds a tag that has arrived.
    ///
    /// - Parameter event: the ID of the arrival event; nil if it could not be stored.
    package mutating func add(_ identifier: [UInt8], event: String?, now: Duration) {
        stays.append(Stay(identifier: identifier, since: now, event: event))
    }

    /// Updates the stays with the tags found by a poll.
    package mutating func near(_ identifiers: [[UInt8]], now: Duration) {
        for index in stays.indices {
            if identifiers.contains(stays[index].identifier) {
                // A tag found only after the delay is read again, which begins a new stay.
                if let missed = stays[index].missedAt, now - missed < delay { stays[index].missedAt = nil }
            } else if stays[index].missedAt == nil {
                stays[index].missedAt = now
            }
        }
    }

    /// Removes the tags that have been missing for the whole delay.
    package mutating func sweep(now: Duration) -> [Departure] {
        let hasLeft = { [delay] (stay: Stay) in stay.missedAt.map { now - $0 >= delay } ?? false }
        let endedStays = stays.filter(hasLeft)
        stays.removeAll(where: hasLeft)
        return endedStays.map { departure(of: $0, now: now) }
    }

    /// Removes all tags, because the reader is gone or the agent is stopping.
    package mutating func clear(now: Duration) -> [Departure] {
        defer { stays = [] }
        return stays.map { departure(of: $0, now: now) }
    }

    /// The next time at which to call ``sweep(now:)``; nil if no tag is missing.
    package var nextLimit: Duration? { stays.compactMap { $0.missedAt.map { $0 + delay } }.min() }

    private func departure(of stay: Stay, now: Duration) -> Departure {
        Departure(identifier: stay.identifier, event: stay.event, duration: (stay.missedAt ?? now) - stay.since)
    }
}
