// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `nfc tag on a reader` {
    private static let link = "https://example.com"
    private static let message = "d1010c55046578616d706c652e636f6d"
    private let images: Images

    init() throws {
        images = try Images()
    }

    /// The tool with images near the virtual reader, which are saved.
    private func nfc(near tags: String...) -> Command {
        let environment = [
            "NFC_SHEET": "none", "NFC_READER": "virtual", "NFC_TAGS": tags.joined(separator: ","),
            "NFC_TAGS_SAVE": "1",
        ]
        return Command(name: "nfc", environment: environment)
    }

    /// A tag of a product with a link on it.
    private func linked(_ product: String) throws -> String {
        let path = images.folder.path("\(product).json")
        let outcome = try nfc().run("tag", "create", "--product", product, "--message", Self.message, "--out", path)
        try #require(outcome.status == 0, "\(outcome.error)")
        return path
    }

    @Test(arguments: [
        "Topaz 512", "NTAG213", "Ultralight C", "FeliCa Lite-S", "generic Type 4", "generic Type 4B", "NTAG 424 DNA",
        "ICODE SLIX2", "ST25DV04K",
    ])
    func `A tag costs on the virtual reader what its image costs`(product: String) throws {
        let image = try linked(product)
        var onReader = try nfc(near: image).object("tag", "read", "--reader", "virtual")
        var inImage = try nfc().object("tag", "read", "--image", image)
        #expect(onReader["message_hex"] as? String == Self.message)
        // Looking for all systems of FeliCa, and waking a Type B card, is the reader's way.
        for key in ["product", "activation_us"] {
            onReader[key] = nil
            inImage[key] = nil
        }
        #expect(NSDictionary(dictionary: onReader) == NSDictionary(dictionary: inImage))
    }

    @Test(arguments: [
        ("Topaz 512", "Topaz 512"), ("NTAG213", "NTAG213"), ("Ultralight C", "MIFARE Ultralight C"),
        ("FeliCa Lite-S", "FeliCa Lite-S"), ("NTAG 424 DNA", "NTAG 424 DNA"),
        ("DESFire EV1 4K", "MIFARE DESFire EV1 4K"), ("ICODE SLIX2", "ICODE SLIX2"),
    ])
    func `The product is what the tag says`(product: String, said: String) throws {
        #expect(try nfc(near: linked(product)).object("tag", "read")["product"] as? String == said)
    }

    @Test(arguments: ["generic Type 3", "generic Type 4", "generic Type 5"])
    func `A tag that does not say what it is has no product`(product: String) throws {
        #expect(try nfc(near: linked(product)).object("tag", "read")["product"] is NSNull)
    }

    @Test(arguments: ["Topaz 512", "NTAG213", "FeliCa Lite-S", "generic Type 4", "generic Type 4B", "ICODE SLIX2"])
    func `A write costs what it costs on an image, and is on the tag`(product: String) throws {
        let (image, copy) = (try linked(product), images.folder.path("copy.json"))
        try FileManager.default.copyItem(atPath: image, toPath: copy)
        let text = ["--text", "Room 12", "--check"]
        let written = try nfc(near: image).run(["tag", "write", "--reader", "virtual", "--json"] + text).objects()
        let onImage = try nfc().run(["tag", "write", "--image", copy, "--json"] + text).objects()
        for key in ["ok", "uid", "status", "capacity", "message_hex", "exchanges", "bytes_on_air", "airtime_us"] {
            #expect(written.first?[key] as? NSObject == onImage.first?[key] as? NSObject, "\(key)")
        }
        #expect(
            try nfc().object("tag", "read", "--image", image)["message_hex"] as? String
                == "d1010a5402656e526f6f6d203132"
        )
    }

    @Test func `A lock makes the tag read-only, and a further write is refused`() throws {
        let image = try linked("NTAG213")
        let locked = try nfc(near: image).object("tag", "write", "--lock", "--message", "d00000")
        #expect(locked["status"] as? String == "read-only")
        let outcome = try nfc(near: image).run("tag", "write", "--json", Self.link)
        let object = try #require(try outcome.objects().first)
        #expect(object["ok"] as? Bool == false)
        #expect(object["error"] as? String == "read-only")
        #expect(object["message_hex"] as? String == "d00000")
        #expect(object["product"] as? String == "NTAG213")
        #expect(outcome.status == 1)
    }

    @Test func `People read the same as of an image, and the sheet is on standard error`() throws {
        var reading = try nfc(near: images.poster())
        reading.environment["NFC_SHEET"] = "text"
        let outcome = try reading.run("tag", "read", "--reader", "virtual")
        #expect(
            outcome.output == """
                NTAG215, Type 2, UID 04689571fa5c64
                Can be written, holds up to 492 bytes
                \(Images.posterText)
                2 exchanges, 73 bytes, 6585 us on the air, after 4423 us of activation

                """
        )
        #expect(
            outcome.error == """
                [Ready to Scan] Hold a tag near the reader.
                [Scanning] Hold a tag near the reader.
                [Scanning] The tag was read.
                [Done] The tag was read.

                """
        )
        #expect(outcome.status == 0)
    }

    @Test func `A tag without NDEF ends a read with 1 and says which rule it breaks`() throws {
        let outcome = try nfc(near: images.unformatted()).run("tag", "read", "--json")
        let object = try #require(try outcome.objects().first)
        #expect(object["error"] as? String == "no-cc")
        #expect(object["status"] as? String == "not-ndef")
        #expect(object["uid"] as? String == "04a1b2c3d4e581")
        #expect(outcome.status == 1)
    }

    @Test func `A tag of a kind that holds no NDEF is not waited for`() throws {
        let outcome = try nfc(near: images.blank("Classic 1K", uid: "10bc5bf1")).run("tag", "read", "--json")
        let object = try #require(try outcome.objects().first)
        #expect(object["error"] as? String == "unsupported")
        #expect(object["product"] as? String == "MIFARE Classic 1K")
        #expect(object["exchanges"] is NSNull)
        #expect(outcome.status == 1)
    }

    @Test func `A card that holds no NDEF has the same status whether it is read or written`() throws {
        let image = try images.blank("Classic 1K", uid: "10bc5bf1")
        for arguments in [["scan"], ["tag", "read"], ["tag", "write", Self.link]] {
            let outcome = try nfc(near: image).run(arguments + ["--json"])
            #expect(try outcome.objects().first?["status"] as? String == "not-ndef", "\(arguments)")
        }
    }

    @Test func `A tag that does not come ends with 1`() throws {
        let folder = images.folder.path("none")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let outcome = try nfc(near: folder).run("tag", "read", "--timeout", "0.2", "--json")
        #expect(try outcome.objects().first?["error"] as? String == "timeout")
        #expect(outcome.status == 1)
    }

    @Test(arguments: ["read", "info", "write"])
    func `Of several tags none is taken`(command: String) throws {
        let (first, second) = try (images.blank("NTAG213"), images.locked())
        let message = command == "write" ? [Self.link] : []
        let outcome = try nfc(near: first, second).run(["tag", command, "--timeout", "10", "--json"] + message)
        #expect(try outcome.objects().first?["error"] as? String == "several-tags")
        #expect(outcome.status == 1)
        #expect(try nfc().object("tag", "read", "--image", first)["message_hex"] as? String == "")
    }

    @Test(arguments: ["UL21", "Ultralight C", "Topaz 512", "FeliCa Lite-S"])
    func `Info reports the same about a tag as about its image`(product: String) throws {
        let image = try linked(product)
        let onReader = try nfc(near: image).run("tag", "info", "--reader", "virtual", "--json")
        #expect(onReader.status == 0)
        #expect(onReader.output == (try nfc().run("tag", "info", "--image", image, "--json").output))
    }

    @Test(arguments: [
        ("NTAG213", ["version_hex", "pages", "map", "static_lock_hex", "locked_pages", "dynamic_lock_hex", "cc_hex"]),
        ("NTAG 424 DNA", ["version_hex", "ats", "atqa", "sak"]), ("generic Type 4", ["ats", "atqa", "sak"]),
        ("generic Type 4B", ["application_data", "protocol_info"]),
        (
            "ICODE SLIX2",
            [
                "blocks", "block_size", "memory_size", "locked_blocks", "afi", "dsfid", "ic_reference", "counter",
                "cc_hex",
            ]
        ),
        ("ST25DV04K", ["blocks", "memory_size", "locked_blocks", "afi", "dsfid", "ic_reference", "cc_hex"]),
    ])
    func `The facts that info reports about a tag are those of its image`(product: String, keys: [String]) throws {
        let image = try linked(product)
        let onReader = try nfc(near: image).object("tag", "info", "--reader", "virtual")
        let inImage = try nfc().object("tag", "info", "--image", image)
        for key in keys + ["tag_type", "uid", "status", "capacity", "message_hex"] {
            #expect(onReader[key] != nil, "\(key)")
            #expect(onReader[key] as? NSObject == inImage[key] as? NSObject, "\(key)")
        }
    }

    @Test func `Info has the PMm of a tag, unless the reader has ones in its place`() throws {
        let image = try linked("generic Type 3")
        let text = try String(contentsOfFile: image, encoding: .utf8)
        let changed = text.replacing(/"pmm": "[^"]*"/, with: #""pmm": "ffffffffffffffff""#)
        try #require(changed != text)
        #expect(try nfc(near: image).object("tag", "info")["pmm"] is String)
        try changed.write(toFile: image, atomically: true, encoding: .utf8)
        let object = try nfc(near: image).object("tag", "info")
        #expect(object["status"] as? String == "read-write")
        #expect(object["pmm"] == nil && object["system"] == nil)
    }

    @Test(arguments: [
        ("NTAG213", "locked_pages"), ("Ultralight C", "locked_pages"), ("Topaz 512", "lock_hex"),
        ("FeliCa Lite-S", "locked_blocks"), ("ICODE SLIX2", "locked_blocks"), ("ST25DV04K", "locked_blocks"),
    ])
    func `Info reports what is locked`(product: String, key: String) throws {
        let image = try linked(product)
        let open = try nfc(near: image).object("tag", "info")
        #expect(try nfc(near: image).object("tag", "write", "--lock", Self.link)["status"] as? String == "read-only")
        let locked = try nfc(near: image).object("tag", "info")
        let inImage = try nfc().object("tag", "info", "--image", image)
        #expect(locked[key] as? NSObject == inImage[key] as? NSObject)
        #expect(locked[key] as? NSObject != open[key] as? NSObject)
        #expect(locked["status"] as? String == "read-only")
    }

    @Test func `A demonstration tag is not passed off as one on a reader`() throws {
        let alone = Command(name: "nfc", environment: ["NFC_SHEET": "none"])
        let outcome = try alone.run("tag", "read", "--json")
        #expect(outcome.error.hasPrefix("No contactless reader was found"))
        #expect(outcome.lines.count == 1)
        #expect(outcome.status == 0)
        #expect(try alone.run("tag", "read", "--reader", "virtual").error == "")
        // The commands with the sheet say it too, and above all before a lock.
        for words in [["scan"], ["write", "--lock", "a:b"]] {
            let outcome = try alone.run(words + ["--json"])
            #expect(outcome.status == 0 && outcome.lines.count == 1, "\(outcome)")
            #expect(
                outcome.error == """
                    No contactless reader was found, so the virtual reader and its demonstration tag are used. Name a reader \
                    with --reader, or an image with --tags.

                    """
            )
            #expect(try alone.run(words + ["--reader", "virtual"]).error == "")
        }
    }

    @Test func `Info keeps quiet about what a password guards`() throws {
        let image = images.folder.path("guarded.json")
        // Everything from page 4 on needs the password, for reading too.
        let original = try linked("NTAG213")
        let text = try String(contentsOfFile: original, encoding: .utf8)
        let changed = text.replacingOccurrences(of: "bd040000ff00000000ffffffff", with: "bd0400000480000000ffffffff")
        try #require(changed != text)
        try changed.write(toFile: image, atomically: true, encoding: .utf8)
        let object = try nfc(near: image).object("tag", "info")
        #expect(object["product"] as? String == "NTAG213")
        #expect(object["pages"] as? Int == 45)
        #expect(object["locked_pages"] == nil)
        #expect(object["protected_from_page"] == nil)
        // An image has what a reader can't see.
        let lines = try nfc().run("tag", "info", "--image", image).lines
        #expect(lines.contains("Password   pages from 4 on need a password; 0 failed in a row"), "\(lines)")
    }

    @Test func `A recording gives what the reader gave`() throws {
        let (image, file) = (try linked("NTAG213"), images.folder.path("recording.jsonl"))
        for command in ["read", "info"] {
            var recording = nfc(near: image)
            recording.environment["NFC_RECORD"] = file
            var first = try recording.object("tag", command)
            let replay = Command(name: "nfc", environment: ["NFC_SHEET": "none"])
            var second = try replay.object("tag", command, "--reader", "replay:" + file)
            // A recording does not know for how long a tag programmed.
            if command == "read" { #expect(second["tag_work_us"] is NSNull) }
            first["tag_work_us"] = nil
            second["tag_work_us"] = nil
            #expect(NSDictionary(dictionary: first) == NSDictionary(dictionary: second))
        }
    }

    @Test func `Without --reader it is the reader of the environment`() throws {
        let none = Command(name: "nfc", environment: ["NFC_READER": "none"])
        #expect(try none.run("tag", "read").status == 3)
        #expect(try none.run("tag", "write", Self.link).status == 3)
        #expect(try none.run("tag", "info", "--json").objects().first?["error"] as? String == "no-reader")
        #expect(try nfc(near: linked("NTAG213")).object("tag", "read")["message_hex"] as? String == Self.message)
    }

    @Test(arguments: [
        ["read", "--image", "x.nfc", "--reader", "virtual"], ["info", "--image", "x.nfc", "--reader", "virtual"],
        ["write", "--image", "x.nfc", "--reader", "virtual", "--message", "d00000"],
        ["read", "--reader", "virtual", "--out", "x.nfc"], ["read", "--reader", "virtual", "--id", "x"],
        ["write", "--reader", "virtual", "--out", "x.nfc", "--message", "d00000"],
        ["write", "--reader", "virtual", "--tear-after", "1", "--message", "d00000"],
        ["read", "--image", "x.nfc", "--timeout", "1"], ["read", "--reader", "virtual", "--timeout", "0"],
    ])
    func `An option that belongs to the other place is wrong usage`(arguments: [String]) throws {
        let outcome = try nfc().run(["tag"] + arguments)
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.error.contains(arguments.contains("x.nfc") ? "--image" : "--"))
        #expect(outcome.error.hasPrefix("Error: "))
    }
}
