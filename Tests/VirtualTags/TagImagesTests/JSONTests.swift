// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualTags

/// JSON images: the conformance vectors, and the syntax.
struct JSONImageTests {
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
            let memory = hex(try #require(object["memory_hex"] as? String))
            #expect(image.contents.type2?.memory == memory, "\(id)")
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
        let lines = try Files.images()
        #expect(lines.count == 34)
        for line in lines {
            let object = try object(line)
            let id = try #require(object["id"] as? String)
            let image = try TagImage(parsing: line)
            #expect(try image.encoded() == line, "\(id)")
            #expect(image.tagType == numbers[try #require(object["type"] as? String)], "\(id)")
            #expect(image.contents.model == object["product"] as? String, "\(id)")
            #expect(image.uid == hex(try #require(object["uid"] as? String)), "\(id)")
            #expect(try image.contents.returns(), "\(id)")
            // An image of a Type 2 tag may lack pages that the tag has.
            if image.tagType != 2 { #expect(TagContents(of: image.makeTag()) == image.contents, "\(id)") }
        }
    }

    @Test func `JSON syntax: escapes, nesting and space are read`() throws {
        let text = """
            {
              "t\\u0079pe" : "T2T", "product":"MIFARE Ultralight","uid":"04A1B2C3D4E580",
              "more": {"a": [1, -2.5e3, true, null, {"b": "\\"\\\\\\ud83d\\ude00"}], "c": {}}, "empty": [],
              "memory_hex": "\(String(repeating: "00", count: 16))"
            }

            """
        let image = try TagImage(parsing: Array(text.utf8))
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

/// JSON images of each kind of tag, and of what guards it.
struct JSONContentsTests {
    @Test func `JSON of a Type 5 tag: locks, passwords and modes are kept; a new tag has no members for them`() throws {
        var slix = Type5Contents(blank: .icodeSLIX2)
        (slix.lockedBlocks, slix.afi, slix.dsfid, slix.counter) = ([0, 3], 0x21, 0x05, 300)
        (slix.isAFILocked, slix.isSurveillanceSet) = (true, false)
        slix.protection.pointer = 40
        slix.protection.condition = [.readLow, .writeHigh]
        slix.protection.isConditionLocked = true
        slix.protection.lockedPasswords = [0x01, 0x10]
        slix.protection.needsBothPasswords = true
        slix.protection.isSurveillanceProtected = true
        slix.protection.isFamilyProtected = true
        slix.protection.surveillanceIdentifier = 0x1234
        slix.protection.isCounterProtected = true
        slix.protection.isPrivate = true
        slix.protection.isDestroyed = true
        slix.protection.isPersistentlyQuiet = true
        var plain = Type5Contents(blank: .st25tv02K)
        plain.settings.registers[0] = 0x07
        plain.settings.passwords[3] = [1, 2, 3, 4]
        plain.settings.isKillLocked = true
        plain.settings.isKilled = true
        plain.settings.isUntraceable = true
        plain.settings.isSurveillanceSet = true
        plain.settings.isSurveillanceLocked = true
        plain.settings.surveillanceIdentifier = 0x4321
        plain.settings.telegram[31] = 0x55
        plain.settings.telegramLength = 2
        plain.settings.isTamperLoopClosed = false
        var dynamic = Type5Contents(blank: .st25dv64K)
        dynamic.settings.registers[5] = 0x10
        dynamic.settings.passwords[1][7] = 0x77
        dynamic.settings.isSupplied = false
        for contents in [slix, plain, dynamic] { #expect(try TagContents.type5(contents).returns()) }
        for product in [Type5Product.icodeSLIX, .st25tv512, .generic(blockCount: 16)] {
            let text = try TagContents.type5(Type5Contents(blank: product)).text()
            #expect(text.split(separator: ", ").last?.hasPrefix("\"memory_hex\": ") == true, "\(product)")
        }
    }

    @Test func `JSON of a Type 1 or Type 4B tag: header, UID and files are kept`() throws {
        var topaz = Type1Contents(blank: .topaz96, uid: VirtualType1Tag.defaultUID)
        topaz.header = [0x11, 0x49]
        let front = Type4FrontEnd.nfcB(pupi: hex("01 02 03 04"))
        let other = Type4Contents(frontEnd: front, kind: .ndef(files: NDEFApplication(size: 50).files))
        for contents in [TagContents.type1(topaz), .type4(other)] { #expect(try contents.returns()) }
        let uid = hexText(topaz.memory.prefix(7)).filter { $0 != " " }
        let error = Files.failure(
            try TagContents.type1(topaz).text().replacing("\"\(uid)\"", with: "\"00000000000000\"")
        )
        #expect(error?.code == .inconsistent, "The UID has to be that of the memory.")
    }

    @Test func `JSON FeliCa: 1 to 16 systems; 15 blocks to read and 13 to write if the file has no limits`() throws {
        let head = #"{"type": "T3T", "product": "FeliCa", "uid": "0102030405060708", "pmm": "0102030405060708", "#
        func text(_ systems: [String]) -> String { head + "\"systems\": {\(systems.joined(separator: ", "))}}" }
        let files = #""files": {"0009,000b": {"memory_hex": "\#(String(repeating: "00", count: 64))"}}"#
        let two = text(["\"0003\": {\(files)}", "\"fe00\": {\"maximum_read\": 4, \(files)}"])
        let card = try #require(try TagContents(text: two).feliCa)
        #expect(card.systems.map(\.code) == [0x0003, 0xFE00])
        #expect(card.systems.map(\.maximumRead) == [15, 4] && card.systems.map(\.maximumWrite) == [13, 13])
        #expect(card.systems[0].files.map(\.serviceCodes) == [[0x0009, 0x000B]])
        for (count, code): (Int, TagImageError.Code?) in [(0, .inconsistent), (16, nil), (17, .inconsistent)] {
            let many = (0..<count).map { "\"\(hexText([0, UInt8($0)]).filter { $0 != " " })\": {\(files)}" }
            #expect(Files.failure(text(many))?.code == code, "\(count)")
        }
        let plain = head.replacing("\"FeliCa\"", with: "\"generic Type 3\"")
        let memories: [(String, TagImageError.Code?)] = [
            ("", .inconsistent), (String(repeating: "00", count: 15), .inconsistent),
            ("10040100" + String(repeating: "00", count: 10) + "0015", nil),
        ]
        for (memory, code) in memories {
            #expect(Files.failure(plain + "\"memory_hex\": \"\(memory)\"}")?.code == code, "\(memory)")
        }
    }

    private static let generic =
        #"{"type": "T4T", "product": "generic Type 4", "uid": "01020304050607", "ats": "0278", "#

    @Test func `JSON Type 4: ATQA and SAK of a DESFire if the image has none; a file over 64 KiB is malformed`() throws
    {
        let card = try TagContents(text: "\(Self.generic)\"files\": {\"e103\": \"00\"}}").type4
        let front = Type4FrontEnd.nfcA(uid: [1, 2, 3, 4, 5, 6, 7], atqa: 0x0344, sak: 0x20, ats: [0x02, 0x78])
        #expect(card == Type4Contents(frontEnd: front, kind: .ndef(files: [0xE103: [0x00]])))
        for (count, code): (Int, TagImageError.Code?) in [(0x1_0000, nil), (0x1_0001, .malformed)] {
            let file = String(repeating: "00", count: count)
            #expect(Files.failure("\(Self.generic)\"files\": {\"e104\": \"\(file)\"}}")?.code == code, "\(count)")
        }
        for files in ["{}", "{\"e103\": 5}"] {
            #expect(Files.failure("\(Self.generic)\"files\": \(files)}")?.code == .malformed, "\(files)")
        }
    }

    @Test func `JSON DESFire without a version: the smallest size that has room`() throws {
        let sizes: [(Int, DESFireContents.Size)] = [
            (2272 - 64 - 15, .kilobytes2), (2272 - 64 - 14, .kilobytes4), (4832 - 64 - 15, .kilobytes4),
            (4832 - 64 - 14, .kilobytes8), (9000, .kilobytes8),
        ]
        for (count, size) in sizes {
            let files = [String(repeating: "00", count: 15), String(repeating: "00", count: count)]
            let text =
                Self.generic.replacing("generic Type 4", with: "DESFire EV2")
                + "\"files\": {\"e103\": \"\(files[0])\", \"e104\": \"\(files[1])\"}}"
            let card = try #require(try TagContents(text: text).desfire)
            #expect(card.size == size && card.generation == .ev2, "\(count)")
        }
    }

    @Test func `JSON DESFire with NDEF: settings that differ from those at delivery are written beside the files`()
        throws
    {
        var card = DESFireContents.ndef(generation: .ev1, size: .kilobytes2)
        card.configuration.usesRandomUID = true
        card.freeMemory = 64
        let held = try #require(TagContents(of: VirtualType4Tag(card)))
        let text = try held.text()
        #expect(text.contains("\", \"free_memory\": 64, \"random_uid\": true, \"files\": {\"e103\": \""))
        #expect(!text.contains("applications"))
        #expect(try held.returns())
        for (free, code): (Int, TagImageError.Code?) in [(0xFF_FFFF, nil), (0x100_0000, .malformed), (-1, .malformed)] {
            let changed = text.replacing("\"free_memory\": 64", with: "\"free_memory\": \(free)")
            #expect(Files.failure(changed)?.code == code, "\(free)")
        }
    }

    @Test func `JSON NTAG 424: keys, settings and counter are kept, and an update has the new counter`() throws {
        var contents = NTAG424Contents()
        let plain = try #require(TagContents(of: VirtualType4Tag(contents))).text()
        for word in ["keys", "signature", "read_counter", "lrp"] { #expect(!plain.contains(word), "\(word)") }
        contents.usesLRP = true
        let isSet = contents.setLink("https://example.com/t?e={picc}&c={cmac}")
        #expect(isSet)
        contents.keys[1] = try #require(DESFireKey(.aes, Array(0..<16), version: 3))
        contents.readCounter = 41
        contents.signature = Array(repeating: 0, count: 55) + [0x5A]
        let held = try #require(TagContents(of: VirtualType4Tag(contents)))
        let text = try held.text()
        #expect(text.contains(#""keys": {"1": "aes:000102030405060708090a0b0c0d0e0f:03"}"#))
        #expect(text.contains(#""file_settings": {"e104": "40e0eec1ff21"#))
        #expect(text.contains("\"lrp\": true, \"read_counter\": 41, \"signature\": \"0000"))
        #expect(try held.returns())
        let faults: [(String, String, TagImageError.Code?)] = [
            ("\"read_counter\": 41", "\"read_counter\": 16777215", nil),
            ("\"read_counter\": 41", "\"read_counter\": 16777216", .malformed),
            ("\"e105\": \"", "\"e105\": \"00", .inconsistent), ("{\"e103\": ", "{\"e107\": ", .missingField),
        ]
        for (old, new, code) in faults {
            #expect(Files.failure(text.replacing(old, with: new))?.code == code, "\(new)")
        }
        var image = try TagImage(parsing: Array(text.utf8))
        let read = try #require(image.makeTag() as? VirtualType4Tag)
        var card = try #require(read.card as? NTAG424Card)
        for command in ["00 a4 04 00 07 d2 76 00 00 85 01 01 00", "00 b0 84 00 10"] {
            _ = card.process(hex(command), tear: nil)
        }
        image.update(from: VirtualType4Tag(card: card, frontEnd: read.frontEnd))
        #expect(String(decoding: try image.encoded(), as: UTF8.self).contains(#""read_counter": 42"#))
    }

    @Test func `JSON keys and settings: a wrong kind, key number, length or version is malformed`() throws {
        let digits = "0102030405060708090a0b0c0d0e0f10"
        var card = DESFireContents.ndef(generation: .ev2, size: .kilobytes2)
        card.applications[0].keyCount = 0x82
        card.applications[0].keys = [.zero(.aes), .zero(.aes)]
        let desfire = try #require(TagContents(of: VirtualType4Tag(card))).text()
        let ntag = try #require(TagContents(of: VirtualType4Tag(NTAG424Contents()))).text()
        // The key's name and its value, of which K stands for 16 bytes.
        let taken = "1=aes:K:03 1=aes:K 01=aes:K master=des:K"
        let refused = "1=aes:K: 1=aes::K 1=aes:K:03:04 1=aes:K:0304 1=des:K:03 1=des:K 2=aes:K x=aes:K"
        for (rows, code): (String, TagImageError.Code?) in [(taken, nil), (refused, .malformed)] {
            for row in rows.split(separator: " ") {
                let sides = row.replacing("K", with: digits).split(separator: "=")
                let member = "\"keys\": {\"\(sides[0])\": \"\(sides[1])\"}, \"files\": "
                #expect(Files.failure(desfire.replacing("\"files\": ", with: member))?.code == code, "\(row)")
            }
        }
        let members = [
            #""keys": {"0": "aes:00"}"#, #""keys": {"5": "aes:\#(digits)"}"#, #""keys": {"1": "des:\#(digits)"}"#,
            #""keys": {"1": 5}"#, #""file_settings": {"e104": "04"}"#, #""file_settings": {"e1": "00e0ee"}"#,
            #""file_settings": {"e103": "40e0eec1ff21"}"#,
        ]
        for member in members {
            #expect(Files.failure(ntag.replacing("}}", with: "}, \(member)}"))?.code == .malformed, "\(member)")
        }
    }

    @Test func `JSON MIFARE Plus: keys are kept; a key or a size that the card has not is malformed`() throws {
        let digits = "0102030405060708090a0b0c0d0e0f10"
        let contents = try #require(TagProduct(named: "MIFARE Plus EV1 2K SL3")).blank(uid: [4, 1, 2, 3, 4, 5, 6])
        let text = try contents.text()
        #expect(!text.contains("keys") && text.contains("\"atqa\": \"0044\""))
        let rows: [(String, TagImageError.Code?)] = [
            ("4000", nil), ("403f", nil), ("9000", nil), ("9001", nil), ("4040", .malformed), ("9002", .malformed),
            ("x", .malformed),
        ]
        for (number, code) in rows {
            let keyed = text.replacing("}\n", with: ", \"keys\": {\"\(number)\": \"aes:\(digits)\"}}\n")
            #expect(Files.failure(keyed)?.code == code, "\(number)")
            guard code == nil else { continue }
            let held = try TagImage(parsing: Array(keyed.utf8)).contents
            #expect(try held.text() == keyed && held.holdsSecrets && held != contents)
        }
        let short = text.replacing("0000000000000000", with: "", maxReplacements: 1)
        #expect(Files.failure(short)?.code == .malformed)
    }

    @Test func `JSON card of applications: kept with any account name; an unknown or invalid value is named`() throws {
        func text(_ applications: String) -> [UInt8] {
            let head = #"{"type": "T4T", "product": "ISO 7816 card", "uid": "04a1b2c3d4e580", "ats": "0578807002", "#
            return Array((head + #""applications": "# + applications + "}").utf8)
        }
        let account = #""account Ex\"ample:é\u200b": "730721060102030405""#
        let image = try TagImage(parsing: text(#"{"oath": {"id": "0102030405060708", "# + account + "}}"))
        #expect(image.contents.product == "ISO 7816 card" && image.contents.holdsSecrets)
        let written = TagImage(image.contents, format: .json)
        #expect(try TagImage(parsing: written.encoded()).contents == image.contents)
        let rows = [
            ("{}", "no application"), (#"{"gpg": {"id": "00"}}"#, #"no application "gpg""#),
            (#"{"oath": {}}"#, #""id" of "oath""#), (#"{"oath": {"id": "0102030405060708", "pin": "31"}}"#, #""pin""#),
            (#"{"oath": {"id": "0102030405060708", "account a": "73032106"}}"#, #""account a""#),
            (#"{"piv": {"pin": "3132333435363738", "tries": "0304"}}"#, #""tries""#),
            (#"{"piv": {"pin": "3132333435363738", "tries": "0303", "key 9b": "1100"}}"#, #""key 9b""#),
            (#"{"piv": {"pin": "3132333435363738", "tries": "0303", "5FC102": "5300"}}"#, #""5FC102""#),
            (#"{"oath": {"id": "0102030405060708", "code": "21"}}"#, #""code""#), (#"{"oath": {"id": 1}}"#, #""id""#),
            (#"{"emv": {"aid": "f04f434e"}}"#, #""options" of "emv""#),
            (#"{"emv": {"aid": "f04f434e", "options": ""}}"#, #""aid""#),
            (#"{"emv": {"aid": "f04f434e46", "options": "82"}}"#, #""options""#),
            (#"{"emv": {"aid": "f04f434e46", "options": "", "key": "3003020100"}}"#, #""key""#),
            (#"{"emv": {"aid": "f04f434e46", "options": "", "record 1 01": "7000"}}"#, #""record 1 01""#),
            (#"{"emv": {"aid": "f04f434e46", "options": "", "9f3": "00"}}"#, #""9f3""#),
            (#"{"emv": {"aid": "f04f434e46", "options": "", "9f36": "00"}}"#, #""9f36""#),
        ]
        for (applications, reason) in rows {
            let error = #expect(throws: TagImageError.self) { try TagImage(parsing: text(applications)) }
            #expect(error?.code == .malformed && error?.reason.contains(reason) == true, "\(applications)")
        }
    }

    @Test func `JSON travel document: loads from an MRZ and a UID alone, and is written as it was read`() throws {
        let zone = """
            P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<
            L898902C36UTO7408122F1204159ZE184226B<<<<<10
            """
        let line = zone.replacing("\n", with: "\\n")
        let text = #"{"type": "T4T", "product": "eMRTD", "uid": "08aabbcc", "mrz": "\#(line)"}"#
        let image = try TagImage(parsing: Array(text.utf8))
        #expect(image.product == "eMRTD" && image.uid == hex("08 aa bb cc"))
        let tag = try #require(image.makeTag() as? VirtualType4Tag)
        #expect(tag.frontEnd == .emrtd(uid: hex("08 aa bb cc")))
        var contents = try EMRTDContents(MachineReadableZone(zone), signer: .test)
        #expect(tag.contents?.kind == .emrtd(contents))
        #expect(try image.encoded() == Array(text.utf8))
        for cardAccess in [nil, hex("31 00")] {
            contents.cardAccess = cardAccess
            contents.accessNumber = cardAccess.map { _ in "123456" }
            #expect(try TagContents.type4(Type4Contents(frontEnd: .randomEMRTD, kind: .emrtd(contents))).returns())
        }
    }
}
