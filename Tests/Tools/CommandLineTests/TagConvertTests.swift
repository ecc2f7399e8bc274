// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `nfc tag convert, create and info` {
    private let images: Images
    private let nfc = Command(name: "nfc")

    init() throws {
        images = try Images()
    }

    private func path(_ name: String) -> String { images.folder.path(name) }

    @Test(arguments: [("json", "json"), ("json", "proxmark-json"), ("bin", "proxmark-bin"), ("nfc", "flipper")])
    func `A converted image has the same message, identifier and version`(ending: String, format: String) throws {
        let image = try images.poster()
        let before = try nfc.object("tag", "info", "--image", image)
        let out = path("converted.\(ending)")
        let converted = try nfc.object("tag", "convert", image, "--to", format, "--out", out)
        #expect(converted["from"] as? String == "flipper")
        #expect(converted["to"] as? String == format)
        #expect(converted["product"] as? String == "NTAG215")
        let after = try nfc.object("tag", "info", "--image", out)
        for key in ["uid", "message_hex", "version_hex", "signature_hex", "static_lock_hex", "capacity"] {
            #expect(before[key] != nil && "\(before[key] ?? "")" == "\(after[key] ?? "")", "\(key)")
        }
        // And back: the same tag as JSON has it.
        _ = try nfc.object("tag", "convert", out, "--to", "json", "--out", path("a.json"))
        _ = try nfc.object("tag", "convert", image, "--to", "json", "--out", path("b.json"))
        let files = try ["a.json", "b.json"].map { try Data(contentsOf: URL(fileURLWithPath: path($0))) }
        #expect(files[0] == files[1])
    }

    @Test func `The same format is the same file`() throws {
        let image = try images.poster()
        let out = path("copy.nfc")
        #expect(try nfc.run("tag", "convert", image, "--out", out).status == 0)
        let files = try [image, out].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        #expect(files[0] == files[1])
    }

    @Test func `What an image contradicts, lacks or leaves out is said on standard error and in remarks`() throws {
        let text = try String(contentsOfFile: images.poster(), encoding: .utf8)
            .replacing("Pages read: 135", with: "Pages read: 134")
        let uid = try #require(text.firstMatch(of: /UID: ([0-9A-F ]+)/)?.output.0)
        let image = path("odd.nfc")
        try text.replacing(uid, with: "UID: 04 00 00 00 00 00 01").write(
            toFile: image,
            atomically: true,
            encoding: .utf8
        )

        func kinds(_ outcome: Command.Outcome) throws -> [String] {
            let remarks = try outcome.objects().first?["remarks"] as? [[String: Any]]
            return try #require(remarks).compactMap { $0["kind"] as? String }
        }
        let info = try nfc.run("tag", "info", "--image", image, "--json")
        #expect(try kinds(info) == ["contradiction", "missing"])
        #expect(info.error.contains("Note: \(image): The tag's UID is 04000000000001, and pages 0 to 2 hold"))
        #expect(!info.error.contains("Pages read"))
        let converted = try nfc.run("tag", "convert", image, "--out", path("odd.json"), "--json")
        #expect(try kinds(converted) == ["contradiction", "missing", "left-out"])
        #expect(converted.error.contains("no place for Pages read: a file of another format is without it."))
        let copy = try nfc.run("tag", "convert", image, "--out", path("copy.nfc"), "--json")
        #expect(try kinds(copy) == ["contradiction", "missing"])
        #expect(!copy.error.contains("Pages read:"))
    }

    @Test func `Lock bits that an image does not have are not known`() throws {
        let text = try String(contentsOfFile: images.poster(), encoding: .utf8)
            .replacing("Pages total: 135", with: "Pages total: 100")
        let image = path("part.nfc")
        try text.write(toFile: image, atomically: true, encoding: .utf8)
        let outcome = try nfc.run("tag", "info", "--image", image)
        #expect(outcome.output.contains("Locks      none (static 0000, dynamic not known)\n"))
        #expect(outcome.error.contains("The image has 100 of the 135 pages"))
        #expect(try nfc.object("tag", "info", "--image", image)["dynamic_lock_hex"] == nil)
    }

    @Test func `What a format would lose is refused with 1, and nothing is written`() throws {
        let image = try images.poster()
        let outcome = try nfc.run("tag", "convert", image, "--out", path("lost.mfd"), "--json")
        #expect(outcome.status == 1)
        let object = try #require(try outcome.objects().first)
        #expect(object["ok"] as? Bool == false)
        #expect(object["error"] as? String == "lossy")
        #expect((object["message"] as? String)?.contains("without losing the signature") == true)
        #expect(!FileManager.default.fileExists(atPath: path("lost.mfd")))
    }

    @Test func `Wrong usage of convert ends with 2`() throws {
        let image = try images.poster()
        #expect(try nfc.run("tag", "convert", image, "--out", path("x")).status == 2)
        #expect(try nfc.run("tag", "convert", image, "--to", "morse", "--out", path("x.nfc")).status == 2)
        // Only a format that is written is offered.
        for words in [["y.foo"], ["y.xml"], ["y.xml", "--to", "taginfo"]] {
            let outcome = try nfc.run(["tag", "convert", image, "--out"] + words)
            #expect(outcome.status == 2)
            #expect(outcome.error.contains("proxmark-json") && outcome.error.contains("proxmark-eml"))
            #expect(!outcome.error.replacing("'taginfo' is invalid", with: "").contains("taginfo"))
        }
        #expect(try !nfc.run("tag", "convert", "--help").output.contains("mfd, taginfo"))
        #expect(try nfc.run("tag", "convert", image).status == 2)
        #expect(try nfc.run("tag", "convert", path("none.nfc"), "--out", path("x.nfc")).status == 1)
    }

    @Test func `Every product that is listed can be made and described`() throws {
        let listed = try nfc.run("tag", "create", "--list", "--json").objects()
        #expect(listed.count == 34)
        for (index, product) in listed.enumerated() {
            let name = try #require(product["product"] as? String)
            let out = path("product-\(index).json")
            let made = try nfc.object("tag", "create", "--product", name, "--out", out)
            #expect(made["tag_type"] as? Int == product["tag_type"] as? Int, "\(name)")
            let info = try nfc.object("tag", "info", "--image", out)
            #expect(info["ok"] as? Bool == true, "\(name)")
            let isClassic = product["tag_type"] is NSNull
            #expect(info["status"] as? String == (isClassic ? "not-ndef" : "read-write"), "\(name)")
            #expect(info["map"] != nil || info["files"] != nil || info["services"] != nil, "\(name)")
        }
    }

    @Test(arguments: ["Topaz 512", "FeliCa Lite-S", "DESFire EV1 4K", "NTAG 424 DNA", "SLIX2", "generic Type 4B"])
    func `A message is put on a tag of any type`(product: String) throws {
        let out = path("made.json")
        let message = "d1010c55046578616d706c652e636f6d"
        let made = try nfc.object("tag", "create", "--product", product, "--message", message, "--out", out)
        #expect(made["message_hex"] as? String == message)
        #expect(try nfc.object("tag", "read", "--image", out)["message_hex"] as? String == message)
    }

    @Test func `Sizes and identifiers are those of the product`() throws {
        let out = path("sized.json")
        let made = try nfc.object(
            "tag",
            "create",
            "--product",
            "generic Type 4",
            "--size",
            "300",
            "--uid",
            "01020304",
            "--out",
            out
        )
        #expect(made["capacity"] as? Int == 298)
        #expect(made["uid"] as? String == "01020304")
        for arguments in [
            ["--product", "SLIX", "--size", "300"], ["--product", "generic Type 4", "--size", "4"],
            ["--product", "DESFire EV1 4K", "--uid", "01020304"], ["--uid", "01020304"],
        ] {
            #expect(try nfc.run(["tag", "create", "--out", out] + arguments).status == 2)
        }
        #expect(try nfc.run("tag", "create", "--product", "NTAG213").status == 2)
        #expect(try nfc.run("tag", "create", "--product", "NTAG 424 DNA", "--out", path("x.nfc")).status == 1)
    }

    @Test func `A travel document is made of its zone`() throws {
        let zone = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10"
        let out = path("passport.json")
        #expect(try nfc.object("tag", "create", "--mrz", zone, "--out", out)["product"] as? String == "eMRTD")
        #expect(try nfc.object("tag", "info", "--image", out)["mrz"] as? String == zone)
        let short = try nfc.run("tag", "create", "--mrz", "P<UTO", "--out", out, "--json")
        #expect(short.status == 1)
        #expect(try short.objects().first?["error"] as? String == "bad-zone")
        #expect(try nfc.run("tag", "create", "--mrz", zone, "--size", "5", "--out", out).status == 2)
    }

    @Test func `A MIFARE Classic is described in a sentence`() throws {
        let out = path("classic.mfd")
        _ = try nfc.object("tag", "create", "--product", "Classic 4K", "--out", out)
        let outcome = try nfc.run("tag", "read", "--image", out)
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("MIFARE Classic 4K, UID 10"))
        #expect(
            outcome.error == "Error: The tag answers as a MIFARE Classic 4K: its memory is behind a cipher of its own, "
                + "and phones do not read it as NDEF.\n"
        )
        let info = try nfc.object("tag", "info", "--image", out)
        #expect(info["sectors"] as? Int == 40)
        #expect(info["sak"] as? String == "18")
        #expect(info["ndef_error"] as? String == "unsupported")
        #expect((info["message"] as? String)?.contains("phones do not read it as NDEF") == true)
        // One that has its place has its SAK too, and is not said to be one.
        let plus = path("plus.json")
        _ = try nfc.object("tag", "create", "--product", "MIFARE Plus 2K", "--out", plus)
        let words = try nfc.run("tag", "info", "--image", plus).output
        #expect(words.hasPrefix("Product    MIFARE Plus 2K\n"), "\(words)")
        #expect(words.contains("\nThe tag answers as a MIFARE Classic 1K: "), "\(words)")
    }

    @Test func `Locks, counters and parts of the memory are described in words`() throws {
        let outcome = try nfc.run("tag", "info", "--image", images.locked())
        #expect(
            outcome.output.contains(
                "Map        pages 0-1 UID; page 2 UID and static locks; page 3 capability container; "
                    + "pages 4-39 data; page 40 dynamic locks; pages 41-44 configuration and password\n"
            )
        )
        #expect(outcome.output.contains("Locks      pages 3-39 are read-only"))
        #expect(outcome.output.contains("Counters   2 at 0\n"))
        let info = try nfc.object("tag", "info", "--image", images.locked())
        #expect(info["locked_pages"] as? [Int] == Array(3...39))
        let slix = path("slix.json")
        _ = try nfc.object("tag", "create", "--product", "SLIX2", "--out", slix)
        let text = try nfc.run("tag", "info", "--image", slix).output
        #expect(text.contains("Map        block 0 capability container; blocks 1-78 data; block 79 counter\n"))
        #expect(text.contains("Locks      none\n"))
    }

    @Test func `A changed image keeps its format`() throws {
        let out = path("dump.json")
        _ = try nfc.object("tag", "create", "--product", "NTAG213", "--format", "proxmark-json", "--out", out)
        _ = try nfc.object("tag", "write", "--image", out, "https://example.com")
        #expect(try String(contentsOfFile: out, encoding: .utf8).contains("\"FileType\": \"mfu\""))
        #expect(
            try nfc.object("tag", "read", "--image", out)["message_hex"] as? String
                == "d1010c55046578616d706c652e636f6d"
        )
    }
}
