// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// What people read of a tag on a reader, which tells less than an image, and what the sheet says.
@Suite(.ownThreads) struct `What nfc tag says of a tag on a reader` {
    private let images: Images

    init() throws {
        images = try Images()
    }

    /// The tool with an image near the virtual reader.
    private func nfc(near tag: String, sheet: String = "none") -> Command {
        Command(name: "nfc", environment: ["NFC_READER": "virtual", "NFC_TAGS": tag, "NFC_SHEET": sheet])
    }

    @Test func `Of a Type 5 tag there are its maker, its system information and its signature`() throws {
        let tag = Images.dump("slix2-every-password.nfc")
        #expect(
            try nfc(near: tag).run("tag", "info").output == """
                Product    ICODE SLIX2, Type 5
                UID        e004010811223344
                Maker      NXP
                Memory     80 blocks of 4 bytes
                Locks      block 0 is read-only
                AFI        21
                DSFID      05
                IC         reference 01
                Counter    300
                Signature  000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
                CC         e1402701
                Can be written, holds up to 308 bytes
                No message

                """
        )
    }

    @Test func `Of a Type 5 tag without system information there is the size of its blocks`() throws {
        let head = #"{"opencorenfc_recording":1,"reader":"R","kind":"field","technologies":["nfc-v"],"#
        var lines = [
            head + #""maximum_frame_length":256,"tells_presence":true}"#, #"{"us":0,"do":"field-on"}"#,
            #"{"us":0,"done":true}"#,
        ]
        // Several blocks at once and the system information are refused.
        let exchanges = [
            ("260100", "0000e3603a12430f76e0"), ("02230003", "0110"), ("022000", "00e14002010300fe000000000000000000"),
            ("022b", "0101"), ("023b04", "0101"), ("022b", "0101"), ("023b0f", "0101"),
        ]
        for (index, (command, answer)) in exchanges.enumerated() {
            let number = #""n":\#(index + 1),"us":0"#
            let technology = #""technology":"nfc-v","hex":"\#(command)","timeout_us":1000"#
            lines.append(#"{\#(number),"do":"send",\#(technology)}"#)
            lines.append(#"{\#(number),"got":"\#(answer)"}"#)
            guard index == 0 else { continue }
            lines.append(#"{"us":0,"do":"arrival","uid":"e0760f43123a60e3","number":1}"#)
            lines.append(#"{"us":0,"do":"is-still-near","uid":"e0760f43123a60e3"}"#)
            lines.append(#"{"us":0,"present":true}"#)
        }
        lines += [#"{"us":0,"do":"field-off"}"#, #"{"us":0,"done":true}"#]
        let file = images.folder.path("recording.jsonl")
        try lines.map { $0 + "\n" }.joined().write(toFile: file, atomically: true, encoding: .utf8)
        let replay = Command(name: "nfc", environment: ["NFC_SHEET": "none"])
        let text = try replay.run("tag", "info", "--reader", "replay:" + file)
        #expect(
            text.output == """
                Product    not known, Type 5
                UID        e0760f43123a60e3
                Memory     blocks of 16 bytes
                CC         e1400201
                Can be written, holds up to 14 bytes
                No message

                """,
            "\(text)"
        )
        let object = try replay.object("tag", "info", "--reader", "replay:" + file)
        #expect(object["block_size"] as? Int == 16 && object["blocks"] == nil && object["memory_size"] == nil)
    }

    @Test func `Of a Type 3 tag there is its system, and of a Type B card its activation`() throws {
        let felica = try nfc(near: Images.dump("felica-standard.nfc")).run("tag", "info")
        #expect(
            felica.output == """
                Product    FeliCa Standard, Type 3
                UID        012e3d123456789a
                PMm        100b4b428485d0ff
                System     0003
                Not formatted for messages
                The tag does not answer to polling for system 12FC (NFC Forum T3T 1.0, 6.4.1).

                """
        )
        let card = try nfc(near: images.blank("generic Type 4B", uid: "1a4180e7", format: "json")).run("tag", "info")
        #expect(
            card.output == """
                Product    not known, Type 4
                UID        1a4180e7
                ATQB       application data 00000000, protocol 008171
                Files      e104 with 1024 bytes (reading free, writing free)
                Can be written, holds up to 1022 bytes
                No message

                """
        )
    }

    @Test(arguments: [("0000", "free"), ("00ff", "closed"), ("0081", "by rule 81")])
    func `A card's file is written freely, by a rule or by nobody`(access: String, words: String) throws {
        let path = try images.blank("generic Type 4", uid: "0451e3f45e0456", format: "json")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let container = "000f2000ff00ff0406e1040400"
        try #require(text.contains(container + "0000"))
        try text.replacing(container + "0000", with: container + access)
            .write(toFile: path, atomically: true, encoding: .utf8)
        let lines = try nfc(near: path).run("tag", "info").lines
        let status = words == "free" ? "Can be written" : "Read-only"
        #expect(
            lines == [
                "Product    not known, Type 4", "UID        0451e3f45e0456", "Answers    ATQA 0344, SAK 20",
                "ATS        0578807002", "Files      e104 with 1024 bytes (reading free, writing \(words))",
                "\(status), holds up to 1022 bytes", "No message",
            ]
        )
    }

    @Test func `Of a card of which only the version is known there is the version`() throws {
        let lines = try nfc(near: Images.dump("mifare-plus.nfc")).run("tag", "info").lines
        #expect(lines.contains("ATS        0c75778002c105213000f6d1"), "\(lines)")
        #expect(lines.contains("Version    040201220016040402010202160404112233445566cf39d449803420"), "\(lines)")
        #expect(!lines.contains { $0.hasPrefix("Files") })
    }

    @Test func `Locks of a memory that can't be read are not known`() throws {
        let path = try images.blank("NTAG213", format: "json")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let guarded = text.replacing("bd040000ff00000000ffffffff", with: "bd0400000480000000ffffffff")
        try #require(guarded != text)
        try guarded.write(toFile: path, atomically: true, encoding: .utf8)
        let lines = try nfc(near: path).run("tag", "info").lines
        #expect(lines.contains("Locks      not known: a part of the memory can't be read"), "\(lines)")
        #expect(lines.contains("Version    0004040201000f03") && lines.contains("Signature  none"), "\(lines)")
        #expect(!lines.contains { $0.hasPrefix("CC ") || $0.hasPrefix("Password ") || $0.hasPrefix("Counters ") })
    }

    @Test func `A reader that hides its frames has no airtime`() throws {
        let file = images.folder.path("recording.jsonl")
        try Recordings.withoutUID.write(toFile: file, atomically: true, encoding: .utf8)
        let replay = Command(name: "nfc", environment: ["NFC_SHEET": "none"])
        let text = try replay.run("tag", "read", "--reader", "replay:" + file)
        #expect(text.status == 1)
        #expect(
            text.output == """
                MIFARE Classic 1K, UID not known: the reader does not report it
                Not formatted for messages
                This reader does not report airtime

                """
        )
        let json = try replay.run("tag", "read", "--reader", "replay:" + file, "--json")
        #expect(json.status == 1)
        let members = #"""
            "tag_type":null,"product":"MIFARE Classic 1K","uid":null,"status":"not-ndef","capacity":null,\#
            "message_hex":null,"exchanges":null,"bytes_on_air":null,"airtime_us":null,"tag_work_us":null,\#
            "activation_us":null,"records":null}
            """#
        #expect(json.output.hasSuffix("," + members + "\n"), "\(json)")
        let info = try replay.run("tag", "info", "--reader", "replay:" + file, "--json")
        let start = #"{"ok":true,"tag_type":null,"product":"MIFARE Classic 1K","uid":null,"status":"not-ndef","#
        #expect(info.status == 0 && info.output.hasPrefix(start), "\(info)")
    }

    @Test func `A scan has the records of a message, none of an empty tag, and null where there is no message`() throws
    {
        let tag = #""tag_type":2,"product":null,"uid":"04a1b2c3d4e580","status""#
        let blank = try images.blank("NTAG213", format: "json")
        let nfc = Command(name: "nfc", environment: ["NFC_SHEET": "none"])
        let empty = try nfc.run("scan", "--tags", blank, "--json")
        let state = #":"read-write","capacity":137,"message_hex":"#
        #expect(empty.output == #"{"ok":true,\#(tag)\#(state)"","records":[]}"# + "\n", "\(empty)")
        #expect(try nfc.run("tag", "write", "--image", blank, "a:b").status == 0)
        let link = try nfc.run("scan", "--tags", blank, "--json")
        let record = #"{"tnf":1,"type_hex":"55","id_hex":"","payload_hex":"00613a62","#
        let content = #""decoded":{"kind":"uri","uri":"a:b","prefix":0}}"#
        let message = #""d101045500613a62","records":[\#(record)\#(content)]}"#
        #expect(link.output == #"{"ok":true,\#(tag)\#(state)\#(message)"# + "\n", "\(link)")
        let text = try String(contentsOfFile: blank, encoding: .utf8)
        try text.replacing("e1101200", with: "00000000").write(toFile: blank, atomically: true, encoding: .utf8)
        let unknown = try nfc.run("scan", "--tags", blank, "--json")
        let members = #"\#(tag):"not-ndef","capacity":null,"message_hex":null,"records":null}"#
        #expect(unknown.status == 1 && unknown.output.hasSuffix(",\(members)\n"), "\(unknown)")
    }

    @Test func `The sheet says what a write did`() throws {
        let tag = try images.blank("NTAG213", format: "json")
        let prompt = "Hold the tag to write near the reader."
        var writing = nfc(near: tag, sheet: "text")
        writing.environment["NFC_TAGS_SAVE"] = "1"
        for (words, last, status) in [
            (["https://a.example"], "[Done] The message is written.", Int32(0)),
            (["https://a.example", "--lock"], "[Done] The message is written, and the tag locked.", Int32(0)),
            (["d:x"], "[Failed] The tag's capability container forbids writing (NFC Forum T2T 1.2, 4.5).", Int32(1)),
        ] {
            let outcome = try writing.run(["tag", "write"] + words)
            #expect(outcome.status == status)
            #expect(outcome.error.hasPrefix("[Ready to Scan] \(prompt)\n[Scanning] \(prompt)\n"), "\(outcome)")
            #expect(outcome.error.contains(last + "\n"), "\(outcome)")
        }
        let text = try writing.run("tag", "write", "d:x").output
        let cost = "1 exchange, 22 bytes, 2061 us on the air, after 4423 us of activation"
        #expect(text.hasPrefix("NTAG213, Type 2, UID 04a1b2c3d4e580\nRead-only, holds up to 137 bytes\n"), "\(text)")
        #expect(text.hasSuffix("     https://a.example\n\(cost)\n"), "\(text)")
        let refused = try writing.run("tag", "write", "d:x", "--json")
        #expect(
            refused.output == #"""
                {"ok":false,"error":"read-only","message":"The tag's capability container forbids writing (NFC Forum \#
                T2T 1.2, 4.5). Use another tag.","tag_type":2,"product":"NTAG213","uid":"04a1b2c3d4e580",\#
                "status":"read-only","capacity":137,"message_hex":"d1010a5504612e6578616d706c65","exchanges":1,\#
                "bytes_on_air":22,"airtime_us":2061,"tag_work_us":0,"activation_us":4423,"records":[{"tnf":1,\#
                "type_hex":"55","id_hex":"","payload_hex":"04612e6578616d706c65","decoded":{"kind":"uri",\#
                "uri":"https://a.example","prefix":4}}]}

                """#
        )
    }
}
