// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Flipper files of Type 2 tags.
struct FlipperType2Tests {
    @Test func `Flipper NTAG215: the tag answers with the version, pages and signature of the file`() async throws {
        let text = try Files.text("ntag215-uri.nfc")
        for version in ["00 04 04 02 01 00 11 03", "00 04 04 02 02 00 11 03"] {
            let other = text.replacing("Mifare version: 00 04 04 02 01 00 11 03", with: "Mifare version: \(version)")
            let image = try TagImage(parsing: Array(other.utf8))
            #expect(image.uid == hex("04 5e 2b 8a d1 6f 81"))
            let script = try Script(image.makeTag())
            try await script.activate(image.uid)
            #expect(await script.send("60") == version)
            #expect(await script.send("3a 04 07") == "03 34 d1 01 30 55 04 65 78 61 6d 70 6c 65 2e 6f")
            let signature = try #require(image.contents.type2?.signature)
            #expect(await script.send("3c 00") == hexText(signature))
            #expect(signature.contains { $0 != 0 })
        }
    }

    @Test func `Flipper Type 2 product: the version names it unless it is zeros, and the counters are kept`() throws {
        let old = try #require(try Files.image("ntag213-version2.nfc").contents.type2)
        #expect(old.atqa == 0x0044 && old.product == .ntag213 && old.counters == [0, 0, 95])
        let three = try #require(try Files.image("ultralight11-version3.nfc").contents.type2)
        #expect(three.product == .ultralightEV1UL11 && three.counters == [12, 0, 70000])
        #expect(three.tearingFlags == [0xBD, 0xBD, 0xBD])
        // A version of zeros is none, and the product counts.
        let zeros = "Mifare version: 00 00 00 00 00 00 00 00"
        let ntag = try Files.text("ntag215-uri.nfc").replacing("Mifare version: 00 04 04 02 01 00 11 03", with: zeros)
        #expect(try TagContents(text: ntag).type2?.version == Type2Product.ntag215.version)
        let plain = try Files.text("ultralight.nfc").replacing(zeros, with: "Mifare version: 00 04 09 09 01 00 0B 03")
        let tag = try #require(try TagContents(text: plain).type2)
        #expect(tag.product == .ultralight && tag.version == nil)
    }

    @Test func `Flipper Mifare Ultralight without a version: the number of pages names the product`() throws {
        let rows: [(Int, String?)] = [
            (16, "MIFARE Ultralight"), (20, "MIFARE Ultralight EV1 UL11"), (41, "MIFARE Ultralight EV1 UL21"),
            (48, "MIFARE Ultralight C"), (17, nil), (47, nil),
        ]
        for (count, product) in rows {
            let text =
                try Files.text("ultralight.nfc").replacing("Pages total: 16\n", with: "Pages total: \(count)\n")
                .replacing("Pages read: 16\n", with: "Pages read: \(count)\n")
                + (16..<max(16, count)).map { "Page \($0): 00 00 00 00\n" }.joined()
            #expect(Files.failure(text)?.code == (product == nil ? .inconsistent : nil), "\(count)")
            guard let product else { continue }
            let tag = try #require(try TagContents(text: text).type2)
            #expect(tag.product.name == product && tag.memory.count == count * 4)
        }
    }

    @Test func `Flipper activation: ATQA and SAK are those of the file, in the order of its version`() throws {
        let text = try Files.text("ntag215-uri.nfc").replacing("ATQA: 00 44", with: "ATQA: 00 04")
            .replacing("SAK: 00\n", with: "SAK: 08\n")
        let tag = try #require(try TagContents(text: text).type2)
        #expect(tag.atqa == 0x0004 && tag.sak == 0x08)
        #expect(try TagContents.type2(tag).text(.flipper).contains("\nATQA: 00 04\nSAK: 08\n"))
        let old = try Files.text("ntag213-version2.nfc").replacing("ATQA: 44 00", with: "ATQA: 04 00")
        #expect(try TagContents(text: old).type2?.atqa == 0x0004)
        // The other order is no difference of the tag.
        #expect(try Files.image("ntag213-version2.nfc").remarks.isEmpty)
    }

