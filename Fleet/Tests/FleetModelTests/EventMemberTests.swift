// SPDX-License-Identifier: Apache-2.0
import FleetModel
import NDEF
import TagLink
import TagProtocols
import Testing

@Suite("The members of events")
struct EventMemberTests {
    let entrance = FleetName(slugOf: "entrance")

    @Test("Tag event: has a member for each part that was read, and no other member")
    func report() throws {
        let message = try NDEFMessage([.uri("https://example.com")]).encoded()
        let full = TagReport(
            identifier: [4],
            technology: .nfcV,
            type: .type5,
            product: "ICODE SLIX2",
            ndefStatus: NDEFStatusReport(
                detection: NDEFDetection(access: .readOnly, capacity: 316, messageLength: message.count),
                message: message
            )
        )
        let whole: JSONValue = [
            "technology": "nfc-v", "tag_type": 5, "product": "ICODE SLIX2", "status": "read-only",
            "capacity": 316, "message": MessageJSON.value(message),
        ]
        #expect(JSONValue.object(full.members) == whole)
        let bare = TagReport(
            identifier: [4],
            technology: .nfcF,
            ndefStatus: NDEFStatusReport(message: [], error: TagError(.unsupported, "It holds no NDEF."))
        )
        let little: JSONValue = ["technology": "nfc-f", "status": "not-ndef", "error": "unsupported"]
        #expect(JSONValue.object(bare.members) == little)
        #expect(TagReport(identifier: [4], technology: .nfcB).members.first?.value == "nfc-b")
    }

    @Test("Message in an event: each kind of record is decoded")
    func records() throws {
        let message = NDEFMessage([
            try .uri("https://example.com/a", identifier: [0x78]), try .text("Zimmer", language: "de"),
            .media(type: "text/vcard", payload: [1]), .external(type: "example.com:a", payload: [2]),
            .absoluteURI("https://example.com/b"), .androidApplication(package: "com.example.app"),
        ])
        let records = MessageJSON.value(try message.encoded())["records"]?.elements ?? []
        let decoded: [JSONValue?] = [
            ["kind": "uri", "uri": "https://example.com/a", "prefix": 4],
            ["kind": "text", "text": "Zimmer", "language": "de", "encoding": "UTF-8"],
        ]
        #expect(records.prefix(2).map { $0["decoded"] } == decoded)
        #expect(records.dropFirst(2).first?["decoded"]?["type"] == "text/vcard")
        #expect(records.dropFirst(3).first?["decoded"]?["type"] == "example.com:a")
        #expect(records.dropFirst(4).first?["decoded"]?["uri"] == "https://example.com/b")
        #expect(records.last?["decoded"]?["package"] == "com.example.app")
        #expect(records.first?["tnf"] == 1 && records.first?["type_hex"] == "55" && records.first?["id_hex"] == "78")
        #expect(records.dropFirst(3).first?["payload_hex"] == "02" && records.dropFirst(3).first?["tnf"] == 4)
        #expect(MessageJSON.firstURI(try message.encoded()) == "https://example.com/a")
    }

    @Test("Outcome event: has a member for each known part of the outcome, and no other member")
    func outcome() {
        var outcome = JobOutcome(.tagLost, job: "j1", kind: "write")
        outcome.reader = entrance
        outcome.uid = [4, 5]
        outcome.tagState = .uncertain
        outcome.serial = 7
        outcome.code = .cancelled
        outcome.message = "It left."
        let event = outcome.event(TagNaming(), time: 1000, isRepeated: true)
        #expect(event.kind == .outcome && event.time == 1000 && event.subject == "0405")
        // What Home Assistant calls the tag is not in it: the job may have changed it.
        let members: JSONValue = [
            "job": "j1", "kind": "write", "outcome": "tag-lost", "at": "entrance", "uid": "0405",
            "tag_state": "uncertain", "serial": 7, "code": "cancelled", "message": "It left.", "repeated": true,
        ]
        #expect(JSONValue.object(event.members) == members)
        let short = JobOutcome(.done, job: nil).event(TagNaming(), time: 0)
        let few: JSONValue = ["outcome": "done", "repeated": false]
        #expect(JSONValue.object(short.members) == few)
        #expect(short.subject == nil)
    }

    @Test(
        "Timestamp that does not exist, or has another form: refused",
        arguments: [
            "2026-11-24T24:00:00Z", "2026-11-24T06:60:00Z", "2026-11-24T06:00:61Z", "2026-11-00T06:00:00Z",
            "2026-00-24T06:00:00Z", "2026-04-31T06:00:00Z", "2100-02-29T06:00:00Z", "2026-11-24T06:00:00.Z",
            "2026-11-24T06:00:00,5Z", "2026-11-24T06:00:00.1234567890Z", "2026-11-24T06:00:00.5xZ",
            "2026/11-24T06:00:00Z", "2026-11/24T06:00:00Z", "2026-11-24T06.00:00Z", "2026-11-24T06:00.00Z",
            "2026-11-24T06:00:00+", "2026-11-24T06:00:00.5", "+026-11-24T06:00:00Z",
        ]
    )
    func wrongTimes(_ text: String) {
        #expect(Timestamp.milliseconds(text) == nil)
    }

    @Test("Timestamps at the ends of days, months and leap years: read")
    func lastTimes() {
        for text in ["2024-02-29T23:59:59.999Z", "2000-02-29T00:00:00.000Z", "2026-04-30T00:00:00.000Z"] {
            #expect(Timestamp.milliseconds(text).map(Timestamp.text) == text)
        }
        #expect(Timestamp.milliseconds("2026-12-31T23:59:60Z") == Timestamp.milliseconds("2027-01-01T00:00:00Z"))
    }

    @Test("Message template: placeholders in a text are filled in, raw bytes stay as they are")
    func templates() throws {
        var values = MessageTemplate.Values(serial: 17, uid: [4, 0xAB], node: FleetName(slugOf: "n"), reader: entrance)
        let text = MessageTemplate.text("{serial} {uid} {node} {reader}", language: "de")
        let filled = NDEFMessage([try .text("17 04ab n entrance", language: "de")])
        #expect(try text.message(values) == filled.encoded())
        #expect(text.needsSerial && !MessageTemplate.text("{uid}", language: "de").needsSerial)
        values.serial = nil
        let unfilled = NDEFMessage([try .text("{serial} 04ab n entrance", language: "de")])
        #expect(try text.message(values) == unfilled.encoded())
        #expect(try MessageTemplate.bytes([0xD0, 0, 0]).message(values) == [0xD0, 0, 0])
        #expect(!MessageTemplate.bytes(Array("{serial}".utf8)).needsSerial)
    }

    @Test("Base64URL: without padding, and characters of plain Base64 are refused")
    func base64() {
        for count in 0...6 {
            let bytes = [UInt8](repeating: 0xFB, count: count)
            let text = Base64URL.text(bytes)
            #expect(Base64URL.bytes(text) == bytes)
            #expect(!text.contains { "+/=".contains($0) })
        }
        for text in ["-w==", "+w", "/w"] { #expect(Base64URL.bytes(text) == nil, "\(text)") }
    }
}
