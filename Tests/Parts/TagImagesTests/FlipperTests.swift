// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Flipper files of Type 2 tags.
struct FlipperDumpTests {
    @Test func `Flipper NTAG215: the tag answers with the version, pages and signature of the file`() async throws {
        let image = try TagImage(parsing: Files.dump("ntag215-uri.nfc"))
        #expect(image.format == .flipper)
        #expect(image.product == "NTAG215")
        #expect(image.tagType == 2)
        let tag = image.makeTag()
        #expect(tag.identifier == hex("04 5e 2b 8a d1 6f 81"))
        let script = try Script(tag)
        try await script.activate(tag.identifier)
        #expect(await script.send("60") == "00 04 04 02 01 00 11 03")
        #expect(await script.send("3a 04 07") == "03 34 d1 01 30 55 04 65 78 61 6d 70 6c 65 2e 6f")
        let contents = try #require(image.contents.type2)
        #expect(await script.send("3c 00") == hexText(contents.signature))
        #expect(contents.signature.contains { $0 != 0 })
    }

    @Test func `Flipper version: a tag answers GET_VERSION as in its file`() async throws {
        let text = try Files.text("ntag215-uri.nfc")
            .replacing("Mifare version: 00 04 04 02 01", with: "Mifare version: 00 04 04 02 02")
        let tag = try TagImage(parsing: Array(text.utf8)).makeTag()
        let script = try Script(tag)
        try await script.activate(tag.identifier)
        #expect(await script.send("60") == "00 04 04 02 02 00 11 03")
    }

    @Test func `Flipper version 2: ATQA has its bytes in the other order`() throws {
        let image = try TagImage(parsing: Files.dump("ntag213-version2.nfc"))
        #expect(image.contents.type2?.atqa == 0x0044)
        #expect(image.contents.type2?.product == .ntag213)
        #expect(image.contents.type2?.counters == [0, 0, 95])
    }

    @Test func `Flipper Mifare Ultralight: the version names the product`() throws {
        let image = try TagImage(parsing: Files.dump("ultralight11-version3.nfc"))
        #expect(image.contents.type2?.product == .ultralightEV1UL11)
        #expect(image.contents.type2?.counters == [12, 0, 70000])
        #expect(image.contents.type2?.tearingFlags == [0xBD, 0xBD, 0xBD])
        #expect(try TagImage(parsing: Files.dump("ultralight.nfc")).contents.type2?.product == .ultralight)
    }

    @Test func `Flipper NTAG I2C: the configuration is behind a gap that the file leaves out`() async throws {
        let image = try TagImage(parsing: Files.dump("ntagi2c2k.nfc"))
        let script = try Script(image.makeTag())
        try await script.activate(image.uid)
        #expect(await script.send("c2 ff") == "ACK")
        #expect(await script.send("01 00 00 00") == "timeout")
        #expect(await script.send("30 04").hasPrefix("01 02 03 04"))
        #expect(await script.send("30 e8").hasPrefix("01 00 f8 48 08 01 00 00"))
    }

    @Test func `Flipper NTAG I2C: a new file has the configuration after the lock page`() throws {
        var contents = Type2Contents(blank: .ntagI2C1K, uid: Script.uid)
        contents.memory.replaceSubrange((232 * 4)..<(234 * 4), with: hex("01 02 03 04 05 06 07 08"))
        let text = String(decoding: try TagImage(contents, format: .flipper).encoded(), as: UTF8.self)
        let pages = ["00 00 00 00", "01 02 03 04", "05 06 07 08", "00 00 00 00", "00 00 00 00"]
        let lines = pages.enumerated().map { "Page \(226 + $0.offset): \($0.element)\n" }.joined()
        #expect(text.contains("\n\(lines)Failed authentication attempts: 0\n"))
        #expect(try TagImage(parsing: Array(text.utf8)).contents == .type2(contents))
    }

    @Test(arguments: Files.dumps) func `Flipper change: its line is written, and the others stay`(
        _ name: String
    ) async throws {
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
        #expect(try TagImage(parsing: image.encoded()).contents.type2 == trimmed(tag, to: image))
    }

    private func trimmed(_ tag: any VirtualTag, to image: TagImage) -> Type2Contents? {
        (tag as? VirtualType2Tag)?.contents
    }

    @Test func `Flipper pages behind the total: their lines stay and mean nothing`() async throws {
        let text = try Files.text("ultralight.nfc") + (16..<30).map { "Page \($0): 00 00 00 00\n" }.joined()
        var image = try TagImage(parsing: Array(text.utf8))
        let tag = image.makeTag()
        let script = try Script(tag)
        try await script.activate(image.uid)
        #expect(await script.send("a2 0f de ad be ef") == "ACK")
        image.update(from: tag)
        let changed = text.replacing("Page 15: 00 00 00 00", with: "Page 15: DE AD BE EF")
        #expect(try image.encoded() == Array(changed.utf8))
    }
}

