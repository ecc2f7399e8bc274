// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetTestSupport
import Testing

@testable import FleetAgent
@testable import FleetSpool

@Suite("Events that do not fit on the disk", .timeLimit(.minutes(1)))
struct UnstoredEventTests {
    @Test("Event that was not stored, reported after a later event was sent: is sent too")
    func overtaken() async throws {
        let folder = try TestFolder()
        let spool = try Spool(folder: folder.path + "/state", node: FleetName(slugOf: "n1"))
        let reader = FleetName(slugOf: "entrance")
        // The first is of the job desk, and has only a number.
        let first = try await spool.append([(reader, FleetEvent(.tag, time: 0)), (reader, FleetEvent(.tag, time: 0))])
        try await spool.acknowledge([first.events[0].place])
        let unstored = StoredEvent(
            number: first.events[0].number,
            place: .init(reader: .bridge, sequence: 1),
            payload: first.events[0].payload,
            isStored: false
        )
        let address = BrokerAddress(host: "127.0.0.1", port: 9, usesTLS: false)
        let agent = Agent(AgentSettings(), broker: MQTTSettings(address: address, client: "n1"), spool: spool)
        let sent = await agent.sendAfterOthers(unstored)
        #expect(sent == [[2], [1]])
    }

    @Test("More unstored events than fit into memory: events in flight are kept, older waiting ones dropped")
    func inFlight() async throws {
        let folder = try TestFolder()
        let spool = try Spool(folder: folder.path + "/state", node: FleetName(slugOf: "n1"))
        let address = BrokerAddress(host: "127.0.0.1", port: 9, usesTLS: false)
        let agent = Agent(AgentSettings(), broker: MQTTSettings(address: address, client: "n1"), spool: spool)
        let events = (Int64(1)...110).map { number in
            StoredEvent(number: number, place: .init(reader: .bridge, sequence: number), payload: [], isStored: false)
        }
        let kept = await agent.keep(events)
        #expect(kept == Array(1...20) + Array(31...110))
    }
}

extension Agent {
    /// Sends what the spool has, and then an event that is only in memory. Returns what is in flight each time.
    fileprivate func sendAfterOthers(_ event: StoredEvent) async -> [[Int64]] {
        outbox.connect(last: 0)
        await pump()
        let before = outbox.inFlight.keys.sorted()
        // Otherwise nothing more is sent on a busy machine.
        for number in before { _ = outbox.acknowledge(number) }
        await keepUnstored([event])
        await storeUnstored()
        await pump()
        return [before, outbox.inFlight.keys.sorted()]
    }

    /// Keeps events of which a first part is sent. Returns the numbers of those in memory.
    fileprivate func keep(_ events: [StoredEvent]) async -> [Int64] {
        outbox.connect(last: 0)
        await keepUnstored(events.prefix(100))
        await pump()
        await keepUnstored(events.suffix(10))
        return unstoredEvents.map(\.number)
    }
}
