// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetMQTT
import FleetModel
import FleetSpool
import FleetTestSupport
import NDEF
import Testing
import VirtualTags

@Suite(
    "Events that are too large for the broker",
    .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing)),
    .timeLimit(.minutes(2))
)
struct OversizedTests {
    let folder: TestFolder
    let long: [UInt8]
    let short: [UInt8]

    init() throws {
        folder = try TestFolder()
        long = try NDEFMessage([.uri("https://example.com/" + String(repeating: "a", count: 110))]).encoded()
        short = try NDEFMessage([.uri("https://example.com/b")]).encoded()
    }

    // With the second, the broker says how much it takes when it accepts the connection.
    @Test(
        "Event beyond the broker's maximum size: sent without the tag's message; later events are whole",
        arguments: ["message_size_limit 1000", "max_packet_size 1000"]
    )
    func shortened(line: String) async throws {
        let broker = try await TestBroker([line])
        let client = TestClient()
        try await client.connect(broker)
        let lines = LogLines()
        let node = try await TestNode(broker.address, folder: folder.path + "/state") { $0.log = lines.log }
        let large = TestTags.ntag213(1, message: long)
        node.field.bring(large)
        let first = try #require(try await client.wait(for: .tag).first)
        node.field.remove(large)
        try await client.wait(for: .removed)
        node.field.bring(TestTags.ntag213(2, message: short))
        // The first event may arrive twice: its acknowledgement is lost if the broker disconnects in that moment.
        try await client.wait("event 3") { $0.events.contains { $0["data"]?["sequence"] == 3 } }
        let second = try #require(await client.events.first { $0["data"]?["sequence"] == 3 })
        #expect(first["data"]?["message"] == ["size": .integer(long.count)])
        #expect(first["data"]?["product"] == "NTAG213")
        #expect(first["data"]?["sequence"] == 1)
        #expect(second["data"]?["message"]?["hex"] != nil)
        // mosquitto 2.0.11 ends the connection when it refuses what is larger than message_size_limit.
        if line.hasPrefix("max") { #expect(lines.count("disconnected") == 0 && first["late"] == false) }
        #expect(lines.all("event-").map { $0.prefix(26) } == ["event-shortened Event 1 of"])
        await node.stop()
        await client.stop()
        #expect(try await node.spool.waitingCount() == 0)
    }

    @Test("Waiting event beyond the broker's maximum size: sent without the tag's message, and marked as late")
    func late() async throws {
        let broker = try await TestBroker(["message_size_limit 1000"])
        broker.kill()
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        node.field.bring(TestTags.ntag213(1, message: long))
        while try await node.spool.waitingCount() == 0 { try await Task.sleep(for: .milliseconds(20)) }
        try await broker.start()
        let client = TestClient()
        try await client.connect(broker)
        let event = try #require(try await client.wait(for: .tag).first)
        #expect(event["data"]?["message"] == ["size": .integer(long.count)])
        #expect(event["late"] == true)
        await node.stop()
        await client.stop()
    }

    @Test("Replayed event beyond the broker's maximum size: sent without the tag's message, also after a restart")
    func replayed() async throws {
        let broker = try await TestBroker(["max_packet_size 1000"])
        let client = TestClient()
        try await client.connect(broker)
        let state = folder.path + "/state"
        for round in 0..<2 {
            // The spool is free when the agent before has gone.
            while (try? Spool(folder: state, node: FleetName(slugOf: "kiosk-7"))) == nil {
                try await Task.sleep(for: .milliseconds(5))
            }
            let node = try await TestNode(broker.address, folder: state)
            if round == 0 {
                node.field.bring(TestTags.ntag213(1, message: long))
                try await client.wait(for: .tag)
            }
            // The second time, the agent knows already how large it is.
            for time in 2...3 {
                await client.publish(
                    "opencorenfc/kiosk-7/bridge/replay",
                    ["reader": "entrance", "from": 1, "to": 1]
                )
                try await client.wait(for: .tag, count: time + 2 * round)
            }
            await node.stop()
        }
        let events = try await client.wait(for: .tag, count: 5)
        #expect(events.allSatisfy { $0["data"]?["message"] == ["size": .integer(long.count)] })
        #expect(events.map { $0["late"] == true } == [false, true, true, true, true])
        #expect(Set(events.map { $0["id"]?.text }).count == 1)
        await client.stop()
    }

    @Test("Event too large even without the tag's message: given up and logged, and later events are not held up")
    func givenUp() async throws {
        let broker = try await TestBroker(["max_packet_size 200"])
        let lines = LogLines()
        let node = try await TestNode(broker.address, folder: folder.path + "/state") { $0.log = lines.log }
        let tags = [TestTags.ntag213(1, message: short), TestTags.ntag213(2)]
        for (index, tag) in tags.enumerated() {
            node.field.bring(tag)
            while lines.count("event-given-up") < 2 * index + 1 { try await Task.sleep(for: .milliseconds(20)) }
            node.field.remove(tag)
            while lines.count("event-given-up") < 2 * index + 2 { try await Task.sleep(for: .milliseconds(20)) }
        }
        let givenUp = lines.all("event-given-up").compactMap { Int($0.split(separator: " ")[2]) }
        #expect(givenUp == [1, 2, 3, 4])
        #expect(lines.count("event-shortened Event 1 of entrance ") == 1)
        #expect(lines.count("event-shortened") == 1)
        await node.stop()
        #expect(try await node.spool.waitingCount() == 0)
    }
}