/// Lines of Flipper files that may differ.
struct FlipperLineTests {
    private func contents(_ text: String) throws -> TagContents { try TagImage(parsing: Array(text.utf8)).contents }

    private func text(_ contents: TagContents) throws -> String {
        String(decoding: try TagImage(contents, format: .flipper).encoded(), as: UTF8.self)
    }

    @Test
    func `Flipper activation: ATQA and SAK are those of the file, in the order of its version`() throws {
        let text = try Files.text("ntag215-uri.nfc").replacing("ATQA: 00 44", with: "ATQA: 00 04")
            .replacing("SAK: 00\n", with: "SAK: 08\n")
        let tag = try #require(try contents(text).type2)
        #expect(tag.atqa == 0x0004 && tag.sak == 0x08)
        #expect(try self.text(.type2(tag)).contains("\nATQA: 00 04\nSAK: 08\n"))
        let old = try Files.text("ntag213-version2.nfc").replacing("ATQA: 44 00", with: "ATQA: 04 00")
        #expect(try contents(old).type2?.atqa == 0x0004)
        // The other order is no difference of the tag.
        #expect(try Files.image("ntag213-version2.nfc").remarks.isEmpty)
    }

    @Test
    func `Flipper version of zeros: none, and the product counts`() throws {
        let version = "Mifare version: 00 04 04 02 01 00 11 03"
        let zeros = "Mifare version: 00 00 00 00 00 00 00 00"
        let ntag = try Files.text("ntag215-uri.nfc")
        #expect(ntag.contains(version))
        #expect(try contents(ntag.replacing(version, with: zeros)).type2?.version == Type2Product.ntag215.version)
        let plain = try Files.text("ultralight.nfc")
        #expect(plain.contains(zeros))
        let tag = try #require(
            try contents(plain.replacing(zeros, with: "Mifare version: 00 04 09 09 01 00 0B 03")).type2
        )
        #expect(tag.product == .ultralight && tag.version == nil)
    }

    @Test(
        arguments: [
            (16, "MIFARE Ultralight"), (20, "MIFARE Ultralight EV1 UL11"), (41, "MIFARE Ultralight EV1 UL21"),
            (48, "MIFARE Ultralight C"), (17, nil), (47, nil),
        ] as [(Int, String?)]
    )
    func `Flipper Mifare Ultralight without a version: the number of pages names the product`(
        count: Int,
        product: String?
    ) throws {
        let text =
            try Files.text("ultralight.nfc").replacing("Pages total: 16\n", with: "Pages total: \(count)\n")
            + (16..<max(16, count)).map { "Page \($0): 00 00 00 00\n" }.joined()
        if let product {
            let tag = try #require(try contents(text).type2)
            #expect(tag.product.name == product && tag.memory.count == count * 4)
        } else {
            let error = try #require(Files.failure(text))
            #expect(error.code == .inconsistent)
            #expect(error.reason == "\(count) pages are more than the MIFARE Ultralight has.")
        }
    }

    @Test(arguments: [(227, 227), (228, 234)]
    )
    func `Flipper NTAG I2C: the gap is in the memory when pages follow it`(pages: Int, memory: Int) throws {
        let text = try text(.type2(Type2Contents(blank: .ntagI2C1K, uid: Script.uid)))
        #expect(text.contains("\nPages total: 231\n"))
        let part = try contents(text.replacing("\nPages total: 231\n", with: "\nPages total: \(pages)\n"))
        #expect(part.type2?.memory.count == memory * 4)
    }

    @Test(arguments: [2046, 2047, 4000])
    func `Flipper Type 4 message: may be longer than the file of a Flipper`(count: Int) throws {
        let whole = try Files.text("type4-tag.nfc")
        let head = String(whole.prefix(upTo: try #require(whole.firstRange(of: "NDEF Data Size")).lowerBound))
        let lines = stride(from: 0, to: count, by: 16).map { start in
            "NDEF Data: " + Array(repeating: "AB", count: min(16, count - start)).joined(separator: " ") + "\n"
        }
        let text = head + "NDEF Data Size: \(count)\n" + lines.joined()
        let contents = try contents(text)
        guard case .type4(let card) = contents, case .ndef(let files) = card.kind else {
            throw TagImageError(.unsupported, "")
        }
        let expected: [UInt8] = [UInt8(count >> 8), UInt8(count & 0xFF)] + Array(repeating: 0xAB, count: count)
        #expect(files[0xE104] == expected)
        #expect(try self.contents(self.text(contents)) == contents)
        #expect(try Files.failure("type4-tag.nfc", "Size: 30\n", "Size: 32765\n")?.code == .inconsistent)
    }

    @Test
    func `Flipper Type 4: refuses a tag whose NDEF file has another size`() {
        let front = Type4FrontEnd.nfcA(uid: hex("04 11 22 33 44 55 66"), ats: hex("05 78 80 70 02"))
        var files = NDEFApplication(size: 50).files
        for file: [UInt8]? in [files[0xE104], nil, [], [0], [0, 0], [0, 1]] {
            files[0xE104] = file
            let contents = TagContents.type4(Type4Contents(frontEnd: front, kind: .ndef(files: files)))
            let error = #expect(throws: TagImageError.self) { try TagImage(contents, format: .flipper).encoded() }
            #expect(error?.reason == "A Flipper file has no place for such a tag: generic Type 4.")
        }
    }
}

/// Flipper files of other kinds of tags.
struct FlipperKindTests {
    @Test func `Flipper DESFire: applications, files and settings are read`() throws {
        guard case .type4(let type4) = try Files.image("desfire.nfc").contents, case .desfire(let card) = type4.kind
        else {
            Issue.record("no DESFire")
            return
        }
        #expect(type4.frontEnd == .nfcA(uid: card.uid, ats: hex("06 75 77 81 02 80")))
        #expect(card.keySettings == 0x0F)
        #expect(card.applications.map(\.identifier) == [0x123456, 0x000001])
        let files = card.applications[0].files
        #expect(card.applications[0].keyVersions.count == 14)
        #expect(files.map(\.number) == [1, 2, 3, 4])
        #expect(files[0].data == hex("13 37") + Array(repeating: 0, count: 14))
        #expect(files[1].kind == .value(lower: -10, upper: 1000, current: -5, limitedCredit: false))
        #expect(files[2].kind == .cyclicRecords(size: 4, maximum: 3, records: Array(1...8)))
        #expect(files[2].accessRights == 0xEEE0)
        // What could not be read is zero.
        #expect(files[3].data == Array(repeating: 0, count: 32))
        #expect(files[3].communication == .enciphered)
        // The names of the NDEF mapping, which the file has not.
        #expect(card.applications[1].isoIdentifier == 0xE110)
        #expect(card.applications[1].files.map(\.isoIdentifier) == [0xE103, 0xE104])
    }

    @Test func `Flipper DESFire change: only its lines are written`() throws {
        var image = try Files.image("desfire.nfc")
        guard case .type4(var type4) = image.contents, case .desfire(var card) = type4.kind else { return }
        card.applications[0].files[1].kind = .value(lower: -10, upper: 1000, current: 7, limitedCredit: false)
        type4.kind = .desfire(card)
        image.contents = .type4(type4)
        let before = try Files.dump("desfire.nfc").split(separator: 0x0A)
        let after = try image.encoded().split(separator: 0x0A)
        #expect(
            zip(before, after).filter { $0 != $1 }.map { String(decoding: $1, as: UTF8.self) } == [
                "Application 563412 File 2: 07 00 00 00"
            ]
        )
        // Another file has its lines after those of the previous one.
        card.applications[0].files.append(DESFireFile(number: 9, accessRights: 0xEEEE, kind: .standard([1])))
        type4.kind = .desfire(card)
        image.contents = .type4(type4)
        let text = String(decoding: try image.encoded(), as: UTF8.self)
        #expect(text.contains("Application 563412 File IDs: 01 02 03 04 09\n"))
        #expect(text.contains("Application 563412 File 4 Size: 32\nApplication 563412 File 9 Type: 00\n"))
        #expect(text.contains("Application 563412 File 9: 01\nApplication 010000 Change Key ID: 00\n"))
        // One file less has none.
        card.applications[0].files.remove(at: 1)
        type4.kind = .desfire(card)
        image.contents = .type4(type4)
        #expect(!String(decoding: try image.encoded(), as: UTF8.self).contains("File 2 Hi Limit"))
    }

    @Test func `Flipper MIFARE Classic: unknown bytes stay unknown`() throws {
        guard case .classic(let card) = try Files.image("classic-unknown.nfc").contents else { return }
        #expect(card.uid == hex("9c 0c 37 01"))
        #expect(card.sak == 0x08)
        // Blocks 8 to 63, and key B of block 7.
        #expect(card.unknownBytes.count == 56 * 16 + 6)
        #expect(Array(card.memory[16..<32]) == Array("MIFARE APP DIR  ".utf8))
        #expect(!TagImage.Format.mfd.canHold(.classic(card)))
        let again = try TagImage(parsing: TagImage(.classic(card), format: .flipper).encoded())
        #expect(again.contents == .classic(card))
        #expect(try Files.failure("classic-unknown.nfc", "Block 9: ??", "Block 9: ?")?.code == .malformed)
        #expect(
            try Files.failure("classic-unknown.nfc", "Mifare Classic type: 1K", "Mifare Classic type: 4K")?.code
                == .missingField
        )
        #expect(
            try Files.failure("classic-unknown.nfc", "Mifare Classic type: 1K", "Mifare Classic type: 8K")?.code
                == .unsupported
        )
    }

    @Test func `Flipper FeliCa: the card answers what needs no key`() async throws {
        let image = try Files.image("felica-standard.nfc")
        guard case .type3(.standard(let card)) = image.contents else { return }
        #expect(card.systems.map(\.code) == [0x0003])
        #expect(card.systems[0].files.map(\.serviceCodes) == [[0x0048, 0x004A], [0x008B], [0x090F]])
        #expect(card.systems[0].files.map(\.blockCount) == [0, 1, 2])
        let script = try LinkScript(.nfcF, image.makeTag())
        let idm = "01 2e 3d 12 34 56 78 9a"
        #expect(
            await script.send("10 06 \(idm) 01 8b 00 01 80 00")
                == "1d 07 \(idm) 00 00 01 00 00 00 00 00 00 00 00 20 00 00 d2 04 00 01 e3"
        )
        #expect(try Files.failure("felica-standard.nfc", "System found: 1", "System found: 2")?.code == .missingField)
        #expect(try Files.failure("felica-standard.nfc", "System found: 1", "System found: 17")?.code == .malformed)
        #expect(try Files.failure("felica-standard.nfc", "Services #000-#003", "Services #000")?.code == .malformed)
        #expect(try Files.failure("felica-standard.nfc", "Block index 01", "Block index 02")?.code == .malformed)
        #expect(
            try Files.failure("felica-standard.nfc", "Service 003: | Code", "Service 003: | Cod")?.code == .malformed
        )
        #expect(
            try Files.failure("felica-standard.nfc", "root\n", "Service 009: twice\nService 009: twice\n")?.code
                == .malformed
        )
    }

    @Test func `Flipper ISO 14443: cards without memory are activated`() async throws {
        let card = try Files.image("iso14443-4a.nfc")
        guard case .type4(let contents) = card.contents else { return }
        #expect(
            contents.frontEnd == .nfcA(uid: hex("ba e2 7c 9d"), atqa: 0x0004, sak: 0x20, ats: hex("05 78 80 70 02"))
        )
        let old = try TagImage(
            parsing: Array(
                """
                Filetype: Flipper NFC device
                Version: 3
                Device type: ISO14443-4A
                UID: BA E2 7C 9D
                ATQA: 00 04
                SAK: 20
                ATS: 05 78 80 70 02
                """.utf8
            )
        )
        #expect(old.contents == card.contents)
        #expect(try Files.image("iso14443-3b.nfc").uid == hex("11 22 33 44"))
        let tag = try Files.image("iso14443-3a.nfc").makeTag()
        let script = try Script(tag)
        try await script.activate(tag.identifier, atqa: 0x0004, sak: 0x20)
        #expect(await script.send("30 00") == "timeout")
        #expect(try Files.failure("iso14443-4a.nfc", "TB(1): 70\n", "")?.code == .missingField)
    }

    @Test(
        arguments: [
            ("01", ""), ("02 08", "T0: 08\n"), ("03 08 80", "T0: 08\nT1...Tk: 80\n"),
            ("05 18 77 aa bb", "T0: 18\nTA(1): 77\nT1...Tk: AA BB\n"), ("03 28 80", "T0: 28\nTB(1): 80\n"),
            ("03 48 02", "T0: 48\nTC(1): 02\n"),
        ]
    )
    func `Flipper ATS: a line for each of its parts`(ats: String, lines: String)
        throws
    {
        let front = Type4FrontEnd.nfcA(uid: hex("ba e2 7c 9d"), atqa: 0x0004, ats: hex(ats))
        let contents = TagContents.type4(Type4Contents(frontEnd: front, kind: .unspecified))
        let text = String(decoding: try TagImage(contents, format: .flipper).encoded(), as: UTF8.self)
        #expect(text.hasSuffix("\n# ISO14443-4A specific data\n\(lines)"))
        #expect(try TagImage(parsing: Array(text.utf8)).contents == contents)
    }
}
