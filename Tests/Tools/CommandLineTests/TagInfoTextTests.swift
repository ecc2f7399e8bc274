// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// What people and programs read of tags whose facts are special.
@Suite(.ownThreads) struct `The words of nfc tag info and create` {
    private let images: Images
    private let nfc = Command(name: "nfc")

    init() throws {
        images = try Images()
    }

    @Test func `Pages that are locked are listed as ranges`() throws {
        let path = try images.blank("NTAG213")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        // The bits of pages 4, 5, 7, 9 and 10.
        let changed = text.replacing(/Page 2: (\w\w \w\w) 00 00/) { "Page 2: \($0.1) B0 06" }
        try #require(changed != text)
        try changed.write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try nfc.run("tag", "info", "--image", path)
        #expect(
            outcome.lines.contains("Locks      pages 4-5, 7, 9-10 are read-only (static b006, dynamic 000000)"),
            "\(outcome)"
        )
        #expect(try nfc.object("tag", "info", "--image", path)["locked_pages"] as? [Int] == [4, 5, 7, 9, 10])
    }

    @Test func `Of a payment card's number the last four digits are shown alone`() throws {
        let dump = Images.dump("emv.nfc")
        let text = try nfc.run("tag", "info", "--image", dump)
        #expect(text.lines.contains("Number     ends in 1111"), "\(text)")
        #expect(text.lines.contains("Application a0000000031010, TEST DEBIT"), "\(text)")
        let json = try nfc.run("tag", "info", "--image", dump, "--json")
        #expect(try json.objects().first?["last_digits"] as? String == "1111")
        #expect(!(text.output + json.output).contains("11111"))
    }

    @Test func `The rights of a card's files are those of its keys`() throws {
        let path = images.folder.path("dna.json")
        _ = try nfc.object("tag", "create", "--product", "NTAG 424 DNA", "--out", path)
        let lines = try nfc.run("tag", "info", "--image", path).lines
        let files = try #require(lines.first { $0.hasPrefix("Files      ") })
        #expect(
            files.dropFirst(11).components(separatedBy: "; ") == [
                "e103 with 32 bytes (reading free, writing with key 0)",
                "e104 with 256 bytes (reading free, writing free)",
                "e105 with 128 bytes (reading with key 2 or 3, writing with key 3)",
            ]
        )
    }

    @Test func `The services that need a key are marked, and a file has the identifier of its application`() throws {
        func members(_ key: String, of name: String) throws -> [[String: Any]] {
            try #require(try nfc.object("tag", "info", "--image", Images.dump(name))[key] as? [[String: Any]])
        }
        let services = try members("services", of: "felica-keys.nfc")
        #expect(services.map { $0["services"] as? String } == ["0048,004a", "008b", "0050", "1009", "100b"])
        #expect(services.map { $0["needs_key"] as? Bool } == [true, false, true, false, false])
        let files = try members("files", of: "desfire.nfc")
        let applications = ["123456", "123456", "123456", "123456", "000001", "000001"]
        #expect(files.map { $0["application"] as? String } == applications)
    }

    @Test func `The parts of a memory are listed with their places`() throws {
        let path = images.folder.path("lite.json")
        _ = try nfc.object("tag", "create", "--product", "FeliCa Lite-S", "--out", path)
        let lines = try nfc.run("tag", "info", "--image", path).lines
        let map = try #require(lines.first { $0.hasPrefix("Map ") })
        #expect(
            map.dropFirst(11).components(separatedBy: "; ") == [
                "block 0 attribute information", "blocks 1-13 data", "block 14 register",
                "blocks 128-136 system: challenge, codes, identifiers, key, configuration",
                "blocks 144-146 write counter, code and state", "block 160 check of the memory",
            ]
        )
    }

    @Test func `A tag that hides is described from its image, and can't be read`() throws {
        let path = images.folder.path("hidden.json")
        _ = try nfc.object("tag", "create", "--product", "ST25TV02K", "--out", path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let hidden = text.replacing("{", with: #"{"untraceable": true, "#, maxReplacements: 1)
        try hidden.write(toFile: path, atomically: true, encoding: .utf8)
        let info = try nfc.run("tag", "info", "--image", path)
        #expect(info.status == 0)
        #expect(info.lines.contains("Guards     untraceable"), "\(info)")
        #expect(info.lines.last == "The tag of the image does not answer.", "\(info)")
        let read = try nfc.run("tag", "read", "--image", path, "--json")
        #expect(read.status == 1)
        #expect(try read.objects().first?["error"] as? String == "tag-lost")
        #expect(try read.objects().first?["status"] is NSNull)
    }

    @Test func `The list of products has their types, identifiers and sizes`() throws {
        let lines = try nfc.run("tag", "create", "--list").lines
        let card = "generic Type 4".padding(toLength: 30, withPad: " ", startingAt: 0)
        #expect(lines.contains(card + "Type 4, UID of 4 or 7 or 10 bytes, 5 to 32767 bytes"), "\(lines)")
        let classic = "MIFARE Classic 1K".padding(toLength: 30, withPad: " ", startingAt: 0)
        #expect(lines.contains(classic + "no NDEF, UID of 4 or 7 bytes"), "\(lines)")
        let listed = try nfc.run("tag", "create", "--list", "--json").objects()
        let object = try #require(listed.first { $0["product"] as? String == "generic Type 4" })
        #expect(object["uid_sizes"] as? [Int] == [4, 7, 10])
        #expect(object["smallest_size"] as? Int == 5 && object["largest_size"] as? Int == 32767)
        let fixed = try #require(listed.first { $0["product"] as? String == "NTAG213" })
        #expect(fixed["uid_sizes"] as? [Int] == [7])
        #expect(fixed["smallest_size"] is NSNull && fixed["largest_size"] is NSNull)
    }

    @Test func `A write says how long the tag programmed, and a read does not`() throws {
        let path = try images.blank("NTAG213")
        let written = try nfc.run("tag", "write", "--image", path, "https://example.com")
        let work = #/ us on the air, [1-9]\d* us of programming, after \d+ us of activation$/#
        #expect(written.lines.last?.contains(work) == true, "\(written)")
        let read = try nfc.run("tag", "read", "--image", path)
        #expect(read.lines.last?.contains(#/ us on the air, after \d+ us of activation$/#) == true, "\(read)")
    }

    @Test func `A failure says what to do next`() throws {
        let (locked, unformatted) = (try images.locked(), try images.unformatted())
        let card = try images.blank("DESFire EV1 4K", format: "json")
        let blank = try images.blank("NTAG213")
        let long = String(repeating: "x", count: 200)
        for (arguments, step) in [
            (["write", "--image", locked, "--text", "Hello"], "Use another tag."),
            (["write", "--image", blank, "--text", long], "Use a shorter message, or a tag with more memory."),
            (["read", "--image", unformatted], "Use a tag that is formatted for NDEF."),
            (["write", "--image", card, "--text", "a", "--lock"], "Use a program that knows it."),
            (
                ["write", "--image", blank, "--text", "a", "--tear-after", "1"],
                "Hold it near the reader and write it again to repair it."
            ),
        ] {
            let outcome = try nfc.run(["tag"] + arguments + ["--json"])
            #expect(outcome.status == 1)
            let message = try #require(try outcome.objects().first?["message"] as? String)
            #expect(message.hasSuffix(" " + step), "\(message)")
        }
    }
}