    @Test func `Flipper NTAG I2C: the gap before the configuration is not in the file, but in the memory`() async throws
    {
        let image = try Files.image("ntagi2c2k.nfc")
        let script = try Script(image.makeTag())
        try await script.activate(image.uid)
        #expect(await script.send("c2 ff") == "ACK")
        #expect(await script.send("01 00 00 00") == "timeout")
        #expect(await script.send("30 04").hasPrefix("01 02 03 04"))
        #expect(await script.send("30 e8").hasPrefix("01 00 f8 48 08 01 00 00"))
        var contents = Type2Contents(blank: .ntagI2C1K, uid: Script.uid)
        contents.memory.replaceSubrange((232 * 4)..<(234 * 4), with: hex("01 02 03 04 05 06 07 08"))
        let text = try TagContents.type2(contents).text(.flipper)
        let pages = ["00 00 00 00", "01 02 03 04", "05 06 07 08", "00 00 00 00", "00 00 00 00"]
        let lines = pages.enumerated().map { "Page \(226 + $0.offset): \($0.element)\n" }.joined()
        #expect(text.contains("\n\(lines)Failed authentication attempts: 0\n"))
        #expect(try TagContents(text: text) == .type2(contents))
        // The gap is in the memory when pages follow it.
        for (pages, memory) in [(227, 227), (228, 234)] {
            let part = text.replacing("\nPages total: 231\n", with: "\nPages total: \(pages)\n")
            #expect(try TagContents(text: part).type2?.memory.count == memory * 4)
        }
    }

    @Test(arguments: Files.dumps) func `Flipper change: only the line of the written page changes`(_ name: String)
        async throws
    {
        let bytes = try Files.dump(name)
        var image = try TagImage(parsing: bytes)
        let tag = image.makeTag()
        let script = try Script(tag)
        try await script.activate(image.uid)
        #expect(await script.send("a2 05 de ad be ef") == "ACK")
        image.update(from: tag)
        let before = bytes.split(separator: 0x0A)
        let after = try image.encoded().split(separator: 0x0A)
        #expect(before.count == after.count)
        let changed = zip(before, after).filter { $0 != $1 }.map { String(decoding: $1, as: UTF8.self) }
        #expect(changed == [name == "ntag213-version2.nfc" ? "Page 5: DE AD BE EF\r" : "Page 5: DE AD BE EF"])
        #expect(try TagImage(parsing: image.encoded()).contents == image.contents)
    }

    @Test func `Flipper pages beyond the total: ignored, and kept when a page changes`() throws {
        let text = try Files.text("ultralight.nfc") + (16..<30).map { "Page \($0): 00 00 00 00\n" }.joined()
        var image = try TagImage(parsing: Array(text.utf8))
        var contents = try #require(image.contents.type2)
        contents.memory.replaceSubrange(60..<64, with: hex("de ad be ef"))
        image.contents = .type2(contents)
        let changed = text.replacing("Page 15: 00 00 00 00", with: "Page 15: DE AD BE EF")
        #expect(try image.encoded() == Array(changed.utf8))
    }
}

/// Flipper files of MIFARE Classic, ISO 14443 and Type 4 tags, and of payment cards.
struct FlipperKindTests {
    @Test func `Flipper MIFARE Classic: unknown bytes stay unknown`() throws {
        let card = try #require(try Files.image("classic-unknown.nfc").contents.classic)
        #expect(card.uid == hex("9c 0c 37 01") && card.sak == 0x08)
        // Blocks 8 to 63, and key B of block 7.
        #expect(card.unknownBytes.count == 56 * 16 + 6)
        #expect(Array(card.memory[16..<32]) == Array("MIFARE APP DIR  ".utf8))
        #expect(!TagImage.Format.mfd.canHold(.classic(card)))
        #expect(try TagContents.classic(card).returns(in: .flipper))
    }

