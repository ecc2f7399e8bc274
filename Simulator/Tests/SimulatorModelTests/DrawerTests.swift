// SPDX-License-Identifier: Apache-2.0
import Foundation
import NDEF
import SimulatorModel
import TagImages
import Testing
import VirtualTags

@Suite struct DrawerTests {
    @Test("A new tag holds the link, text, contact or network that it was made with")
    func newTags() throws {
        let bench = Bench()
        let link = try bench.add(["product": "NTAG213", "name": "Link", "link": "https://example.com/a"])
        let text = try bench.add(["product": "NTAG215", "text": ["text": "Hallo", "language": "de"]])
        let contact = try bench.add(["product": "NTAG216", "contact": ["name": "A; B", "phone": "1"]])
        let network = try bench.add(["product": "ICODE SLIX2", "wifi": ["ssid": "Guests", "key": "correct horse"]])
        #expect(try bench.tag(link)["message"]?.array?.first?["text"]?.string == "https://example.com/a")
        #expect(try bench.tag(text)["message"]?.array?.first?["title"]?.string == "Text, de")
        #expect(try bench.tag(text)["message"]?.array?.first?["text"]?.string == "Hallo")
        #expect(try bench.tag(contact)["message"]?.array?.first?["text"]?.string?.contains("FN:A\\; B") == true)
        #expect(try bench.tag(network)["message"]?.array?.first?["text"]?.string == "Guests")
        #expect(try bench.tag(link)["used"]?.int == 18)
        #expect(try bench.tag(link)["capacity"]?.int == 137)
    }

