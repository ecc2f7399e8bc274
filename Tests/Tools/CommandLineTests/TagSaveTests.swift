// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// What the commands print about an image that they made, and which files they write.
@Suite(.ownThreads) struct `Images that nfc tag saves` {
    private let images: Images
    private let nfc = Command(name: "nfc")

    init() throws {
        images = try Images()
    }

    private func path(_ name: String) -> String { images.folder.path(name) }

    private func uid(_ path: String, _ words: String...) throws -> String? {
        try nfc.run(["tag", "read", "--image", path, "--json"] + words).objects().first?["uid"] as? String
    }

    // MARK: What is printed

    @Test func `What is created, written, read and converted is said in the same words`() throws {
        let (image, out) = (path("card.json"), path("card.nfc"))
        let create = ["tag", "create", "--product", "NTAG213", "--uid", "04a1b2c3d4e580", "--message", "d00000"]
        let created = try nfc.run(create + ["--out", image])
        #expect(
            created.output == """
                NTAG213, Type 2, UID 04a1b2c3d4e580
                Can be written, holds up to 137 bytes
                Message: 1 record, 3 bytes
                  1. Empty record, 0 bytes

                """
        )
        let object = #""tag_type":2,"product":"NTAG213","uid":"04a1b2c3d4e580""#
        let state = #""status":"read-write","capacity":137,"message_hex":"#
        let again = try nfc.run(create + ["--out", image, "--json"])
        let empty =
            #""d00000","records":[{"tnf":0,"type_hex":"","id_hex":"","payload_hex":"","#
            + #""decoded":{"kind":"empty"}}]"#
        #expect(again.output == #"{"ok":true,\#(object),\#(state)\#(empty)}"# + "\n")
        let written = try nfc.run("tag", "write", "--image", image, "a:b")
        #expect(
            written.output == """
                NTAG213, Type 2, UID 04a1b2c3d4e580
                Can be written, holds up to 137 bytes
                Message: 1 record, 8 bytes
                  1. URI, 4 bytes, type U
                     a:b
                6 exchanges, 80 bytes, 7758 us on the air, 16400 us of programming, after 4423 us of activation

                """
        )
        let cost = #""exchanges":2,"bytes_on_air":33,"airtime_us":3187,"tag_work_us":0,"activation_us":4423"#
        let link =
            #"{"tnf":1,"type_hex":"55","id_hex":"","payload_hex":"00613a62","#
            + #""decoded":{"kind":"uri","uri":"a:b","prefix":0}}"#
        let read = try nfc.run("tag", "read", "--image", image, "--json")
        let ending = #""d101045500613a62",\#(cost),"records":[\#(link)]}"#
        #expect(read.output == #"{"ok":true,\#(object),\#(state)\#(ending)"# + "\n")
        let words = try nfc.run("tag", "convert", image, "--out", out)
        #expect(words.output == "NTAG213, UID 04a1b2c3d4e580: json to flipper\n")
        let converted = try nfc.run("tag", "convert", image, "--out", out, "--json")
        let formats = #""from":"json","to":"flipper","out":"\#(out)","remarks":[]}"#
        #expect(converted.output == #"{"ok":true,\#(object),\#(formats)"# + "\n")
    }

    @Test func `A list of products has the members of each in their order`() throws {
        let listed = try nfc.run("tag", "create", "--list", "--json")
        let first = #"{"product":"Topaz 96","tag_type":1,"uid_sizes":[7],"smallest_size":null,"largest_size":null}"#
        #expect(listed.lines.first == first)
        let words = "Topaz 96" + String(repeating: " ", count: 22) + "Type 1, UID of 7 bytes"
        #expect(try nfc.run("tag", "create", "--list").lines.first == words)
    }

    @Test func `A write that is checked leaves the tag open`() throws {
        let image = try images.blank("NTAG213")
        let checked = try nfc.object("tag", "write", "--image", image, "a:b", "--check")
        #expect(checked["status"] as? String == "read-write")
    }

    // MARK: Several images in a file

    /// A file of two tags, with the identifiers a and b.
    private func several(_ product: String, _ uids: [String], ids: [String] = ["a", "b"]) throws -> String {
        let lines = try zip(ids, uids).map { id, uid in
            let text = try String(contentsOfFile: images.blank(product, uid: uid, format: "json"), encoding: .utf8)
            return text.replacing("{", with: #"{"id": "\#(id)", "#, maxReplacements: 1).replacing("\n", with: "")
        }
        let file = path("several.jsonl")
        // As other systems end lines, with empty ones.
        let text = lines[0] + "\r\n  \r\n\n" + lines[1] + "  \r\n"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }

    @Test func `No name of a file of several images is written to, and another file is`() throws {
        let file = try several("NTAG213", ["04a1b2c3d4e580", "04a1b2c3d4e581"])
        #expect(try uid(file) == "04a1b2c3d4e580")
        #expect(try uid(file, "--id", "b") == "04a1b2c3d4e581")
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        try FileManager.default.createSymbolicLink(atPath: path("soft.jsonl"), withDestinationPath: file)
        try FileManager.default.linkItem(atPath: file, toPath: path("hard.jsonl"))
        for words in [
            ["read", "--image", file, "--out", file], ["convert", file, "--out", file],
            ["write", "--image", file, "--out", path("soft.jsonl"), "a:b"],
            ["write", "--image", file, "--out", path("hard.jsonl"), "a:b"],
        ] {
            let outcome = try nfc.run(["tag"] + words)
            #expect(outcome.status == 2)
            #expect(outcome.error == "Error: \(file) has several images. Name another file with --out.\n")
            #expect(outcome.output == "")
        }
        let input = try Command.shell(
            "nfc tag write --image - --out several.jsonl a:b < several.jsonl; echo $?",
            in: path("")
        )
        #expect(input.output == "2\n")
        #expect(input.error == "Error: Standard input has several images. Name another file with --out.\n")
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
        // A file that is there, on the same disk.
        let other = try images.blank("NTAG213", uid: "04a1b2c3d4e582", format: "json")
        #expect(try nfc.run("tag", "write", "--image", file, "--id", "b", "--out", other, "a:b").status == 0)
        #expect(try uid(other) == "04a1b2c3d4e581")
    }

    @Test func `Of two images with an identifier the first is taken, and a file of one needs none`() throws {
        let file = try several("NTAG213", ["04a1b2c3d4e580", "04a1b2c3d4e581"], ids: ["a", "a"])
        #expect(try uid(file, "--id", "a") == "04a1b2c3d4e580")
        let one = try images.blank("NTAG213", format: "json")
        #expect(try nfc.run("tag", "write", "--image", one, "a:b").status == 0)
        let unknown = try nfc.run("tag", "read", "--image", one, "--id", "a")
        #expect(unknown.status == 2 && unknown.error == "Error: \(one) has no image with the id 'a'.\n")
    }

    @Test func `That a file has several images is said before anything is tried`() throws {
        // Nothing can be written to these cards.
        let file = try several("Classic 1K", ["10bc5bf0", "10bc5bf1"])
        let outcome = try nfc.run("tag", "write", "--image", file, "a:b", "--json")
        #expect(outcome.status == 2)
        #expect(try outcome.objects().first?["error"] as? String == "several-images")
        let other = try nfc.run("tag", "write", "--image", file, "--out", path("other.json"), "a:b", "--json")
        #expect(other.status == 1)
        #expect(try other.objects().first?["error"] as? String == "unsupported")
    }

    // MARK: Files

    @Test func `What another format leaves out is said when the file is written, and not before`() throws {
        let image = path("odd.nfc")
        let text = try String(contentsOfFile: images.poster(), encoding: .utf8)
        try text.replacing("Pages read: 135", with: "Pages read: 134")
            .write(toFile: image, atomically: true, encoding: .utf8)
        let note = "Note: \(image): A virtual tag has no place for Pages read: a file of another format is without it."
        let missing = "Note: \(image): 134 of 135 pages were read; the others are as the file has them, mostly zero.\n"
        for words in [["write", "--image", image, "a:b"], ["convert", image]] {
            let kept = try nfc.run(["tag"] + words + ["--out", path("kept.nfc")])
            #expect(kept.status == 0 && kept.error == missing, "\(kept)")
            let changed = try nfc.run(["tag"] + words + ["--out", path("changed.json")])
            #expect(changed.status == 0 && changed.error == missing + note + "\n", "\(changed)")
            let failed = try nfc.run(["tag"] + words + ["--out", path("nowhere/changed.json")])
            #expect(failed.status == 1 && failed.error.hasPrefix(missing + "Error: "), "\(failed)")
            #expect(failed.error.hasSuffix(" Check the folder and its owner.\n"))
        }
    }

    @Test func `A file that can't be an image says what is wrong, and what to do`() throws {
        let none = try nfc.run("tag", "info", "--image", path("none.nfc"))
        #expect(none.status == 1 && none.error.hasSuffix(" Check its name and its owner.\n"), "\(none)")
        let folder = try nfc.run("tag", "info", "--image", path(""))
        #expect(folder.status == 1 && folder.error.hasSuffix(" is a folder. Name a file.\n"), "\(folder)")
        // One byte more than the limit, and nothing on the disk.
        let large = path("large.nfc")
        _ = FileManager.default.createFile(atPath: large, contents: nil)
        let handle = try #require(FileHandle(forWritingAtPath: large))
        try handle.truncate(atOffset: UInt64(16 << 20) + 1)
        try handle.close()
        let refused = try nfc.object("tag", "info", "--image", large)
        #expect(refused["error"] as? String == "too-large")
        #expect(refused["message"] as? String == "\(large) is larger than 16 MiB, and no more is read.")
        // The line of the mistake is named.
        let text = try String(contentsOfFile: images.poster(), encoding: .utf8)
        let bad = path("bad.nfc")
        try text.replacing(#/Page 4: .*/#, with: "Page 4: ZZ").write(toFile: bad, atomically: true, encoding: .utf8)
        let number = try #require(text.split(separator: "\n").firstIndex { $0.hasPrefix("Page 4: ") }) + 1
        let malformed = try nfc.run("tag", "info", "--image", bad)
        let start = "Error: \(bad): line \(number): Page 4 "
        #expect(malformed.status == 1 && malformed.error.hasPrefix(start), "\(malformed)")
    }

    @Test func `A name may end in capitals, and where a format can't hold the tag, one that can is named`() throws {
        let upper = path("CARD.NFC")
        let words = ["tag", "create", "--product", "NTAG215", "--uid", "04a1b2c3d4e580", "--out", upper]
        #expect(try nfc.run(words).status == 0)
        #expect(try String(contentsOfFile: upper, encoding: .utf8).hasPrefix("Filetype: Flipper NFC device\n"))
        let lost = try nfc.run("tag", "convert", images.poster(), "--out", path("lost.mfd"))
        #expect(lost.status == 1 && lost.output == "")
        #expect(lost.error.hasPrefix("Error: \(path("lost.mfd")) is not written: "), "\(lost)")
        #expect(lost.error.hasSuffix(" The format json can hold it.\n"), "\(lost)")
    }

    @Test func `A message that does not fit, or a tag that takes none, makes no file`() throws {
        let long = "d201c8612e" + String(repeating: "00", count: 199)
        for (product, message, error) in [
            ("NTAG213", long, "message-too-long"), ("Classic 1K", "d00000", "unsupported"),
        ] {
            let words = ["--product", product, "--message", message, "--out", path("never.json"), "--json"]
            let outcome = try nfc.run(["tag", "create"] + words)
            #expect(outcome.status == 1)
            #expect(try outcome.objects().first?["error"] as? String == error, "\(outcome)")
            #expect(!FileManager.default.fileExists(atPath: path("never.json")))
        }
        let made = path("made.json")
        let open = try nfc.object("tag", "create", "--product", "NTAG213", "--message", "d00000", "--out", made)
        #expect(open["status"] as? String == "read-write")
    }

    @Test(arguments: [("", 4), ("04010203", 4), ("04a1b2c3d4e580", 7), ("04a1b2c3d4e58000000a", 10)])
    func `A travel document has the identifier that is given, or a random one`(uid: String, size: Int) throws {
        let zone = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10"
        let words = ["--mrz", zone, "--out", path("passport.json"), "--json"] + (uid.isEmpty ? [] : ["--uid", uid])
        let object = try #require(try nfc.run(["tag", "create"] + words).objects().first)
        let made = try #require(object["uid"] as? String)
        #expect(made.count == 2 * size && made.hasPrefix(uid.isEmpty ? "08" : uid), "\(made)")
    }
}
