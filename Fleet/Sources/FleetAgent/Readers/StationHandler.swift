// SPDX-License-Identifier: Apache-2.0
import FleetModel
import NFCSessions

/// A station's interface to its agent. Does not keep the agent alive.
struct StationHandler: Sendable {
    let reader: FleetName
    let removalDelay: Duration
    let clock: any RuntimeClock
    let jobs: JobDesk
    private weak let agent: Agent?

    init(_ agent: Agent, _ reader: StationReader, removalDelay: Duration, jobs: JobDesk) {
        self.agent = agent
        self.reader = reader.name
        self.removalDelay = removalDelay
        self.jobs = jobs
        clock = reader.environment.clock
    }

    var now: Duration { clock.now }

    /// Stores events. Returns the ID of the last event; nil if it could not be stored.
    func store(_ events: [FleetEvent]) async -> String? { await agent?.store(events, of: reader) }

    /// Reports whether the reader works.
    func note(isAvailable: Bool, reason: String?) async {
        await agent?.note(reader, isAvailable: isAvailable, reason: reason)
    }

    /// Records which tags are on the reader.
    func note(tags: JSONValue) async { await agent?.note(reader, tags: tags) }

    /// Returns the event for a tag that has arrived.
    func event(of report: TagReport) async -> FleetEvent? { await agent?.event(of: report, at: reader) }

    /// Returns a tag's names in events.
    func names(of identifier: [UInt8]) -> TagNaming.Names? { agent?.naming.names(of: identifier) }
}
