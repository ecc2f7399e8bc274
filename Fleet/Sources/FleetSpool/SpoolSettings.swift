// SPDX-License-Identifier: Apache-2.0
package import FleetModel

/// How much a spool takes.
package struct SpoolSettings: Sendable, Hashable {
    /// The most bytes of all events.
    package var limit = 64 << 20
    /// What goes when there is no room.
    package var policy = AgentConfiguration.FullPolicy.oldest
    /// How many events are kept after they were acknowledged.
    package var keep = 10_000
    /// The size of the file that is given free when the disk is full, in bytes.
    package var reserve = 1 << 20

    package init() {}
}
