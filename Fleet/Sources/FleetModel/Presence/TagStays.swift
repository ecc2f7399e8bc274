// SPDX-License-Identifier: Apache-2.0

/// The tags that lie on a reader, and since when.
///
/// A tag that is gone for less than the delay was never away.
package struct TagStays: Sendable {
    /// A tag on the reader.
    package struct Stay: Sendable, Hashable {
        package var identifier: [UInt8]
        /// When it came, by a clock that only runs forward.
        package var since: Duration
        /// The identifier of the event of its arrival.
        package var event: String?
        /// When it was first missed; nil while it is near.
        package var missedAt: Duration?
    }

    /// A tag that was taken away.
    package struct Departure: Sendable, Hashable {
        package var identifier: [UInt8]
        package var event: String?
        /// How long it lay.
        package var duration: Duration
    }

    /// The most tags that are tracked at once.
    package static let maximumCount = 64

    private let delay: Duration
    private(set) package var stays: [Stay] = []

    /// - Parameter delay: how long a tag has to be away until it has left.
    package init(delay: Duration) { self.delay = delay }

    /// Returns whether a tag that was just read was near all the time. Then it is near again.
    package mutating func continues(_ identifier: [UInt8], now: Duration) -> Bool {
        guard let index = stays.firstIndex(where: { $0.identifier == identifier }) else { return false }
        if let missed = stays[index].missedAt, now - missed >= delay { return false }
        stays[index].missedAt = nil
        return true
    }

    /// Removes the stays that have to end before a tag comes: its own earlier one, and the oldest where too many are
    /// tracked.
    package mutating func makeRoom(for identifier: [UInt8], now: Duration) -> [Departure] {
        var departures: [Departure] = []
        // Its earlier stay has ended, although nobody has asked since.
        if let index = stays.firstIndex(where: { $0.identifier == identifier }) {
            departures.append(departure(of: stays.remove(at: index), now: now))
        }
        if stays.count >= Self.maximumCount { departures.append(departure(of: stays.removeFirst(), now: now)) }
        return departures
    }

    /// Notes that a tag has come.
    ///
    /// - Parameter event: the identifier of the event of its arrival; nil when that could not be stored.
    package mutating func add(_ identifier: [UInt8], event: String?, now: Duration) {
        stays.append(Stay(identifier: identifier, since: now, event: event))
    }

    /// Notes which tags a look has found.
    package mutating func near(_ identifiers: [[UInt8]], now: Duration) {
        for index in stays.indices {
            if identifiers.contains(stays[index].identifier) {
                // One that is found again after the delay is read again, and has a new stay then.
                if let missed = stays[index].missedAt, now - missed < delay { stays[index].missedAt = nil }
            } else if stays[index].missedAt == nil {
                stays[index].missedAt = now
            }
        }
    }

    /// Removes the tags that have been away for long enough.
    package mutating func sweep(now: Duration) -> [Departure] {
        let hasLeft = { [delay] (stay: Stay) in stay.missedAt.map { now - $0 >= delay } ?? false }
        let left = stays.filter(hasLeft)
        stays.removeAll(where: hasLeft)
        return left.map { departure(of: $0, now: now) }
    }

    /// Removes all tags, because the reader is gone or the agent ends.
    package mutating func clear(now: Duration) -> [Departure] {
        defer { stays = [] }
        return stays.map { departure(of: $0, now: now) }
    }

    /// When ``sweep(now:)`` has something to do; nil when no tag is missed.
    package var nextLimit: Duration? { stays.compactMap { $0.missedAt.map { $0 + delay } }.min() }

    private func departure(of stay: Stay, now: Duration) -> Departure {
        Departure(identifier: stay.identifier, event: stay.event, duration: (stay.missedAt ?? now) - stay.since)
    }
}
