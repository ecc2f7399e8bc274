// SPDX-License-Identifier: Apache-2.0
import FleetModel
import NDEF
import Testing

@Suite("Home Assistant")
struct HomeAssistantTests {
    @Test("Home Assistant tag id: the one in the tag's Home Assistant link, else the UID with dashes")
    func identifiers() throws {
        let uid: [UInt8] = [0x04, 0xE1, 0x5A]
        let naming = TagNaming()
        #expect(naming.names(of: uid).tagID == "04-E1-5A")
        let linked = try NDEFMessage([.uri("https://www.home-assistant.io/tag/5f0ba733-172f")]).encoded()
        #expect(naming.names(of: uid, message: linked).tagID == "5f0ba733-172f")
        let other = try NDEFMessage([.uri("https://example.com/tag/5f0ba733")]).encoded()
        #expect(naming.names(of: uid, message: other).tagID == "04-E1-5A")
    }

    @Test(
        "Home Assistant link: a query, fragment or path behind the id is ignored",
        arguments: ["?source=a", "#part", "/", "/more"]
    )
    func longerLinks(_ rest: String) {
        #expect(HomeAssistantTag.id(in: "https://www.home-assistant.io/tag/5f0ba733-172f\(rest)") == "5f0ba733-172f")
        #expect(HomeAssistantTag.id(in: "https://home-assistant.io/tag/5f0ba733-172f\(rest)") == "5f0ba733-172f")
    }

    @Test(
        "Home Assistant link with an empty, long or unsafe id: no id",
        arguments: ["", "a b", "{{x}}", "a\"b", String(repeating: "a", count: 129)]
    )
    func wrongIdentifiers(_ id: String) {
        #expect(HomeAssistantTag.id(in: "https://www.home-assistant.io/tag/\(id)") == nil)
    }

    @Test(
        "Home Assistant link with the form of a UID or a hash: not used as the tag id",
        arguments: [
            "04-E1-5A-01-71-FA-80", "04-e1-5a-01-71-fa-80", "04:E1:5A:01", "04e15a0171fa80", "04%2DE1%2D5A%2D01",
            "0123456789abcdef0123456789abcdef",
        ]
    )
    func claimedIdentifiers(_ id: String) throws {
        let linked = try NDEFMessage([.uri("https://www.home-assistant.io/tag/\(id)")]).encoded()
        #expect(TagNaming().names(of: [4, 2, 3, 4], message: linked).tagID == "04-02-03-04")
        #expect(
            HomeAssistantTag.id(in: "https://www.home-assistant.io/tag/0b9a7cc8-8ad8-4d3f-a0d4-59f2b4d3a111") != nil
        )
    }

    @Test("Home Assistant discovery of a reader: the members of the schemas of tag and binary_sensor, and no others")
    func documents() throws {
        let node = try #require(FleetName("kiosk-7"))
        let reader = try #require(FleetName("entrance"))
        let discovery = HomeAssistantDiscovery(prefix: "homeassistant", topics: .usual, node: node, version: "1")
        let documents = discovery.documents(reader: reader, model: "PC/SC")
        #expect(
            documents.map(\.topic) == [
                "homeassistant/tag/kiosk-7/entrance/config", "homeassistant/binary_sensor/kiosk-7/entrance/config",
                "homeassistant/sensor/kiosk-7/entrance/config",
            ]
        )
        // home-assistant.io/integrations/tag.mqtt and binary_sensor.mqtt.
        let tag = documents[0].payload
        #expect(Set((tag.objectMembers ?? []).map(\.name)) == ["topic", "value_template", "device"])
        #expect(tag["topic"] == "opencorenfc/kiosk-7/entrance/event")
        let allowed: Set<String> = ["identifiers", "name", "manufacturer", "model", "sw_version"]
        #expect(Set((tag["device"]?.objectMembers ?? []).map(\.name)) == allowed)
        let sensor = documents[1].payload
        #expect(sensor["device_class"] == "connectivity")
        #expect(sensor["state_topic"] == "opencorenfc/kiosk-7/entrance/availability")
        #expect(sensor["availability_topic"] == "opencorenfc/kiosk-7/bridge/state")
        #expect(sensor["device"] == tag["device"])
        #expect(discovery.birthTopic == "homeassistant/status")
    }

    @Test("Home Assistant tag id: up to 128 characters that need no escape")
    func allowedIdentifiers() {
        for id in [String(repeating: "a", count: 128), "Az09-._~%20"] {
            #expect(HomeAssistantTag.id(in: "https://www.home-assistant.io/tag/\(id)") == id)
        }
    }

    @Test("Home Assistant link to none, unknown or unavailable: not used as the tag id")
    func absences() {
        for id in ["None", "none", "NONE", "unknown", "unavailable", "%4Eone"] {
            #expect(HomeAssistantTag.id(in: "https://www.home-assistant.io/tag/\(id)") == nil, "\(id)")
        }
        #expect(HomeAssistantTag.id(in: "https://www.home-assistant.io/tag/none-1") == "none-1")
    }

    @Test("Home Assistant discovery: connectivity sensors of node and reader use the payloads online and offline")
    func connectivity() throws {
        let (node, reader) = (FleetName(slugOf: "kiosk-7"), FleetName(slugOf: "entrance"))
        let discovery = HomeAssistantDiscovery(prefix: "ha", topics: .usual, node: node, version: "1")
        let document = try #require(discovery.nodeDocuments.first)
        #expect(document.topic == "ha/binary_sensor/kiosk-7/config")
        let expected: JSONValue = [
            "name": "Agent", "unique_id": "opencorenfc/kiosk-7", "state_topic": "opencorenfc/kiosk-7/bridge/state",
            "payload_on": "online", "payload_off": "offline", "device_class": "connectivity",
            "entity_category": "diagnostic",
            "device": [
                "identifiers": ["opencorenfc/kiosk-7"], "name": "kiosk-7", "manufacturer": "OpenCoreNFC",
                "model": "nfc-agent", "sw_version": "1",
            ],
        ]
        #expect(document.payload == expected)
        let sensor = try #require(discovery.documents(reader: reader, model: "PN532").dropFirst().first).payload
        for (name, value) in [
            ("payload_on", "online"), ("payload_off", "offline"), ("payload_available", "online"),
            ("payload_not_available", "offline"), ("unique_id", "opencorenfc/kiosk-7/entrance"),
        ] {
            #expect(sensor[name]?.text == value)
        }
        #expect(sensor["device"]?["name"] == "kiosk-7 entrance" && sensor["device"]?["model"] == "PN532")
    }

    @Test("Home Assistant discovery: reader c of node a_b and reader b_c of node a have different topics and ids")
    func unique() throws {
        let (a, ab) = (try #require(FleetName("a")), try #require(FleetName("a_b")))
        let (c, bc) = (try #require(FleetName("c")), try #require(FleetName("b_c")))
        let one = HomeAssistantDiscovery(prefix: "h", topics: .usual, node: ab, version: "1").documents(
            reader: c,
            model: ""
        )
        let two = HomeAssistantDiscovery(prefix: "h", topics: .usual, node: a, version: "1").documents(
            reader: bc,
            model: ""
        )
        #expect(one[1].topic != two[1].topic)
        #expect(one[1].payload["unique_id"] != two[1].payload["unique_id"])
    }
}