    @Test func `Flipper ISO 14443: cards without memory are activated, in files of either version`() async throws {
        let card = try Files.image("iso14443-4a.nfc").contents
        let front = Type4FrontEnd.nfcA(uid: hex("ba e2 7c 9d"), atqa: 0x0004, sak: 0x20, ats: hex("05 78 80 70 02"))
        #expect(card.type4?.frontEnd == front)
        let old = """
            Filetype: Flipper NFC device
            Version: 3
            Device type: ISO14443-4A
            UID: BA E2 7C 9D
            ATQA: 00 04
            SAK: 20
            ATS: 05 78 80 70 02
            """
        #expect(try TagContents(text: old) == card)
        #expect(try Files.image("iso14443-3b.nfc").uid == hex("11 22 33 44"))
        let tag = try Files.image("iso14443-3a.nfc").makeTag()
        let script = try Script(tag)
        // The file has SAK 20 and no ATS, so that readers would lose the tag at RATS.
        try await script.activate(tag.identifier, atqa: 0x0004, sak: 0x00)
        #expect(await script.send("30 00") == "timeout")
    }

    @Test func `Flipper ATS: T0, TA, TB, TC and historical bytes have a line each, and are read back`() throws {
        let rows: [(String, String)] = [
            ("01", ""), ("02 08", "T0: 08\n"), ("03 08 80", "T0: 08\nT1...Tk: 80\n"),
            ("05 18 77 aa bb", "T0: 18\nTA(1): 77\nT1...Tk: AA BB\n"), ("03 28 80", "T0: 28\nTB(1): 80\n"),
            ("03 48 02", "T0: 48\nTC(1): 02\n"),
        ]
        for (ats, lines) in rows {
            let front = Type4FrontEnd.nfcA(uid: hex("ba e2 7c 9d"), atqa: 0x0004, ats: hex(ats))
            let contents = TagContents.type4(Type4Contents(frontEnd: front, kind: .unspecified))
            let text = try contents.text(.flipper)
            #expect(text.hasSuffix("\n# ISO14443-4A specific data\n\(lines)"), "\(ats)")
            #expect(try TagContents(text: text) == contents, "\(ats)")
        }
    }

    // MARK: Type 4

    @Test func `Flipper Type 4: the message of all lines is in the NDEF file`() throws {
        let image = try Files.image("type4-tag.nfc")
        let files = try #require(image.contents.files)
        #expect(files[0xE103] == hex("00 0f 20 00 f6 00 f6 04 06 e1 04 08 00 00 00"))
        let file = try #require(files[0xE104])
        #expect(file.count == 2048)
        #expect(Array(file.prefix(32)) == hex("00 1e d1 01 1a 55 04") + Array("example.com/a/longer/link".utf8))
        #expect(image.remarks.map(\.kind) == [.missing])
    }

    @Test(arguments: [0, 1, 16, 17, 30, 31, 100, 2046])
    func `Flipper Type 4 message: written in as many lines of 16 bytes as needed, and read back`(_ count: Int) throws {
        var image = try Files.image("type4-tag.nfc")
        var contents = try #require(image.contents.type4)
        var files = try #require(image.contents.files)
        // The rest of the old message stays after the new one, as on a real tag.
        let message = [UInt8(count >> 8), UInt8(count & 0xFF)] + Array(repeating: UInt8(0xAB), count: count)
        files[0xE104] = message + (files[0xE104] ?? []).dropFirst(message.count)
        contents.kind = .ndef(files: files)
        image.contents = .type4(contents)
        let text = String(decoding: try image.encoded(), as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("NDEF Data:") }
        #expect(lines.count == (count + 15) / 16 && text.contains("\nNDEF Data Size: \(count)\n"))
        #expect(text.hasPrefix("Filetype: Flipper NFC device\nVersion: 4\n# A message in lines of 16 bytes\n"))
        let read = try #require(try TagContents(text: text).files?[0xE104])
        #expect(read.starts(with: message) && read.count == max(2048, count + 2))
    }