    @Test("New tag of every product: a UID, and its whole memory in regions", arguments: TagProduct.all.map(\.name))
    func products(_ name: String) throws {
        let bench = Bench()
        let tag = try bench.tag(try bench.add(["product": .string(name)]))
        #expect(tag["near"] == false)
        #expect(try #require(tag["uid"]?.string).utf8.count >= 8)
        let memory = try bench.act(["do": "memory", "tag": try #require(tag["id"])])
        let regions = try #require(memory["regions"]?.array)
        #expect(!regions.isEmpty)
        #expect(regions.allSatisfy { $0["bytes"]?.string?.utf8.count == 2 * ($0["length"]?.int ?? -1) })
    }

    @Test("New travel document: made from its machine readable zone")
    func document() throws {
        let bench = Bench()
        let zone = """
            P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<
            L898902C36UTO7408122F1204159ZE184226B<<<<<10
            """
        let tag = try bench.tag(try bench.add(["mrz": .string(zone), "name": "Passport"]))
        #expect(tag["product"] == "eMRTD")
        let wrong = bench.refusal(["do": "new_tag", "mrz": .string(zone.replacingOccurrences(of: "10", with: "11"))])
        #expect(wrong?.code == "bad-mrz")
    }

    @Test("A message that is too long for its tag is refused, and the tag stays as it was")
    func tooLong() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "link": "https://example.com"])
        let long = JSON.string(String(repeating: "a", count: 200))
        let refusal = try #require(bench.refusal(["do": "edit_message", "tag": .string(id), "text": long]))
        #expect(refusal.code == "message-too-long")
        #expect(try bench.tag(id)["message"]?.array?.first?["text"]?.string == "https://example.com")
    }

    @Test("A locked tag can't be edited, and an erased one can")
    func locking() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "link": "https://example.com"])
        let uid = try bench.tag(id)["uid"]
        try bench.act(["do": "lock_tag", "tag": .string(id)])
        #expect(try bench.tag(id)["status"] == "read-only")
        #expect(bench.refusal(["do": "edit_message", "tag": .string(id), "text": "x"])?.code == "read-only")
        try bench.act(["do": "erase", "tag": .string(id)])
        let erased = try bench.tag(id)
        #expect(erased["status"] == "read-write")
        #expect(erased["message_hex"] == "")
        #expect(erased["uid"] == uid)
    }

    @Test("Tag of each kind: what its menu allows is not refused, and what it refuses has a reason")
    func allowed() throws {
        let bench = Bench()
        bench.simulator.addStarterSet()
        for tag in try #require(try bench.act(["do": "list"])["tags"]?.array) {
            let id = tag["id"] ?? .null
            for (name, action) in [("lock", "lock_tag"), ("erase", "erase")] {
                let copy = try #require(try bench.act(["do": "duplicate", "tag": id])["tag"])
                let refusal = bench.refusal(["do": .string(action), "tag": copy])
                let isAllowed = tag["can"]?[name]?["reason"] == nil
                #expect((refusal == nil) == isAllowed, "\(name) of \(tag["name"]?.string ?? "")")
            }
        }
    }

    @Test("Undo of a deletion: the tag is in its old position")
    func undo() throws {
        let bench = Bench()
        let ids = try ["A", "B", "C"].map { try bench.add(["product": "NTAG213", "name": .string($0)]) }
        try bench.act(["do": "delete", "tag": .string(ids[1])])
        #expect(try bench.state("tags").array?.map { $0["name"] } == ["A", "C"])
        try bench.act(["do": "undo_delete"])
        #expect(try bench.state("tags").array?.map { $0["name"] } == ["A", "B", "C"])
        #expect(bench.refusal(["do": "undo_delete"])?.code == "nothing-to-undo")
    }

    @Test("Tag that is deleted and restored at once: its file is stored; tag that stays deleted: its file is removed")
    func undoBeforeStoring() throws {
        let bench = Bench()
        func lastChange(of id: String) -> Changes.FileChange? {
            bench.simulator.takeChanges().files.last { change in
                switch change {
                case .store(id, _, _), .remove(id): true
                default: false
                }
            }
        }
        let id = try bench.add(["product": "NTAG213", "name": "Poster"])
        for _ in 0..<2 {
            try bench.act(["do": "delete", "tag": .string(id)])
            try bench.act(["do": "undo_delete"])
        }
        guard case .store? = lastChange(of: id) else { throw SimulatorFailure("lost", "The tag has no file.") }
        try bench.act(["do": "edit_message", "tag": .string(id), "text": "x"])
        try bench.act(["do": "delete", "tag": .string(id)])
        #expect(lastChange(of: id) == .remove(id: id))
    }

    @Test("Undo of a deletion when a new tag has the id: both tags are kept")
    func undoBesideNamesake() throws {
        let bench = Bench()
        let old = try bench.add(["product": "NTAG213", "name": "Poster", "text": "old"])
        try bench.act(["do": "delete", "tag": .string(old)])
        let new = try bench.add(["product": "NTAG213", "name": "Poster", "text": "new"])
        let back = try #require(try bench.act(["do": "undo_delete"])["tag"]?.string)
        #expect(back != new)
        #expect(try bench.tag(new)["message"]?.array?.first?["text"] == "new")
        #expect(try bench.tag(back)["message"]?.array?.first?["text"] == "old")
    }

    @Test("The last 50 deleted tags can be brought back")
    func undoLimit() throws {
        let bench = Bench()
        for number in 0...50 {
            let id = try bench.add(["product": "MIFARE Ultralight", "name": .string("Tag \(number)")])
            try bench.act(["do": "delete", "tag": .string(id)])
        }
        for _ in 0..<50 { try bench.act(["do": "undo_delete"]) }
        #expect(bench.refusal(["do": "undo_delete"])?.code == "nothing-to-undo")
        let names = try bench.state("tags").array?.compactMap { $0["name"]?.string } ?? []
        #expect(Set(names) == Set((1...50).map { "Tag \($0)" }))
    }

    @Test("Contact with line breaks and separators: escaped as RFC 2426 says")
    func contactEscapes() throws {
        let bench = Bench()
        let id = try bench.add([
            "product": "NTAG216", "contact": ["name": "Eve\nTEL:666", "note": "a\\b, c; d\r\nEND:VCARD\re"],
        ])
        // RFC 2426, 4: a backslash before a comma, a semicolon and a backslash, and \n for a line's end.
        let lines = [
            "BEGIN:VCARD", "VERSION:3.0", "N:Eve\\nTEL:666;;;;", "FN:Eve\\nTEL:666",
            "NOTE:a\\\\b\\, c\\; d\\nEND:VCARDe", "END:VCARD",
        ]
        #expect(
            try bench.tag(id)["message"]?.array?.first?["text"]?.string == lines.map { $0 + "\r\n" }.joined()
        )
    }

    @Test("phone_can: the reason for a tag that phones can't read, true for any other tag")
    func phoneLimits() throws {
        let bench = Bench()
        for product in ["NTAG213", "generic Type 3", "FeliCa Lite-S", "generic Type 4", "ICODE SLIX2"] {
            let tag = try bench.tag(try bench.add(["product": .string(product)]))
            #expect(tag["phone_can"] == true, "\(product)")
        }
        let classic = try bench.tag(try bench.add(["product": "MIFARE Classic 1K"]))
        #expect(classic["phone_can"]?["reason"]?.string?.contains("MIFARE Classic") == true)
        let dump = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Tests/VirtualTags/TagImagesTests/Dumps/felica-standard.nfc")
        let file = JSON.string(try Data(contentsOf: dump).base64EncodedString())
        let id = try #require(try bench.act(["do": "import", "name": "card.nfc", "base64": file])["tag"]?.string)
        #expect(try bench.tag(id)["phone_can"]?["reason"]?.string?.contains("system codes") == true)
    }

    @Test("Copy of a tag with the longest name: the name is cut, so that it ends in \"copy\"")
    func longCopy() throws {
        let bench = Bench()
        let name = String(repeating: "a", count: Limits.name)
        let id = try bench.add(["product": "NTAG213", "name": .string(name)])
        let copy = try #require(try bench.act(["do": "duplicate", "tag": .string(id)])["tag"]?.string)
        #expect(try bench.tag(id)["name"]?.string == name)
        #expect(try bench.tag(copy)["name"]?.string == String(name.dropLast(5)) + " copy")
    }

    @Test("Record given by its parts: encoded, or refused if NDEF does not allow it")
    func rawRecords() throws {
        let bench = Bench()
        let right: [(JSON, String)] = [
            (["tnf": 0], "d00000"), (["tnf": 5, "payload_hex": "41"], "d5000141"),
            (["tnf": 1, "type": "T", "id": "i", "payload_hex": ""], "d90100015469"),
        ]
        for (record, hex) in right {
            #expect(try bench.act(["do": "encode", "records": [record]])["hex"]?.string == hex)
        }
        let long = JSON.string(String(repeating: "a", count: 256))
        let wrong: [JSON] = [
            ["tnf": 0, "payload_hex": "41"], ["tnf": 0, "id": "i"], ["tnf": 5, "type": "T"], ["tnf": 1],
            ["tnf": 6, "type": "T"], ["tnf": -1, "type": "T"], ["tnf": 1, "type": long],
            ["tnf": 1, "type": "T", "id": long], ["tnf": 1, "type_hex": "4"],
        ]
        for record in wrong {
            #expect(bench.refusal(["do": "encode", "records": [record]])?.code == "invalid-request", "\(record.text)")
        }
    }

    @Test("The name of a Wi-Fi network has 1 to 32 bytes, and its password 8 to 64, or none")
    func networks() throws {
        let bench = Bench()
        func network(_ name: Int, _ key: Int) -> JSON {
            let (ssid, password) = (String(repeating: "n", count: name), String(repeating: "k", count: key))
            return ["do": "encode", "wifi": ["ssid": .string(ssid), "key": .string(password)]]
        }
        for (name, key) in [(1, 0), (32, 8), (32, 64)] { try bench.act(network(name, key)) }
        for (name, key) in [(0, 8), (33, 8), (1, 7), (1, 65)] {
            #expect(bench.refusal(network(name, key))?.code == "invalid-request", "\(name), \(key)")
        }
    }

    @Test("A copy stands behind its original, with the same contents and another id")
    func duplicate() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "name": "One", "text": "same"])
        _ = try bench.add(["product": "NTAG213", "name": "Two"])
        let copy = try #require(try bench.act(["do": "duplicate", "tag": .string(id)])["tag"]?.string)
        #expect(copy != id)
        #expect(try bench.state("tags").array?.map { $0["name"] } == ["One", "One copy", "Two"])
        #expect(try bench.tag(copy)["message_hex"] == bench.tag(id)["message_hex"])
    }

    @Test("Damaged message: says what is wrong, and at which byte")
    func damaged() throws {
        let bench = Bench()
        // The second record lacks its payload.
        let id = try bench.add(["product": "NTAG213", "message_hex": "910101540151010255"])
        let record = try #require(try bench.act(["do": "message", "tag": .string(id)])["records"]?.array?.first)
        #expect(record["kind"] == "damaged")
        #expect(record["damaged_at"] == 9)
        #expect(record["text"] == "The input ends at byte 9, before record 1 is complete.")
    }

    @Test("Tag in an action: found by its id or unique name; part of a name is enough for tap, not for delete")
    func finding() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "name": "Poster"])
        #expect(try bench.act(["do": "hold", "tag": "poster"])["tag"] == .string(id))
        let other = try bench.add(["product": "NTAG213", "name": "Poster"])
        #expect(other == "poster-2")
        #expect(try bench.act(["do": "message", "tag": "poster"])["tag"] == .string(id))
        #expect(bench.refusal(["do": "message", "tag": "POSTER"])?.code == "ambiguous-tag")
        #expect(bench.refusal(["do": "message", "tag": "elsewhere"])?.code == "no-such-tag")
        // A part of a name is enough to bring a tag near, but not to change it.
        let business = try bench.add(["product": "NTAG213", "name": "Business card"])
        #expect(try bench.act(["do": "tap", "tag": "ness"])["tag"] == .string(business))
        #expect(bench.refusal(["do": "tap", "tag": "oste"])?.code == "ambiguous-tag")
        #expect(bench.refusal(["do": "delete", "tag": "ness"])?.code == "no-such-tag")
    }

    @Test(
        "A name with a path in it becomes a harmless id",
        arguments: ["../../etc/passwd", "a/b", "..", "\u{202E}x", "/"]
    )
    func pathsInNames(_ name: String) throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "name": .string(name)])
        #expect(id.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D })
        #expect(!id.isEmpty)
    }

    @Test("Empty or blank name of a tag: refused")
    func invisibleName() throws {
        let bench = Bench()
        #expect(bench.refusal(["do": "new_tag", "name": "  "])?.code == "invalid-request")
        let id = try bench.add(["product": "NTAG213"])
        #expect(bench.refusal(["do": "rename", "tag": .string(id), "name": ""])?.code == "invalid-request")
        try bench.act(["do": "rename", "tag": .string(id), "name": "New"])
        #expect(try bench.tag(id)["name"] == "New")
    }

    @Test(
        "Exported tag: imported again, it has the same message",
        arguments: TagImage.Format.allCases.filter { $0.isWritten && ![.tagInfo, .mct].contains($0) }
    )
    func exporting(_ format: TagImage.Format) throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG215", "name": "Original", "text": "kept"])
        let file = try bench.act(["do": "export_tag", "tag": .string(id), "format": .string(format.rawValue)])
        let again = try bench.act([
            "do": "import", "name": try #require(file["name"]), "base64": try #require(file["base64"]),
        ])
        let copy = try #require(again["tag"]?.string)
        #expect(try bench.tag(copy)["message_hex"] == bench.tag(id)["message_hex"])
    }

    @Test("Imported file that is not a tag image: refused with its code")
    func badFile() {
        let bench = Bench()
        #expect(bench.refusal(["do": "import", "name": "x", "base64": "e30="])?.code == "unknown-format")
        #expect(bench.refusal(["do": "import", "name": "x", "base64": "%%%"])?.code == "invalid-request")
        #expect(bench.refusal(["do": "import", "name": "x"])?.code == "invalid-request")
    }

    @Test("Saved file: opened again, it has the tags, switches and phone")
    func saving() throws {
        let bench = Bench()
        _ = try bench.add(["product": "NTAG215", "name": "Kept", "text": "kept"])
        try bench.act(["do": "switch", "name": "noise", "value": 0.5])
        try bench.act(["do": "lock"])
        let file = try #require(try bench.act(["do": "save"])["base64"])
        let other = Bench()
        _ = try other.add(["product": "NTAG213", "name": "Gone"])
        try other.act(["do": "open", "base64": file])
        #expect(try other.state("tags").array?.map { $0["name"] } == ["Kept"])
        #expect(try other.state("switches")["noise"]?.double == 0.5)
        #expect(try other.state("phone")["locked"] == true)
        #expect(other.refusal(["do": "open", "file": ["tags": []]])?.code == "unknown-file")
    }

    @Test("Drawer: more tags than the limit are refused")
    func limit() throws {
        let bench = Bench()
        let id = try bench.add(["product": "MIFARE Ultralight"])
        for _ in 1..<Limits.tags { try bench.act(["do": "duplicate", "tag": .string(id)]) }
        #expect(bench.refusal(["do": "duplicate", "tag": .string(id)])?.code == "too-many-tags")
    }
}
