// SPDX-License-Identifier: Apache-2.0

/// Identifies an event by stream, reader and sequence number.
package struct EventPosition: Sendable, Hashable {
    /// The name of the spool that assigned the number.
    package var stream: String
    package var node: FleetName
    /// The reader, or ``FleetName/bridge``.
    package var reader: FleetName
    /// The sequence number, starting at 1.
    package var sequence: Int64

    package init(stream: String, node: FleetName, reader: FleetName, sequence: Int64) {
        self.stream = stream
        self.node = node
        self.reader = reader
        self.sequence = sequence
    }

    /// The event's ID, which never changes.
    package var id: String { "\(stream).\(reader).\(sequence)" }
    /// The CloudEvent source.
    package var source: String { "/opencorenfc/\(node)/\(reader)" }
}
