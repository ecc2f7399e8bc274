// SPDX-License-Identifier: Apache-2.0
package import FleetModel

/// An event in the spool.
package struct StoredEvent: Sendable, Hashable {
    /// Where it stands.
    package struct Place: Sendable, Hashable {
        /// The reader, or ``FleetName/bridge``.
        package var reader: FleetName
        /// Its number among the events of its reader.
        package var sequence: Int64
    }

    /// Its place among all events of the file. A later event has a larger one.
    package var number: Int64
    package var place: Place
    /// Its JSON, with `late` false.
    package var payload: [UInt8]
    /// Whether it is on the disk. One that is not has only its number, and is lost when nobody sends it.
    package var isStored = true

    package var reader: FleetName { place.reader }
    package var sequence: Int64 { place.sequence }
}

/// Events that were stored, in their order.
package struct StoredEvents: Sendable, Hashable {
    package var events: [StoredEvent] = []
    /// The number of the node's last event before them; 0 without one.
    package var previous: Int64 = 0
    /// Why events were dropped just now; nil when none were.
    package var shortage: SpoolShortage?
    /// Whether the last event that was to be stored is the last of these.
    package var hasLast = true

    package init(events: [StoredEvent] = [], previous: Int64 = 0) { (self.events, self.previous) = (events, previous) }
}

/// How far the events of a reader were acknowledged.
package struct ReaderPosition: Sendable, Hashable {
    package var reader: FleetName
    /// All events up to this number were acknowledged, or were dropped before one that was.
    package var sequence: Int64
    /// The first event that is still there; nil when none is.
    package var first: Int64?

    /// What is published.
    package func json(stream: String) -> JSONValue {
        .members([
            "stream": .string(stream), "sequence": .integer(Int(sequence)), "first": first.map { .integer(Int($0)) },
        ])
    }
}
