// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// JSON images: the conformance vectors, and changes.
struct JSONImageTests {
    private static let small =
        #"{"type": "T2T", "product": "Ultralight", "uid": "04a1b2c3d4e580", "memory_hex": "MEMORY"}"#

    private func image(_ text: String) throws -> TagImage {
        try TagImage(parsing: Array(text.utf8))
    }

    private func failure(_ text: String) -> TagImageError? {
        do {
            _ = try image(text)
            return nil
        } catch {
            return error as? TagImageError
        }
    }

    /// The image as JSON reads it.
    private func object(_ line: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
    }

    @Test func `JSON vector of Type 2: the memory is answered byte for byte`() async throws {
        var count = 0
        for line in try Files.images() {
            let object = try object(line)
            guard object["type"] as? String == "T2T" else { continue }
            count += 1
            let id = try #require(object["id"] as? String)
            let image = try TagImage(parsing: line)
            #expect(try image.encoded() == line, "\(id)")
            #expect(image.product == object["product"] as? String, "\(id)")
            let memory = hex(try #require(object["memory_hex"] as? String))
            #expect(image.contents.type2?.memory == memory)

            let script = try Script(image.makeTag())
            try await script.activate(image.uid)
            if let version = object["get_version"] as? String, version.count == 16 {
                #expect(await script.send("60") == hexText(hex(version)))
            }
            var answered: [UInt8] = []
            let product = try #require(image.contents.type2?.product)
            let pages = product == .ultralightC ? 44 : memory.count / 4
            for page in 0..<pages {
                if page == 256 {
                    #expect(await script.send("c2 ff") == "ACK")
                    #expect(await script.send("01 00 00 00") == "timeout")
                }
                answered += hex(await script.send("30 " + hexText([UInt8(page % 256)]))).prefix(4)
            }
            var expected = Array(memory.prefix(pages * 4))
            // The password and its acknowledgement read as 0.
            if product.name.hasPrefix("NTAG21") || product.name.contains("EV1") {
                expected.replaceSubrange((pages * 4 - 8)..<(pages * 4 - 2), with: [0, 0, 0, 0, 0, 0])
            }
            #expect(answered == expected, "\(id)")
        }
        #expect(count == 15)
    }

    @Test func `JSON vector: each loads, and is written as it was read`() throws {
        let numbers = ["T1T": 1, "T2T": 2, "T3T": 3, "T4T": 4, "T5T": 5]
        for line in try Files.images() {
            let object = try object(line)
            let id = try #require(object["id"] as? String)
            let image = try TagImage(parsing: line)
            #expect(try image.encoded() == line, "\(id)")
            #expect(image.tagType == numbers[try #require(object["type"] as? String)], "\(id)")
            #expect(image.product == object["product"] as? String, "\(id)")
            #expect(image.uid == hex(try #require(object["uid"] as? String)), "\(id)")
            // A new file of the same tag says the same.
            let new = try TagImage(image.contents).encoded()
            #expect(try TagImage(parsing: new).contents == image.contents, "\(id)")
            // An image of a Type 2 tag may lack pages that the tag has.
            if image.tagType != 2 { #expect(TagContents(of: image.makeTag()) == image.contents, "\(id)") }
        }
    }

    @Test(arguments: [("NTAG213", true), ("Ultralight", false)]
    )
    func `JSON version: a tag answers with it where its product has the command`(product: String, hasVersion: Bool)
        throws
    {
        let version = "0004040201000f04"
        let text = Self.small.replacing("Ultralight", with: product)
            .replacing("MEMORY", with: String(repeating: "00", count: 16))
            .replacing("}", with: ", \"get_version\": \"\(version)\"}")
        let contents = try #require(try image(text).contents.type2)
        #expect(contents.version == (hasVersion ? hex(version) : nil))
        #expect(failure(text.replacing(version, with: "00040402"))?.code == (hasVersion ? .malformed : nil))
    }

    @Test func `JSON syntax: escapes, nesting and space are read`() throws {
        let memory = String(repeating: "00", count: 16)
        let text = """
            {
              "t\\u0079pe" : "T2T", "product":"MIFARE Ultralight","uid":"04A1B2C3D4E580",
              "more": {"a": [1, -2.5e3, true, null, {"b": "\\"\\\\\\ud83d\\ude00"}], "c": {}}, "empty": [],
              "memory_hex": "\(memory)"
            }

            """
        let image = try image(text)
        #expect(image.contents.type2?.product == .ultralight)
        #expect(try image.encoded() == Array(text.utf8))
    }

    @Test func `JSON image cut at any byte: refused`() throws {
        let line = try #require(try Files.images().first { try object($0)["id"] as? String == "t2t-09" })
        for count in 0..<line.count {
            #expect(throws: TagImageError.self) { try TagImage(parsing: Array(line.prefix(count))) }
        }
    }
}

/// JSON images of FeliCa and Type 4 cards.
struct JSONCardTests {
    private func text(_ contents: TagContents) throws -> String {
        String(decoding: try TagImage(contents).encoded(), as: UTF8.self)
    }

    private func contents(_ text: String) throws -> TagContents { try TagImage(parsing: Array(text.utf8)).contents }

    @Test
    func `JSON Type 1: the UID has to be that of the memory`() throws {
        let contents = TagContents.type1(Type1Contents(blank: .topaz96, uid: VirtualType1Tag.defaultUID))
        let text = try text(contents)
        let uid = "\"uid\": \"\(hexText(contents.uid).filter { $0 != " " })\""
        #expect(text.contains(uid))
        let error = try #require(Files.failure(text.replacing(uid, with: "\"uid\": \"00000000000000\"")))
        #expect(error.code == .inconsistent && error.line == 1)
        #expect(error.reason == "\"uid\" is not what the memory begins with.")
    }

    private static let generic =
        #"{"type": "T4T", "product": "generic Type 4", "uid": "01020304050607", "ats": "0278", "#

    @Test
    func `JSON Type 4: usual answers, and files of 64 KiB at most`() throws {
        let text = Self.generic
        guard case .type4(let card) = try contents("\(text)\"files\": {\"e103\": \"00\"}}") else {
            throw TagImageError(.unsupported, "")
        }
        let front = Type4FrontEnd.nfcA(uid: [1, 2, 3, 4, 5, 6, 7], atqa: 0x0344, sak: 0x20, ats: [0x02, 0x78])
        #expect(card.frontEnd == front && card.kind == .ndef(files: [0xE103: [0x00]]))
        for (count, code): (Int, TagImageError.Code?) in [(0x1_0000, nil), (0x1_0001, .malformed)] {
            let file = String(repeating: "00", count: count)
            #expect(Files.failure("\(text)\"files\": {\"e104\": \"\(file)\"}}")?.code == code, "\(count)")
        }
        #expect(Files.failure("\(text)\"files\": {}}")?.code == .malformed)
        #expect(Files.failure("\(text)\"files\": {\"e103\": 5}}")?.code == .malformed)
    }

    @Test(arguments: [
        (2272 - 64 - 15, DESFireContents.Size.kilobytes2), (2272 - 64 - 14, .kilobytes4),
        (4832 - 64 - 15, .kilobytes4), (4832 - 64 - 14, .kilobytes8), (9000, .kilobytes8),
    ]
    )
    func `JSON DESFire without a version: the smallest that has room`(count: Int, size: DESFireContents.Size) throws {
        let files = [String(repeating: "00", count: 15), String(repeating: "00", count: count)]
        let text =
            Self.generic.replacing("generic Type 4", with: "DESFire EV2")
            + "\"files\": {\"e103\": \"\(files[0])\", \"e104\": \"\(files[1])\"}}"
        guard case .type4(let contents) = try self.contents(text), case .desfire(let card) = contents.kind else {
            throw TagImageError(.unsupported, "")
        }
        #expect(card.size == size && card.generation == .ev2)
    }

    @Test
    func `JSON DESFire of NDEF: what is not as delivered is beside the files`() throws {
        var card = DESFireContents.ndef(generation: .ev1, size: .kilobytes2)
        card.configuration.usesRandomUID = true
        card.freeMemory = 64
        let front = Type4FrontEnd.nfcA(uid: card.uid, ats: hex("06 75 77 81 02 80"))
        let held = TagContents.type4(Type4Contents(frontEnd: front, kind: .desfire(card)))
        let text = try text(held)
        #expect(text.contains("\", \"free_memory\": 64, \"random_uid\": true, \"files\": {\"e103\": \""))
        #expect(!text.contains("applications"))
        #expect(try contents(text) == held)
        for (free, code): (Int, TagImageError.Code?) in [(0xFF_FFFF, nil), (0x100_0000, .malformed), (-1, .malformed)] {
            let changed = text.replacing("\"free_memory\": 64", with: "\"free_memory\": \(free)")
            #expect(Files.failure(changed)?.code == code, "\(free)")
        }
    }

    @Test
    func `JSON NTAG 424: what is not zero, and files of its own sizes`() throws {
        var card = NTAG424Contents()
        let plain = try text(try #require(TagContents(of: VirtualType4Tag(card))))
        #expect(!plain.contains("signature") && !plain.contains("read_counter"))
        card.readCounter = 1
        card.signature = Array(repeating: 0, count: 55) + [0x5A]
        let held = try #require(TagContents(of: VirtualType4Tag(card)))
        let text = try text(held)
        #expect(text.contains("\"read_counter\": 1, \"signature\": \"0000"))
        #expect(try contents(text) == held)
        for (counter, code): (Int, TagImageError.Code?) in [(0xFF_FFFF, nil), (0x100_0000, .malformed)] {
            let changed = text.replacing("\"read_counter\": 1", with: "\"read_counter\": \(counter)")
            #expect(Files.failure(changed)?.code == code, "\(counter)")
        }
        let longer = try #require(Files.failure(text.replacing("\"}}\n", with: "00\"}}\n")))
        #expect(longer.code == .inconsistent && longer.reason == "A file is not of the product's size.")
        let fewer = try #require(Files.failure(text.replacing("\"e104\": ", with: "\"e107\": ")))
        #expect(fewer.code == .missingField && fewer.reason == "File \"e104\" is missing.")
    }

    @Test(arguments: [
        ("1", "aes:K:03", true), ("1", "aes:K", true), ("1", "aes:K:", false), ("1", "aes::K", false),
        ("1", "aes:K:03:04", false), ("1", "aes:K:0304", false), ("1", "des:K:03", false), ("1", "des:K", false),
        ("2", "aes:K", false), ("01", "aes:K", true), ("x", "aes:K", false), ("master", "des:K", true),
    ]
    )
    func `JSON key: kind, bytes, and a version for AES`(name: String, key: String, isTaken: Bool) throws {
        var card = DESFireContents.ndef(generation: .ev2, size: .kilobytes2)
        card.applications[0].keyCount = 0x82
        card.applications[0].keys = [.zero(.aes), .zero(.aes)]
        let text = try text(try #require(TagContents(of: VirtualType4Tag(card))))
        let digits = "0102030405060708090a0b0c0d0e0f10"
        let member = "\"keys\": {\"\(name)\": \"\(key.replacing("K", with: digits))\"}"
        let error = Files.failure(text.replacing("\"files\": ", with: "\(member), \"files\": "))
        #expect(error?.code == (isTaken ? nil : .malformed))
    }
}

/// JSON images of cards with keys.
struct JSONKeyTests {
    private func image(_ text: String) throws -> TagImage {
        try TagImage(parsing: Array(text.utf8))
    }

    private func error(_ text: String) -> TagImageError? {
        do {
            _ = try image(text)
            return nil
        } catch {
            return error as? TagImageError
        }
    }

    private func text(_ image: TagImage) throws -> String {
        try #require(String(validating: image.encoded(), as: UTF8.self))
    }

    @Test func `JSON NTAG 424: keys, settings and counter are kept`() throws {
        var contents = NTAG424Contents()
        let isSet = contents.setLink("https://example.com/t?e={picc}&c={cmac}")
        #expect(isSet)
        contents.keys[1] = try #require(DESFireKey(.aes, Array(0..<16), version: 3))
        contents.readCounter = 41
        let tag = VirtualType4Tag(contents)
        let held = try #require(TagContents(of: tag))
        let text = try text(TagImage(held))
        #expect(text.contains(#""keys": {"1": "aes:000102030405060708090a0b0c0d0e0f:03"}"#))
        #expect(text.contains(#""file_settings": {"e104": "40e0eec1ff21"#))
        #expect(text.contains(#""read_counter": 41"#))
        #expect(try image(text).contents == held)

        var image = try image(text)
        let read = try #require(image.makeTag() as? VirtualType4Tag)
        var card = try #require(read.card as? NTAG424Card)
        for command in ["00 a4 04 00 07 d2 76 00 00 85 01 01 00", "00 b0 84 00 10"] {
            _ = card.process(hex(command), tear: nil)
        }
        image.update(from: VirtualType4Tag(card: card, frontEnd: read.frontEnd))
        #expect(try self.text(image).contains(#""read_counter": 42"#))
    }

    @Test(arguments: [
        (#""keys": {"0": "aes:00"}"#, TagImageError.Code.malformed),
        (#""keys": {"5": "aes:000102030405060708090a0b0c0d0e0f"}"#, .malformed),
        (#""keys": {"1": "des:000102030405060708090a0b0c0d0e0f"}"#, .malformed),
        (#""keys": {"1": "aes:000102030405060708090a0b0c0d0e0f:1"}"#, .malformed),
        (#""keys": {"1": 5}"#, .malformed), (#""file_settings": {"e104": "04"}"#, .malformed),
        (#""file_settings": {"e1": "00e0ee"}"#, .malformed),
        (#""file_settings": {"e103": "40e0eec1ff21"}"#, .malformed),
    ])
    func `JSON keys and settings that can not be: malformed`(member: String, code: TagImageError.Code) throws {
        let held = try #require(TagContents(of: VirtualType4Tag(NTAG424Contents())))
        let text = try text(TagImage(held))
        #expect(!text.contains("keys"))
        let changed = text.replacing("}}", with: "}, \(member)}")
        #expect(error(changed)?.code == code)
    }
}

/// Images of travel documents.
struct EMRTDImageTests {
    private static let machineReadableZone = """
        P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<
        L898902C36UTO7408122F1204159ZE184226B<<<<<10
        """
    private static let zone = machineReadableZone.replacing("\n", with: "\\n")

    @Test func `JSON travel document: a zone and an identifier are enough`() throws {
        let text = #"{"type": "T4T", "product": "eMRTD", "uid": "08aabbcc", "mrz": "\#(Self.zone)"}"#
        let image = try TagImage(parsing: Array(text.utf8))
        #expect(image.product == "eMRTD" && image.uid == hex("08 aa bb cc"))
        let tag = try #require(image.makeTag() as? VirtualType4Tag)
        #expect(tag.frontEnd == .emrtd(uid: hex("08 aa bb cc")))
        let contents = try EMRTDContents(MachineReadableZone(Self.machineReadableZone), signer: .test)
        #expect(tag.contents?.kind == .emrtd(contents))
        #expect(try image.encoded() == Array(text.utf8))
    }

    @Test(arguments: [true, false]) func `JSON travel document: a new image holds it whole`(hasCardAccess: Bool) throws
    {
        var contents = try EMRTDContents(MachineReadableZone(Self.machineReadableZone), signer: .test)
        if hasCardAccess { contents.cardAccess = hex("31 00") }
        let tag = TagContents.type4(Type4Contents(frontEnd: .randomEMRTD, kind: .emrtd(contents)))
        let again = try TagImage(parsing: TagImage(tag).encoded())
        #expect(again.contents == tag)
    }
}
