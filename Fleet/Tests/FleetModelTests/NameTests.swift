// SPDX-License-Identifier: Apache-2.0
import FleetModel
import Testing

@Suite("Names and topics")
struct NameTests {
    @Test(
        "Name with a character that is special in topics, or not allowed: refused",
        arguments: ["", "a/b", "+", "#", "a#", "a b", "a\n", "ä", "a.b", "\u{0}"]
    )
    func refused(_ text: String) {
        #expect(FleetName(text) == nil)
    }

    @Test("A name has at most 64 characters")
    func length() {
        #expect(FleetName(String(repeating: "a", count: 64)) != nil)
        #expect(FleetName(String(repeating: "a", count: 65)) == nil)
    }

    @Test(
        "Name from any text: lower-case ASCII letters, digits and dashes, never empty and never bridge",
        arguments: [
            ("ACS ACR122U PICC Interface 00 00", "acs-acr122u-picc-interface-00-00"),
            ("pn532:/dev/ttyUSB0", "pn532-dev-ttyusb0"),
            ("bridge", "reader"), ("///", "reader"), ("Ünïcode", "n-code"), ("a-b", "a-b"),
        ]
    )
    func slug(_ text: String, _ expected: String) {
        #expect(FleetName(slugOf: text).text == expected)
        #expect(FleetName(FleetName(slugOf: text).text) != nil)
    }

    @Test("Topic: parsed into node, reader and leaf; other topics and roots are refused")
    func roundTrip() throws {
        let node = try #require(FleetName("kiosk-7"))
        let reader = try #require(FleetName("entrance"))
        let topics = try #require(FleetTopics(root: "museum/nfc"))
        let place = try #require(topics.place(of: topics.event(node, reader)))
        #expect(place.node == node && place.reader == reader && place.leaf == "event")
        #expect(topics.place(of: topics.job(node))?.reader == .bridge)
        #expect(topics.place(of: "museum/nfc/kiosk-7/entrance/event/more") == nil)
        #expect(topics.place(of: "museum/other/kiosk-7/entrance/event") == nil)
        #expect(FleetTopics(root: "a/+") == nil)
        #expect(FleetTopics(root: "") == nil)
    }

    @Test("A long text becomes a name of 64 characters at most, without a dash at its end")
    func longSlug() {
        #expect(FleetName(slugOf: String(repeating: "a", count: 65)).text == String(repeating: "a", count: 64))
        let cut = String(repeating: "a", count: 63) + " b"
        #expect(FleetName(slugOf: cut).text == String(repeating: "a", count: 63))
        #expect(FleetName(slugOf: "a_b").text == "a_b")
    }

    @Test("Topic filter: of all nodes, or of one node")
    func filters() throws {
        #expect(FleetTopics.usual.filter("event") == "opencorenfc/+/+/event")
        #expect(FleetTopics.usual.filter("event", node: FleetName("kiosk-7")) == "opencorenfc/kiosk-7/+/event")
    }

    @Test("Topics: the root has 128 bytes at most; a topic without a valid node and reader is refused")
    func limits() throws {
        let level = String(repeating: "a", count: 63)
        #expect(FleetTopics(root: "\(level)/\(level)a") != nil)
        #expect(FleetTopics(root: "\(level)/\(level)/a") == nil)
        for topic in ["opencorenfc/a/event", "opencorenfc/a b/c/event", "opencorenfc/a/+/event", "opencorenfca/b/c"] {
            #expect(FleetTopics.usual.place(of: topic) == nil, "\(topic)")
        }
    }
}
