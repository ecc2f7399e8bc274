// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetMQTT
import FleetModel
import FleetSpool
import FleetTestSupport
import Foundation
import NDEF
import Testing
import VirtualTags

/// What needs a broker is skipped where there is none.
let hasBroker = TestBroker.program != nil

@Suite("An agent at a broker", .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing)), .timeLimit(.minutes(3)))
struct AgentTests {
    let folder: TestFolder
    let topics = FleetTopics.usual

    init() throws { folder = try TestFolder() }

    func link(_ text: String) throws -> [UInt8] { try NDEFMessage([.uri(text)]).encoded() }

    @Test("Tag that comes and goes: one tag event with its message, one removed event with the duration of its stay")
    func comesAndGoes() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        try await client.wait("the reader") { $0.last("opencorenfc/kiosk-7/entrance/availability") == "online" }
        let tag = TestTags.ntag213(1, message: try link("https://example.com/a"))
        node.field.bring(tag)
        let event = try #require(try await client.wait(for: .tag).first)
        #expect(event["data"]?["uid"] == "04e15a0171fa80")
        #expect(event["data"]?["product"] == "NTAG213")
        #expect(event["data"]?["technology"] == "nfc-a")
        #expect(event["data"]?["status"] == "read-write")
        #expect(event["data"]?["message"]?["records"]?.elements?[0]["decoded"]?["uri"] == "https://example.com/a")
        #expect(event["late"] == false)
        let tags = "opencorenfc/kiosk-7/entrance/tags"
        try await client.wait("the tag that lies there") {
            $0.last(tags)?.contains("\"uid\":\"04e15a0171fa80\"") == true
        }
        node.field.remove(tag)
        try await client.wait("nothing lies there") { $0.last(tags) == "{\"tags\":[]}" }
        let removed = try #require(try await client.wait(for: .removed).first)
        #expect(removed["data"]?["tag_event"] == event["id"])
        #expect(removed["data"]?["sequence"] == 2)
        #expect(removed["data"]?["duration_ms"]?.int != nil)
        await node.stop()
        try await client.wait("its goodbye") { $0.last("opencorenfc/kiosk-7/bridge/state") == "offline" }
        let retained = await client.all.filter { $0.topic.hasSuffix("/event") && $0.isRetained }
        #expect(retained.isEmpty)
        await client.stop()
    }

    @Test("Two agents with one name: at most six connections in five seconds, and the log has the reason")
    func sameName() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker, to: ["opencorenfc/kiosk-7/bridge/state"])
        let lines = LogLines()
        var nodes: [TestNode] = []
        for name in ["one", "two"] {
            nodes.append(
                try await TestNode(broker.address, folder: "\(folder.path)/\(name)") {
                    $0.log = AgentLog { event, text, _ in lines.add("\(event) \(text)") }
                }
            )
        }
        try await Task.sleep(for: .seconds(7))
        let early = lines.count("connected ")
        #expect(early >= 2)
        try await Task.sleep(for: .seconds(5))
        #expect(lines.count("connected ") - early <= 6)
        // The reason is known, or, where the broker does not say it, supposed.
        let known = lines.count("disconnected Another agent uses the name kiosk-7.")
        #expect(known + lines.count("disconnected The broker closes each connection soon") >= 1)
        for node in nodes { await node.stop() }
        await client.stop()
    }

    @Test(
        "State and info of a node: retained. Home Assistant discovery: published again on homeassistant/status online"
    )
    func state() async throws {
        let broker = try await TestBroker()
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        let early = TestClient()
        try await early.connect(broker)
        try await early.wait("the reader") { $0.last("opencorenfc/kiosk-7/entrance/availability") == "online" }
        // Somebody who comes later gets the same.
        let client = TestClient()
        try await client.connect(broker)
        try await client.wait("state") { $0.last("opencorenfc/kiosk-7/bridge/state") == "online" }
        try await client.wait("info") {
            $0.last("opencorenfc/kiosk-7/bridge/info")?.contains("\"available\":true") == true
        }
        let info = try JSONValue(parsing: Array((await client.last("opencorenfc/kiosk-7/bridge/info") ?? "").utf8))
        #expect(info["readers"]?.elements?.first?["name"] == "entrance")
        #expect(info["stream"]?.text == node.spool.stream)
        #expect(info["readers"]?.elements?.first?["kind"] == "virtual")
        #expect(info["node"] == "kiosk-7" && info["protocol"] == 1)
        #expect(info["started"]?.text.flatMap(Timestamp.milliseconds) != nil)
        let settings: JSONValue = [
            "accepts_jobs": true, "in_flight": 20, "keep": 10_000, "removal_delay_ms": 50, "signed_jobs": false,
            "spool_limit_mb": 64, "spool_policy": "oldest", "uid": "plain",
        ]
        #expect(info["settings"] == settings)
        let document = "homeassistant/tag/kiosk-7/entrance/config"
        try await client.wait("discovery") { $0.last(document) != nil }
        let before = await client.all.filter { $0.topic == document }.count
        await client.publish("homeassistant/status", Array("online".utf8))
        try await client.wait("discovery again") { $0.all.filter { $0.topic == document }.count > before }
        await node.stop()
        await client.stop()
        await early.stop()
    }

    @Test("Retained topics of a former reader or disabled discovery: cleared; a reader within its grace is offline")
    func gone() async throws {
        let broker = try await TestBroker()
        for name in ["old", "new", "off"] {
            let node = try await TestNode(broker.address, folder: folder.path + "/state", reader: name) {
                if name == "off" { ($0.discoveryPrefix, $0.readerGrace) = (nil, .seconds(3600)) }
            }
            let client = TestClient()
            try await client.connect(broker)
            let availability = "opencorenfc/kiosk-7/\(name)/availability"
            try await client.wait("the reader") { $0.retained[availability] == "online" }
            switch name {
            case "old":
                try await client.wait("documents") { $0.retained["homeassistant/tag/kiosk-7/old/config"] != nil }
            case "new":
                try await client.wait("nothing of old") { !$0.retained.keys.contains { $0.contains("/old/") } }
                try await client.wait("documents") { $0.retained["homeassistant/tag/kiosk-7/new/config"] != nil }
            default:
                try await client.wait("new") { $0.retained["opencorenfc/kiosk-7/new/availability"] == "offline" }
                try await client.wait("no documents") { !$0.retained.keys.contains { $0.hasPrefix("homeassistant") } }
            }
            await node.stop()
            await client.stop()
        }
    }

    @Test("Events while the broker is away: arrive late, in order and without a gap", arguments: [1, 3, 20])
    func brokerAway(inFlight: Int) async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let loop = EventLoop("mqtt")
        let node = try await TestNode(broker.address, folder: folder.path + "/state", isOnLoop: inFlight == 3) {
            $0.inFlight = inFlight
            $0.connectionLoop = loop
        }
        try await client.wait("the reader") { $0.last("opencorenfc/kiosk-7/entrance/availability") == "online" }
        await client.stop()
        broker.kill()
        for number in 1...10 {
            let tag = TestTags.ntag213(UInt8(number))
            node.field.bring(tag)
            try await waitWhile(await node.spool.waitingCount() < 2 * number - 1)
            node.field.remove(tag)
            try await waitWhile(await node.spool.waitingCount() < 2 * number)
        }
        // The node connects again only when somebody has subscribed: what it sends before that nobody would get.
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        loop.async { gate.wait() }
        try await broker.start()
        let again = TestClient()
        try await again.connect(broker)
        gate.signal()
        try await again.wait(for: .removed, count: 10)
        let events = await again.events
        #expect(events.compactMap { $0["data"]?["sequence"]?.int } == Array(1...20))
        #expect(events.allSatisfy { $0["late"] == true })
        try await waitWhile(await node.spool.waitingCount() > 0)
        #expect(try await node.spool.waitingCount() == 0)
        await node.stop()
        loop.close()
        await again.stop()
    }

    @Test("Events while the send window is full: arrive in order", arguments: [1, 2, 5], [true, false])
    func fullWindow(inFlight: Int, isOnLoop: Bool) async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state", isOnLoop: isOnLoop) {
            $0.inFlight = inFlight
        }
        try await client.wait("the reader") { $0.last("opencorenfc/kiosk-7/entrance/availability") == "online" }
        let tags = (1...10).map { TestTags.ntag213(UInt8($0)) }
        for tag in tags { node.field.bring(tag) }
        try await client.wait(for: .tag, count: 10)
        for tag in tags { node.field.remove(tag) }
        try await client.wait(for: .removed, count: 10)
        #expect(await client.events.compactMap { $0["data"]?["sequence"]?.int } == Array(1...20))
        await node.stop()
        await client.stop()
    }

    /// Starts a broker, a client of it, and a node that has sent the events of three tags.
    private func threeTags() async throws -> (TestBroker, TestClient, TestNode, first: [JSONValue]) {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        for number in 1...3 { node.field.bring(TestTags.ntag213(UInt8(number))) }
        let first = try await client.wait(for: .tag, count: 3)
        return (broker, client, node, first)
    }

    @Test("Replay of a range of events: the same ids again, marked as late")
    func replay() async throws {
        let (broker, client, node, first) = try await threeTags()
        defer { withExtendedLifetime(broker) {} }
        try await client.wait("the position") {
            $0.last("opencorenfc/kiosk-7/entrance/position")?.contains("\"sequence\":3") == true
        }
        await client.publish("opencorenfc/kiosk-7/bridge/replay", ["reader": "entrance", "from": 2, "to": 3])
        let all = try await client.wait(for: .tag, count: 5)
        #expect(all.suffix(2).compactMap { $0["id"]?.text } == first.suffix(2).compactMap { $0["id"]?.text })
        #expect(all.suffix(2).allSatisfy { $0["late"] == true })
        await node.stop()
        await client.stop()
    }

    @Test("Topics that the access list forbids: logged once each with the MQTT user, also across a reconnection")
    func accessList() async throws {
        let acl = try folder.write("acl", "user door\ntopic read #\ntopic write opencorenfc/+/bridge/state\n")
        // Without a limit of queued messages, mosquitto 2.0.11 closes the connection when it refuses a message.
        let broker = try await TestBroker(["acl_file \(acl)", "max_queued_messages 1000"], folder: folder)
        let lines = LogLines()
        let node = try await TestNode(broker.address, folder: folder.path + "/state") {
            $0.log = lines.log
        } broker: {
            $0.user = "door"
        }
        node.field.bring(TestTags.ntag213(1))
        let words = "not-allowed The broker does not let the user door publish on opencorenfc/kiosk-7/entrance/event ("
        try await waitWhile(lines.count(words) == 0)
        broker.kill()
        try await broker.start()
        try await waitWhile(lines.count("connected ") < 2)
        try await Task.sleep(for: .milliseconds(500))
        await node.stop()
        #expect(lines.count(words) == 1)
        let refusals = lines.all("not-allowed")
        #expect(refusals.count > 1 && Set(refusals).count == refusals.count, "\(refusals)")
    }

    @Test("Replay request for an unknown reader: answered with an error event, at most ten times a minute")
    func unknownReader() async throws {
        let (broker, client, node, _) = try await threeTags()
        defer { withExtendedLifetime(broker) {} }
        for _ in 0..<15 {
            await client.publish("opencorenfc/kiosk-7/bridge/replay", ["reader": "nowhere", "from": 1, "to": 2])
        }
        await client.publish("opencorenfc/kiosk-7/bridge/replay", ["reader": "entrance", "from": 1, "to": 1])
        try await client.wait(for: .tag, count: 4)
        let errors = try await client.wait(for: .error, count: 10)
        #expect(errors.count == 10)
        let data = errors[0]["data"]
        #expect(data?["code"] == "replay-refused" && data?["reader"] == "bridge" && data?["requested"] == "nowhere")
        await node.stop()
        await client.stop()
    }

    @Test("Replay requested again and again: sends up to the limit in a minute, then answers replay-refused")
    func replayLimit() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        let state = folder.path + "/state"
        let name = FleetName(slugOf: "kiosk-7")
        do {
            // Events that were acknowledged earlier.
            let spool = try Spool(folder: state, node: name)
            let text = JSONValue.string(String(repeating: "x", count: 100_000))
            let event = FleetEvent(.tag, time: 0, ["filler": text])
            let stored = try await spool.append((0..<100).map { _ in (FleetName(slugOf: "entrance"), event) })
            try await spool.acknowledge(stored.events.map(\.place))
        }
        let node = try await TestNode(broker.address, folder: state)
        try await client.connect(broker)
        try await client.wait("the node") { $0.last("opencorenfc/kiosk-7/bridge/state") == "online" }
        let topic = "opencorenfc/kiosk-7/bridge/replay"
        for _ in 0..<10 { await client.publish(topic, ["reader": "entrance", "from": 1, "to": 100]) }
        // Not parsed while waiting, because the events are long.
        try await client.wait("the refusal") { $0.all.contains { $0.topic == "opencorenfc/kiosk-7/bridge/event" } }
        #expect(await client.last("opencorenfc/kiosk-7/bridge/event")?.contains(#""code":"replay-refused""#) == true)
        let count = await client.all.count { $0.topic == "opencorenfc/kiosk-7/entrance/event" }
        #expect((100..<200).contains(count))
        await node.stop()
        await client.stop()
    }

    @Test("Replay of another agent's stream: nothing is sent")
    func foreignStream() async throws {
        let (broker, client, node, first) = try await threeTags()
        defer { withExtendedLifetime(broker) {} }
        let topic = "opencorenfc/kiosk-7/bridge/replay"
        await client.publish(topic, ["reader": "entrance", "stream": "0123456789abcdef", "from": 1, "to": 2])
        await client.publish(topic, ["reader": "entrance", "stream": 5, "from": 1, "to": 2])
        let stream = JSONValue.string(node.spool.stream)
        await client.publish(topic, ["reader": "entrance", "stream": stream, "from": 3, "to": 3])
        let all = try await client.wait(for: .tag, count: 4)
        #expect(all.map { $0["id"] } == first.map { $0["id"] } + [first[2]["id"]])
        await node.stop()
        await client.stop()
    }

    @Test("Retained job message: ignored, so that the job is not done again at each connection")
    func retainedJob() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        func job(_ id: String) -> JSONValue {
            let deadline = Timestamp.now + 60_000
            return Job(id: id, node: FleetName(slugOf: "kiosk-7"), deadline: deadline, work: .allow(.init(.off))).json
        }
        let topic = "opencorenfc/kiosk-7/bridge/job"
        await client.publish(topic, job("kept").bytes, isRetained: true)
        try await client.wait("the job") { $0.last(topic) != nil }
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        // The agent subscribes before it says that it is online.
        try await client.wait("the node") { $0.last("opencorenfc/kiosk-7/bridge/state") == "online" }
        await client.publish(topic, job("sent"))
        let outcomes = try await client.wait(for: .outcome)
        #expect(outcomes.map { $0["data"]?["job"] } == ["sent"])
        await node.stop()
        await client.stop()
    }

    @Test("Tags that can't be read: tag-unreadable once while they stay, and again when they come back")
    func unreadable() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        let secret = [TestTags.unreadable(1), TestTags.unreadable(2)]
        for tag in secret { node.field.bring(tag) }
        let errors = try await client.wait(for: .error, count: 2)
        #expect(errors.map { $0["data"]?["code"] } == ["tag-unreadable", "tag-unreadable"])
        #expect(Set(errors.map { $0["subject"] }).count == 2)
        #expect(errors.allSatisfy { $0["subject"] == $0["data"]?["uid"] && $0["data"]?["message"]?.text != nil })
        // Tags that come later are read although these two are tried again each time.
        for number in 3...7 {
            let tag = TestTags.ntag213(UInt8(number))
            node.field.bring(tag)
            try await client.wait(for: .tag, count: number - 2)
            node.field.remove(tag)
            try await client.wait(for: .removed, count: number - 2)
        }
        #expect(try await client.wait(for: .error, count: 2).count == 2)
        node.field.remove(secret[0])
        let last = TestTags.ntag213(8)
        node.field.bring(last)
        try await client.wait(for: .tag, count: 6)
        node.field.bring(secret[0])
        let again = try await client.wait(for: .error, count: 3)
        #expect(again[2]["subject"] == errors[0]["subject"] || again[2]["subject"] == errors[1]["subject"])
        // A tag that does not let itself be read freely is known nevertheless.
        node.field.bring(TestTags.readProtected(9))
        let known = try await client.wait(for: .tag, count: 7)[6]["data"]
        #expect(known?["technology"] == "nfc-v" && known?["error"] == "read-protected")
        await node.stop()
        await client.stop()
    }

    @Test("Node with a UID hash key: events and outcomes have the hash, never the UID")
    func hashed() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let naming = try #require(TagNaming(hashKey: Array("0123456789abcdef".utf8)))
        let node = try await TestNode(broker.address, folder: folder.path + "/state") { $0.naming = naming }
        let tag = TestTags.ntag213(1)
        node.field.bring(tag)
        try await client.wait(for: .tag)
        node.field.remove(tag)
        try await client.wait(for: .removed)
        let text = await client.all.map { String(decoding: $0.payload, as: UTF8.self) }.joined()
        #expect(!text.lowercased().contains("04e15a") && !text.contains("04-E1"))
        #expect(text.contains(naming.names(of: tag.identifier).subject))
        await node.stop()
        await client.stop()
    }

    @Test("Agent that stops: a tag on its reader is reported as removed")
    func unavailable() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        node.field.bring(TestTags.ntag213(1))
        try await client.wait(for: .tag)
        await node.stop()
        // The agent's end is that of the reader too.
        let removed = try await client.wait(for: .removed)
        #expect(removed.count == 1)
        await client.stop()
    }
}
