// SPDX-License-Identifier: Apache-2.0
import FleetModel
import NFCSessions

/// What a station asks of its agent. The agent is not kept alive.
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

    /// Stores events. Returns the identifier of the last one; nil when nothing could be stored.
    func store(_ events: [FleetEvent]) async -> String? { await agent?.store(events, of: reader) }

    /// Reports whether the reader works.
    func note(isAvailable: Bool, reason: String?) async {
        await agent?.note(reader, isAvailable: isAvailable, reason: reason)
    }

    /// Notes which tags lie on the reader.
    func note(tags: JSONValue) async { await agent?.note(reader, tags: tags) }

    /// The event of a tag that came.
    func event(of report: TagReport) async -> FleetEvent? { await agent?.event(of: report, at: reader) }

    /// How a tag is named in events.
    func names(of identifier: [UInt8]) -> TagNaming.Names? { agent?.naming.names(of: identifier) }
}
