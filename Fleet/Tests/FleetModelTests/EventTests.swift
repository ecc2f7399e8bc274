// SPDX-License-Identifier: Apache-2.0
import FleetModel
import Foundation
import NDEF
import TagProtocols
import Testing

@Suite("Events")
struct EventTests {
    let position: EventPosition

    init() throws {
        position = EventPosition(
            stream: "6f1d3c0a9be24d57",
            node: try #require(FleetName("kiosk-7")),
            reader: try #require(FleetName("entrance")),
            sequence: 42
        )
    }

    @Test("An event has the attributes of CloudEvents 1.0")
    func attributes() throws {
        let event = FleetEvent(.tag, time: 1_795_498_812_123, subject: "04", ["uid": "04"])
        let json = try JSONValue(parsing: CloudEvent.bytes(event, at: position))
        #expect(json["specversion"] == "1.0")
        #expect(json["id"] == "6f1d3c0a9be24d57.entrance.42")
        #expect(json["source"] == "/opencorenfc/kiosk-7/entrance")
        #expect(json["type"] == "org.opencorenfc.tag")
        #expect(json["subject"] == "04")
        #expect(json["time"] == "2026-11-24T05:40:12.123Z")
        #expect(json["datacontenttype"] == "application/json")
        #expect(json["sequence"] == "0000000000000000042")
        #expect(json["late"] == false)
        #expect(json["data"]?["sequence"] == 42)
        // CloudEvents 1.0, 3: names of attributes have lower-case letters and digits alone.
        for member in try #require(json.objectMembers) {
            #expect(member.name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) })
        }
    }

    @Test("Late event: differs from the event only in the member 'late'")
    func late() throws {
        let trap = #"","late":false,""#
        let event = FleetEvent(.error, time: 0, ["message": .string(trap)])
        let punctual = CloudEvent.bytes(event, at: position)
        let late = try JSONValue(parsing: CloudEvent.late(punctual))
        #expect(late["late"] == true)
        #expect(late["data"]?["message"] == .string(trap))
        let old = try JSONValue(parsing: punctual)
        for member in try #require(old.objectMembers) where member.name != "late" {
            #expect(late[member.name] == member.value)
        }
    }

    @Test("Shortened event: its message is replaced by the message's size, and every other member stays")
    func shortened() throws {
        let message = try NDEFMessage([.text("a", language: "en")]).encoded()
        let event = FleetEvent(.tag, time: 0, subject: "04", ["uid": "04", "message": MessageJSON.value(message)])
        let whole = try JSONValue(parsing: CloudEvent.bytes(event, at: position))
        let bytes = try #require(CloudEvent.shortened(CloudEvent.bytes(event, at: position)))
        let short = try JSONValue(parsing: bytes)
        #expect(short["data"]?["message"] == ["size": .integer(message.count)])
        #expect(short.objectMembers?.map(\.name) == whole.objectMembers?.map(\.name))
        #expect(short["data"]?.objectMembers?.map(\.name) == whole["data"]?.objectMembers?.map(\.name))
        for name in ["id", "time", "late"] { #expect(short[name] == whole[name]) }
        #expect(try JSONValue(parsing: CloudEvent.late(bytes))["late"] == true)
        // Neither has a content that could be left out.
        #expect(CloudEvent.shortened(bytes) == nil)
        let error = FleetEvent(.error, time: 0, ["message": "The reader is gone."])
        #expect(CloudEvent.shortened(CloudEvent.bytes(error, at: position)) == nil)
    }

    @Test("Sequence number as text: sorts like the number")
    func sortable() {
        let numbers: [Int64] = [1, 9, 10, 99, 100, 1 << 40, Int64.max]
        #expect(numbers.map(CloudEvent.sortable).sorted() == numbers.map(CloudEvent.sortable))
    }

    @Test("Text of a tag: kept in the JSON, with invisible characters escaped")
    func hostileText() throws {
        let text = "a\u{1B}[31m\u{202E}\"\\\n\u{200B}ä🏷\u{E0001}"
        let message = try NDEFMessage([.text(text, language: "en")]).encoded()
        let json = JSONValue.object([.init("message", MessageJSON.value(message))])
        let bytes = json.bytes
        #expect(try JSONValue(parsing: bytes)["message"]?["records"]?.elements?[0]["decoded"]?["text"] == .string(text))
        #expect(bytes.allSatisfy { $0 >= 0x20 })
        #expect(!json.line.unicodeScalars.contains("\u{202E}"))
    }

    @Test("Message in an event: invalid bytes have an error code; more than 8 KiB are replaced by their size")
    func brokenMessages() throws {
        #expect(MessageJSON.value([0xD1, 0x01])["error"] == "truncated-header")
        #expect(MessageJSON.value([0xD1, 0x01])["hex"] == "d101")
        #expect(MessageJSON.value(Array(repeating: 0, count: 8193)) == ["size": 8193])
        // 8 KiB are not too long yet.
        let whole = try NDEFMessage([.media(type: "a/b", payload: [UInt8](repeating: 7, count: 8192 - 9))]).encoded()
        #expect(whole.count == 8192)
        #expect(MessageJSON.value(whole)["hex"] == .string(Hex.text(whole)))
        #expect(MessageJSON.value(whole)["records"]?.elements?.count == 1)
    }

    @Test("Message of random bytes in an event: always gives valid JSON")
    func fuzz() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let count = Int.random(in: 0..<64, using: &generator)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...0xFF, using: &generator) }
            if !bytes.isEmpty, Bool.random() { bytes[0] = 0xD1 }
            let value = MessageJSON.value(bytes)
            #expect(try JSONValue(parsing: value.bytes)["hex"] == .string(Hex.text(bytes)))
        }
    }

    @Test("Timestamps: the same as Foundation's, written and read; invalid ones are refused")
    func times() throws {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        for _ in 0..<1000 {
            let time = Int64.random(in: -10_000_000_000_000...200_000_000_000_000)
            let text = Timestamp.text(time)
            #expect(Timestamp.milliseconds(text) == time)
            let date = try #require(formatter.date(from: text))
            #expect(Int64((date.timeIntervalSince1970 * 1000).rounded()) == time)
        }
        #expect(Timestamp.milliseconds("2026-11-24T06:00:00Z") == 1_795_500_000_000)
        for wrong in [
            "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-11-24T06:00:00", "2026-11-24 06:00:00Z", "",
        ] {
            #expect(Timestamp.milliseconds(wrong) == nil)
        }
    }

    @Test(
        "Timestamp: a fraction of a second may have one to nine digits",
        arguments: [(".5", 500), (".25", 250), (".04", 40), (".123456789", 123), (".0", 0)] as [(String, Int64)]
    )
    func fractions(_ fraction: String, _ milliseconds: Int64) {
        #expect(Timestamp.milliseconds("2026-11-24T06:00:00\(fraction)Z") == 1_795_500_000_000 + milliseconds)
    }

    @Test("Hashed UID: the HMAC-SHA256 of the UID, and no member has the UID")
    func hashing() throws {
        let naming = try #require(TagNaming(hashKey: Array("0123456789abcdef".utf8)))
        let uid: [UInt8] = [0x04, 0x68, 0x95, 0x71, 0xFA, 0x5C, 0x64]
        let names = naming.names(of: uid)
        // printf '\x04\x68\x95\x71\xfa\x5c\x64' | openssl dgst -sha256 -hmac 0123456789abcdef
        #expect(names.subject == Self.expectedHash)
        #expect(names.tagID == String(Self.expectedHash.prefix(32)))
        #expect(!names.members.contains { $0.name == "uid" })
        #expect(TagNaming(hashKey: Array("short".utf8)) == nil)
    }

    private static let expectedHash = "f3f295d47cdc455419527065d1fcae431e86e905a22c4f0df5c7d919296ec98e"
}
