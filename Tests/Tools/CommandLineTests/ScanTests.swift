// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `nfc scan and nfc write` {
    private let images: Images
    private let nfc = Command(name: "nfc", environment: ["NFC_SHEET": "none"])

    init() throws {
        images = try Images()
    }

    @Test func `A scan prints the message as people read it`() throws {
        let outcome = try nfc.run("scan", "--tags", images.poster())
        #expect(
            outcome.output == """
                Type 2, UID 04689571fa5c64
                Can be written, holds up to 492 bytes
                \(Images.posterText)

                """
        )
        #expect(outcome.error == "")
        #expect(outcome.status == 0)
    }

    @Test func `A scan as JSON is one object, with the records`() throws {
        let outcome = try nfc.run("scan", "--tags", images.poster(), "--json")
        let object = try #require(try outcome.objects().first)
        #expect(object["uid"] as? String == "04689571fa5c64")
        #expect(object["status"] as? String == "read-write")
        #expect(object["capacity"] as? Int == 492)
        #expect((object["message_hex"] as? String)?.hasPrefix("91011655") == true)
        #expect((object["records"] as? [Any])?.count == 2)
        #expect(outcome.lines.count == 1)
    }

    @Test func `Several tags are read one after the other`() throws {
        let tags = try [images.poster(), images.locked(), images.unformatted()].joined(separator: ",")
        let outcome = try nfc.run("scan", "--many", "--timeout", "10", "--tags", tags, "--json")
        let objects = try outcome.objects()
        #expect(
            Set(objects.compactMap { $0["uid"] as? String }) == ["04689571fa5c64", "04a1b2c3d4e582", "04a1b2c3d4e581"]
        )
        // One that holds no NDEF is reported too, and the scan goes on.
        let failed = objects.filter { $0["ok"] as? Bool == false }
        #expect(failed.map { $0["uid"] as? String } == ["04a1b2c3d4e581"] && failed[0]["error"] as? String == "no-cc")
        #expect(outcome.status == 0)
    }

    @Test func `Of several tags that are near, a scan prints one that can be read`() throws {
        let (poster, locked, unformatted) = try (images.poster(), images.locked(), images.unformatted())
        let identifiers = [poster: "04689571fa5c64", locked: "04a1b2c3d4e582"]
        for tags in [[poster, locked], [poster, unformatted], [unformatted, locked]] {
            let outcome = try nfc.run("scan", "--tags", tags.joined(separator: ","), "--json")
            let objects = try outcome.objects()
            #expect(objects.map { $0["ok"] as? Bool } == [true] && outcome.status == 0, "\(outcome)")
            #expect(tags.compactMap { identifiers[$0] }.contains(objects.first?["uid"] as? String ?? ""), "\(outcome)")
        }
        let both = try nfc.run("scan", "--tags", "\(unformatted),\(Images.dump("classic-unknown.nfc"))", "--json")
        #expect(try both.objects().map { $0["ok"] as? Bool } == [false] && both.status == 1, "\(both)")
    }

    @Test func `A scan of many tags, none of which can be read, does not claim that no tag came`() throws {
        let outcome = try nfc.run("scan", "--many", "--timeout", "2", "--tags", images.unformatted(), "--json")
        #expect(try outcome.objects().map { $0["error"] as? String } == ["no-cc", "timeout"])
        #expect((try outcome.objects().last?["message"] as? String)?.hasPrefix("A tag came, but ") == true)
        #expect(outcome.status == 1)
    }

    @Test func `A tag that holds no NDEF ends a scan with 1`() throws {
        let outcome = try nfc.run("scan", "--tags", images.unformatted(), "--json")
        #expect(try outcome.objects().first?["error"] as? String == "no-cc")
        #expect(outcome.status == 1)
    }

    @Test func `A reader that there is not ends with 3`() throws {
        let outcome = try nfc.run("scan", "--reader", "nonsense")
        #expect(outcome.output == "")
        #expect(outcome.error.hasPrefix("Error: "))
        #expect(outcome.status == 3)
    }

    @Test func `A link is written to the next tag`() throws {
        let outcome = try nfc.run("write", "https://example.org", "--tags", images.blank("NTAG213"), "--json")
        #expect(try outcome.objects().first?["message_hex"] as? String == "d1010c55046578616d706c652e6f7267")
        #expect(outcome.status == 0)
    }

    @Test func `What is written to a tag of --tags is saved in its file`() throws {
        let image = try images.blank("NTAG215")
        #expect(try nfc.run("write", "--text", "Hi", "--check", "--lock", "--tags", image).status == 0)
        let read = try nfc.run("tag", "read", "--image", image, "--json").objects().first
        #expect(read?["message_hex"] as? String == "d101055402656e4869")
        #expect(read?["status"] as? String == "read-only")
    }

    @Test func `A tag that is read-only is refused before anything is written`() throws {
        let locked = try images.locked()
        let outcome = try nfc.run("write", "--text", "Hello", "--tags", locked, "--json")
        let object = try #require(try outcome.objects().first)
        #expect(object["error"] as? String == "read-only")
        #expect(outcome.status == 1)
        // What is known of the tag follows.
        #expect(object["tag_type"] as? Int == 2 && object["uid"] as? String == "04a1b2c3d4e582")
        #expect(object["status"] as? String == "read-only" && object["capacity"] as? Int == 137)
        #expect(object["message_hex"] as? String == "d1010c55046578616d706c652e636f6d")
        let text = try nfc.run("write", "--text", "Hello", "--tags", locked)
        #expect(text.output.hasPrefix("Type 2, UID 04a1b2c3d4e582\nRead-only, holds up to 137 bytes\n"), "\(text)")
        #expect(text.error.hasPrefix("Error: ") && text.status == 1)
    }

    @Test func `A message that is too long is refused before anything is written`() throws {
        let text = String(repeating: "x", count: 200)
        let outcome = try nfc.run("write", "--text", text, "--tags", images.blank("NTAG213"), "--json")
        #expect(try outcome.objects().first?["error"] as? String == "message-too-long")
        #expect(outcome.status == 1)
    }

    @Test func `The sheet goes where NFC_SHEET says`() throws {
        let nfc = Command(name: "nfc", environment: ["NFC_SHEET": "json"])
        let outcome = try nfc.run("scan", "--tags", images.poster())
        let states = outcome.error.split(separator: "\n").compactMap { $0.firstMatch(of: /"state":"(\w+)"/)?.1 }
        #expect(states == ["ready", "scanning", "scanning", "success"])
    }

    @Test func `The sheet says what to do, and what was done`() throws {
        let nfc = Command(name: "nfc", environment: ["NFC_SHEET": "text"])
        let scan = try nfc.run("scan", "--tags", images.poster())
        #expect(
            scan.error == """
                [Ready to Scan] Hold a tag near the reader.
                [Scanning] Hold a tag near the reader.
                [Scanning] The message was read.
                [Done] The message was read.

                """
        )
        let many = try nfc.run("scan", "--many", "--timeout", "2", "--tags", images.folder.path("poster.nfc"))
        #expect(many.error.hasPrefix("[Ready to Scan] Hold one tag after the other near the reader.\n"), "\(many)")
        #expect(many.error.contains("] Hold the next tag near the reader.\n"), "\(many)")
        let failed = try nfc.run("scan", "--tags", images.unformatted())
        let reason = try #require(failed.error.split(separator: "Error: ").last)
        #expect(failed.error.contains("\n[Failed] \(reason)Error: \(reason)"), "\(failed)")
        let image = try images.blank("NTAG215")
        for (options, done) in [
            (["--check"], "The message is written."), (["--lock"], "The message is written, and the tag locked."),
        ] {
            let write = try nfc.run(["write", "a:b", "--tags", image] + options)
            #expect(write.error.hasPrefix("[Ready to Scan] Hold the tag to write near the reader.\n"), "\(write)")
            #expect(write.error.hasSuffix("[Done] \(done)\n"), "\(write)")
        }
        let tags = try image + "," + images.blank("NTAG213", uid: "04a1b2c3d4e581")
        let several = try nfc.run("write", "a:b", "--timeout", "2", "--tags", tags)
        let sentence = "There is more than one tag. Remove all but one.\n"
        #expect(several.status == 1 && several.error.hasSuffix("\nError: " + sentence), "\(several)")
        #expect(several.error.contains("[Scanning] " + sentence), "\(several)")
    }

    @Test func `Readers lists the virtual one`() throws {
        let outcome = try nfc.run("readers", "--reader", "virtual", "--json")
        let object = try #require(try outcome.objects().first)
        #expect(object["name"] as? String == "virtual" && object["kind"] as? String == "virtual")
        #expect(object["technologies"] as? [String] == ["nfc-a", "nfc-b", "nfc-f", "nfc-v"])
        #expect(object["used"] as? Bool == true && object["presence"] is NSNull)
        #expect(outcome.status == 0)
        let technologies = #"["nfc-a","nfc-b","nfc-f","nfc-v"]"#
        #expect(
            outcome.output
                == #"{"name":"virtual","technologies":\#(technologies),"kind":"virtual","presence":null,"in_use":null,"#
                + #""contactless":null,"atr":null,"used":true}"# + "\n"
        )
        // It is no session, so it is not recorded.
        let record = images.folder.path("record")
        let recording = Command(name: "nfc", environment: ["NFC_SHEET": "none", "NFC_RECORD": record])
        let text = try recording.run("readers", "--reader", "virtual")
        #expect(text.output == "virtual  nfc-a, nfc-b, nfc-f, nfc-v\n")
        #expect(!FileManager.default.fileExists(atPath: record))
    }
}
