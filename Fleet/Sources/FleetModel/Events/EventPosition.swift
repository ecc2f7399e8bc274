// SPDX-License-Identifier: Apache-2.0

/// Where an event stands: its stream, its reader and its number.
package struct EventPosition: Sendable, Hashable {
    /// The name of the spool that gave the number.
    package var stream: String
    /// The node.
    package var node: FleetName
    /// The reader, or ``FleetName/bridge``.
    package var reader: FleetName
    /// The number, from 1 on.
    package var sequence: Int64

    package init(stream: String, node: FleetName, reader: FleetName, sequence: Int64) {
        self.stream = stream
        self.node = node
        self.reader = reader
        self.sequence = sequence
    }

    /// The event's identifier, which never changes.
    package var id: String { "\(stream).\(reader).\(sequence)" }
    /// The source of the CloudEvent.
    package var source: String { "/opencorenfc/\(node)/\(reader)" }
}
