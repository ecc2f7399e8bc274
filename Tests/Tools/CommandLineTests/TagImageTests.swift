// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `nfc tag` {
    private let images: Images
    private let nfc = Command(name: "nfc")

    init() throws {
        images = try Images()
    }

    @Test func `A read reports the message and its airtime, which is the minimum`() throws {
        let object = try nfc.object("tag", "read", "--image", images.poster())
        #expect(object["ok"] as? Bool == true)
        #expect(object["tag_type"] as? Int == 2)
        #expect(object["product"] as? String == "NTAG215")
        #expect(object["uid"] as? String == "04689571fa5c64")
        #expect(object["status"] as? String == "read-write")
        #expect(object["capacity"] as? Int == 492)
        #expect((object["message_hex"] as? String)?.count == 108)
        // READ 3, then what is left of the message and no more.
        let exchanges = try #require(object["exchanges"] as? Int)
        #expect(exchanges <= 5)
        #expect(object["activation_us"] as? Int == 4423)
    }

    @Test(arguments: ["nfc", "json"])
    func `What is created, written and read is what was written`(format: String) throws {
        let image = try images.blank("NTAG213", format: format)
        #expect(try nfc.object("tag", "read", "--image", image)["message_hex"] as? String == "")
        let written = try nfc.object("tag", "write", "--check", "--image", image, "https://example.com")
        #expect(written["message_hex"] as? String == "d1010c55046578616d706c652e636f6d")
        #expect(
            try nfc.object("tag", "read", "--image", image)["message_hex"] as? String
                == "d1010c55046578616d706c652e636f6d"
        )
    }

    @Test func `A write to another file leaves the first as it is`() throws {
        let image = try images.blank("NTAG213")
        let copy = images.folder.path("copy.json")
        _ = try nfc.object("tag", "write", "--image", image, "--out", copy, "--text", "Hi")
        #expect(try nfc.object("tag", "read", "--image", image)["message_hex"] as? String == "")
        #expect(try nfc.object("tag", "read", "--image", copy)["message_hex"] as? String == "d101055402656e4869")
    }

    @Test func `A tag that counts readings gives another link each time, when it is saved`() throws {
        let image = try images.changingLink()
        let first = try nfc.object("tag", "read", "--image", image)["message_hex"] as? String
        #expect(try nfc.object("tag", "read", "--image", image, "--out", image)["message_hex"] as? String == first)
        let second = try nfc.object("tag", "read", "--image", image)["message_hex"] as? String
        #expect(first?.count == second?.count)
        #expect(first != second)
        #expect(try String(contentsOfFile: image, encoding: .utf8).contains(#""read_counter": 1"#))
    }

    @Test func `A lock makes the image read-only`() throws {
        #expect(try nfc.object("tag", "read", "--image", images.locked())["status"] as? String == "read-only")
    }

    @Test(arguments: 0...8)
    func `A torn write leaves the old message, none, or the new one`(writes: Int) throws {
        let image = try images.blank("NTAG213")
        let (old, new) = ("d1010c55046578616d706c652e636f6d", "d1010c55046578616d706c652e6f7267")
        _ = try nfc.object("tag", "write", "--image", image, "--message", old)
        let torn = images.folder.path("torn.nfc")
        let outcome = try nfc.run(
            "tag",
            "write",
            "--image",
            image,
            "--message",
            new,
            "--out",
            torn,
            "--tear-after",
            "\(writes)",
            "--json"
        )
        let result = try #require(try outcome.objects().first)
        #expect(outcome.status == (result["ok"] as? Bool == true ? 0 : 1))
        if outcome.status == 1 { #expect(result["error"] as? String == "tag-lost") }
        let note = "Note: The field was not cut: there were fewer than \(writes) writes.\n"
        #expect(outcome.error == (outcome.status == 0 ? note : ""))
        let left = try nfc.object("tag", "read", "--image", torn)["message_hex"] as? String
        #expect([old, "", new].contains(left))
        if writes == 0 { #expect(left == old && outcome.status == 1) }
    }

    @Test(arguments: ["DESFire EV1 4K", "NTAG 424 DNA"])
    func `A card that needs a key for --lock says so before anything is written`(_ product: String) throws {
        let image = try images.blank(product, format: "json")
        let before = try String(contentsOfFile: image, encoding: .utf8)
        let link = "d1010c55046578616d706c652e636f6d"
        let outcome = try nfc.run("tag", "write", "--image", image, "--message", link, "--lock", "--json")
        #expect(outcome.status == 1)
        let object = try #require(try outcome.objects().first)
        #expect(object["error"] as? String == "key-needed")
        #expect((object["message"] as? String)?.hasPrefix("A key is needed to make this card read-only") == true)
        #expect((object["message"] as? String)?.contains("worn") == false)
        #expect(object["message_hex"] as? String == "")
        #expect(try String(contentsOfFile: image, encoding: .utf8) == before)
        // Without --lock it is written, with the same airtime.
        #expect(try nfc.object("tag", "write", "--image", image, "--message", link)["message_hex"] as? String == link)
    }

    @Test func `Info describes product, locks and what NDEF says`() throws {
        let object = try nfc.object("tag", "info", "--image", images.poster())
        #expect(object["product"] as? String == "NTAG215")
        #expect(object["version_hex"] as? String == "0004040201001103")
        #expect((object["signature_hex"] as? String)?.hasPrefix("731b4e0c") == true)
        #expect(object["user_size"] as? Int == 504)
        #expect(object["static_lock_hex"] as? String == "0000")
        #expect(object["cc_hex"] as? String == "e1103e00")
        let unformatted = try nfc.object("tag", "info", "--image", images.unformatted())
        #expect(unformatted["status"] as? String == "not-ndef")
        #expect(unformatted["ndef_error"] as? String == "no-cc")
    }

    @Test func `A dump's text about its card does not control the terminal`() throws {
        let text = try String(contentsOfFile: Images.dump("mifare-plus.nfc"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("Card Type:") ? "Card Type: Mifare \u{1B}]0;title\u{7}" : String(line)
        }
        try #require(lines.joined(separator: "\n") != text)
        let hostile = images.folder.path("hostile.nfc")
        try lines.joined(separator: "\n").write(toFile: hostile, atomically: true, encoding: .utf8)
        let outcome = try nfc.run("tag", "info", "--image", hostile)
        #expect(outcome.output.contains("\\u{1b}]0;title\\u{7}"))
        #expect(!(outcome.output + outcome.error).contains { $0 == "\u{1B}" || $0 == "\u{7}" })
    }

    @Test func `An image without NDEF ends a read with 1 and says which rule it breaks`() throws {
        let outcome = try nfc.run("tag", "read", "--image", images.unformatted(), "--json")
        let object = try #require(try outcome.objects().first)
        #expect(object["ok"] as? Bool == false)
        #expect(object["error"] as? String == "no-cc")
        #expect(object["status"] as? String == "not-ndef")
        #expect(outcome.status == 1)
    }

    @Test(arguments: ["", "hello", "Filetype: Flipper NFC device\nVersion: 4\n", "{\"memory_hex\":\"0\"}", "{}"])
    func `A file that is not an image ends with 1 and a sentence`(text: String) throws {
        let path = images.folder.path("bad.nfc")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try nfc.run("tag", "read", "--image", path)
        #expect(outcome.status == 1)
        #expect(outcome.output == "")
        #expect(outcome.error.hasPrefix("Error: ") && outcome.error.hasSuffix(".\n"))
    }

    @Test func `A file that is not there ends with 1 and its name`() throws {
        let outcome = try nfc.run("tag", "read", "--image", images.folder.path("none.nfc"))
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("none.nfc"))
    }

    @Test(arguments: [
        ["--product", "NTAG999", "--out", "x.nfc"], ["--product", "NTAG213", "--out", "x"],
        ["--product", "NTAG213", "--uid", "0401", "--out", "x.nfc"],
    ])
    func `A tag that can't be made is wrong usage`(arguments: [String]) throws {
        #expect(try nfc.run(["tag", "create"] + arguments).status == 2)
    }
}