    @Test(arguments: [2047, 4000])
    func `Flipper Type 4 message: may be longer than the file of a Flipper`(count: Int) throws {
        let whole = try Files.text("type4-tag.nfc")
        let head = whole.prefix(upTo: try #require(whole.firstRange(of: "NDEF Data Size")).lowerBound)
        let lines = stride(from: 0, to: count, by: 16).map { start in
            "NDEF Data: " + Array(repeating: "AB", count: min(16, count - start)).joined(separator: " ") + "\n"
        }
        let contents = try TagContents(text: head + "NDEF Data Size: \(count)\n" + lines.joined())
        #expect(
            contents.files?[0xE104] == [UInt8(count >> 8), UInt8(count & 0xFF)] + Array(repeating: 0xAB, count: count)
        )
        #expect(try contents.returns(in: .flipper))
    }

    @Test func `Flipper Type 4: refuses a tag whose NDEF file has another size`() {
        let front = Type4FrontEnd.nfcA(uid: hex("04 11 22 33 44 55 66"), ats: hex("05 78 80 70 02"))
        var files = NDEFApplication(size: 50).files
        for file: [UInt8]? in [files[0xE104], nil, [], [0], [0, 0], [0, 1]] {
            files[0xE104] = file
            let contents = TagContents.type4(Type4Contents(frontEnd: front, kind: .ndef(files: files)))
            #expect(throws: TagImageError(.lossy, "")) { try contents.text(.flipper) }
        }
    }

    // MARK: Payment cards

    @Test func `Flipper payment card: the card answers with the fields of the file`() async throws {
        let texts = [
            "DIRECTORY": "2PAY.SYS.DDF01", "LABEL": "TEST DEBIT", "NAME": "Test Debit", "HOLDER": "CARDHOLDER/TEST",
        ]
        var names = texts.mapValues { hexText($0.utf8) }
        names["AID"] = "a0 00 00 00 03 10 10"
        let card = CardBox(try #require(try Files.image("emv.nfc").makeTag() as? VirtualType4Tag).card)
        try await play(
            """
            == The directory, the application and the record
            00 a4 04 00 0e DIRECTORY 00 -> 6f 2f 84 0e DIRECTORY a5 1d bf 0c 1a 61 18 4f 07 AID 50 0a LABEL 87 01 01 90 00
            00 a4 04 00 07 a0 00 00 00 04 10 10 00 -> 6a 82
            00 a4 04 00 07 AID 00 -> 6f 28 84 07 AID a5 1d 50 0a LABEL 9f 11 01 01 9f 12 0a NAME 90 00
            80 a8 00 00 02 83 00 00 -> 77 0a 82 02 20 00 94 04 08 01 01 00 90 00
            00 b2 01 0c 00 -> 70 32 5a 08 41 11*7 5f 20 0f HOLDER 5f 24 03 30 12 31 5f 25 03 25 01 01 \
            5f 28 02 08 40 9f 42 02 09 78 90 00
            80 ca 9f 17 00 -> 9f 17 01 03 90 00
            """
        ) { _ in Stage(card, names: names) }
    }

    @Test(arguments: ["PIN attempts left", "PIN counter"])
    func `Flipper payment card of an earlier firmware: read without its profile, unless the file was cut off`(
        counter: String
    ) throws {
        let text = try Files.text("emv.nfc").replacing("Application interchange profile: 20 00\n", with: "")
            .replacing("PIN try counter", with: counter)
        let image = try TagImage(parsing: Array(text.utf8))
        #expect(image.remarks.map(\.kind) == [.missing, .missing])
        let card = try #require(image.contents.payment)
        #expect(card.interchangeProfile == [0, 0] && card.pinTries == 3 && card.country == 0x0840)
        #expect(try image.encoded() == Array(text.utf8))
        #expect(try image.contents.returns())
        // A file that ends before the profile was cut off.
        let cut = text.prefix(upTo: try #require(text.firstRange(of: "Country code")).lowerBound)
        #expect(Files.failure(String(cut))?.code == .missingField)
    }
}
