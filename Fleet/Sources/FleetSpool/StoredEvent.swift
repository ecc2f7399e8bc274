// SPDX-License-Identifier: Apache-2.0
package import FleetModel

/// An event in the spool.
package struct StoredEvent: Sendable, Hashable {
    /// Identifies an event by reader and sequence number.
    package struct Place: Sendable, Hashable {
        /// The reader, or ``FleetName/bridge``.
        package var reader: FleetName
        /// The event's sequence number for its reader.
        package var sequence: Int64
    }

    /// The event's number in the file. Later events have larger numbers.
    package var number: Int64
    package var place: Place
    /// The event's JSON, with `late` set to false.
    package var payload: [UInt8]
    /// Whether the event is on disk. For an event that is not, only its number is reserved, and it is lost unless it is
    /// sent.
    package var isStored = true

    package var reader: FleetName { place.reader }
    package var sequence: Int64 { place.sequence }
}

/// Stored events, in order.
package struct StoredEvents: Sendable, Hashable {
    package var events: [StoredEvent] = []
    /// The number of the node's last event before these; 0 if there is none.
    package var previous: Int64 = 0
    /// Why events were just dropped; nil if none were.
    package var shortage: SpoolShortage?
    /// Whether the last event to be stored is in this list.
    package var hasLast = true

    package init(events: [StoredEvent] = [], previous: Int64 = 0) { (self.events, self.previous) = (events, previous) }
}

/// How far a reader's events have been acknowledged.
package struct ReaderPosition: Sendable, Hashable {
    package var reader: FleetName
    /// All events up to this number were acknowledged, or dropped before an acknowledged event.
    package var sequence: Int64
    /// The first event still stored; nil if there is none.
    package var first: Int64?

    /// Returns the JSON to publish.
    package func json(stream: String) -> JSONValue {
        .members([
            "stream": .string(stream), "sequence": .integer(Int(sequence)), "first": first.map { .integer(Int($0)) },
        ])
    }
}
