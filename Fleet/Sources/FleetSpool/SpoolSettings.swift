// SPDX-License-Identifier: Apache-2.0
package import FleetModel

/// The limits of a spool.
package struct SpoolSettings: Sendable, Hashable {
    /// The maximum size of all events in bytes.
    package var limit = 64 << 20
    /// The maximum size of the job journal in bytes. Large enough for any single job.
    var journalLimit: Int { max(limit / 4, 4 << 20) }
    /// Which events to drop when there is no space.
    package var policy = AgentConfiguration.FullPolicy.oldest
    /// How many acknowledged events to keep.
    package var keep = 10_000
    /// The size in bytes of the file that is deleted to free space when the disk is full.
    package var reserve = 1 << 20

    package init() {}
}
