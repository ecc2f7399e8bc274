// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// The files are made after the structures of the client's own source, by a program that has nothing of this one.
@Suite struct `Proxmark3 files` {
    @Test func `The header of pages has version, signature, counters and tearing flags`() throws {
        let contents = try #require(try Files.image("hf-mfu-ntag215-dump.bin").contents.type2)
        #expect(contents.product == .ntag215)
        #expect(contents.uid == Script.uid)
        #expect(contents.counters == [0, 0, 95])
        #expect(contents.signature == Array(0x40..<0x60))
        #expect(contents.memory.count == 135 * 4)
        let json = try #require(try Files.image("hf-mfu-ul11-dump.json").contents.type2)
        #expect(json.product == .ultralightEV1UL11)
        #expect(json.counters == [12, 0, 70000])
        #expect(json.tearingFlags == [0xBD, 0xBD, 0xBD])
        let old = try #require(try Files.image("hf-mfu-ul11-old.bin").contents.type2)
        // The acknowledgement of the password is in the old header, and on the tag in its last page.
        #expect(Array(old.memory.suffix(4)) == hex("12 34 00 00"))
        #expect(old.counters == [0, 0, 0])
    }

    @Test func `A new file of pages is laid out as the client reads it`() throws {
        var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
        contents.counters = [0, 0, 0x010203]
        let bytes = try TagImage(contents, format: .proxmarkBinary).encoded()
        #expect(bytes.count == 56 + 45 * 4)
        #expect(Array(bytes[0..<8]) == hex("00 04 04 02 01 00 0f 03"))
        // The number of the last page.
        #expect(bytes[11] == 44)
        #expect(Array(bytes[44..<56]) == hex("00 00 00 bd 00 00 00 bd 03 02 01 bd"))
        #expect(Array(bytes[56..<60]) == hex("04 a1 b2 9f"))
        let text = String(decoding: try TagImage(contents, format: .proxmarkJSON).encoded(), as: UTF8.self)
        #expect(
            text.hasPrefix(
                "{\n  \"Created\": \"proxmark3\",\n  \"FileType\": \"mfu\",\n  \"Card\": {\n    \"UID\": \"04A1B2C3D4E580\""
            )
        )
        #expect(
            text.contains(
                "    \"Counter2\": \"030201\",\n    \"Tearing2\": \"BD\"\n  },\n  \"blocks\": {\n    \"0\": \"04A1B29F\""
            )
        )
        #expect(text.hasSuffix("    \"44\": \"00000000\"\n  }\n}"))
    }

    @Test(arguments: [
        "hf-mfu-ntag215-dump.bin", "hf-mfu-ul11-old.bin", "hf-15-slix2-v4.bin", "hf-15-slix2-v5.bin",
    ])
    func `A file that was cut off anywhere is refused`(_ name: String) throws {
        let bytes = try Files.dump(name)
        // Some compilers make the state of an ISO 15693 tag, which is the last byte, three bytes longer.
        let isType5 = name.hasPrefix("hf-15")
        for count in 0..<bytes.count where !(isType5 && count == bytes.count - 3) {
            #expect(throws: TagImageError.self, "\(count) bytes") { try TagImage(parsing: Array(bytes.prefix(count))) }
        }
        // With a part of the pages, and with more than there are.
        let error = #expect(throws: TagImageError.self) { try TagImage(parsing: Array(bytes.dropLast(24))) }
        #expect(error?.code == .missingField)
        #expect(throws: TagImageError.self) { try TagImage(parsing: bytes + [0, 0, 0, 0]) }
    }

    @Test(
        "A file of an ISO 15693 tag that was cut off is known by its locks, which are 0 or 1",
        arguments: [(0, 0, true), (1, 0, true), (0, 1, true), (1, 1, true), (2, 0, false), (0, 2, false)]
            as [(UInt8, UInt8, Bool)]
    )
    func locksOfCutFiles(dsfid: UInt8, afi: UInt8, isKnown: Bool) throws {
        var bytes = Array(try Files.dump("hf-15-slix2-v5.bin").dropLast(24))
        (bytes[9], bytes[11]) = (dsfid, afi)
        let error = #expect(throws: TagImageError.self) { try TagImage(parsing: bytes) }
        #expect(error?.code == (isKnown ? .missingField : .unknownFormat))
    }

    @Test(arguments: [TagImage.Format.proxmarkJSON, .proxmarkBinary])
    func `An ISO 15693 tag has 256 blocks and 2048 bytes at most`(format: TagImage.Format) {
        for (blocks, size, isHeld) in [(64, 32, true), (256, 8, true), (65, 32, false), (257, 4, false)] {
            let contents = Type5Contents(blank: .generic(blockCount: blocks, blockSize: size))
            #expect(format.canHold(.type5(contents)) == isHeld, "\(blocks) blocks of \(size)")
        }
    }

    @Test("An NTAG I2C, which has no check bytes, is read behind a header of either length")
    func headersOfNTAGI2C() throws {
        var contents = Type2Contents(blank: .ntagI2C1K, uid: Script.uid)
        contents.signature = Array(0x40..<0x60)
        let bytes = try TagImage(contents, format: .proxmarkBinary).encoded()
        #expect(bytes.count == 56 + 234 * 4)
        // The older header has no counters, and the tearing flags are in front of the signature.
        let old = Array(bytes[..<8]) + hex("00 00 bd bd bd 00 00 00") + bytes[12..<44] + bytes[56...]
        for bytes in [bytes, old] {
            let image = try TagImage(parsing: bytes)
            #expect(image.format == .proxmarkBinary && image.contents == .type2(contents))
            #expect(try image.encoded() == bytes)
        }
        for count in 0..<bytes.count {
            #expect(throws: TagImageError.self, "\(count) bytes") { try TagImage(parsing: Array(bytes.prefix(count))) }
        }
        let error = #expect(throws: TagImageError.self) { try TagImage(parsing: Array(bytes.dropLast(24))) }
        #expect(error?.code == .missingField)
    }

    @Test("A product without a password has no acknowledgement in the older header")
    func olderHeaderWithoutPassword() throws {
        var contents = Type2Contents(blank: .ultralight, uid: Script.uid)
        contents.memory.replaceSubrange(60..<64, with: hex("aa bb cc dd"))
        let bytes = try TagImage(contents, format: .proxmarkBinary).encoded()
        let old = Array(bytes[..<8]) + hex("00 00 bd bd bd 00 00 00") + bytes[12..<44] + bytes[56...]
        var image = try TagImage(parsing: old)
        #expect(image.contents == .type2(contents))
        #expect(image.remarks.isEmpty)
        // A change of the last page is no change of the header.
        contents.memory[60] = 0x11
        image.contents = .type2(contents)
        var changed = old
        changed[48 + 60] = 0x11
        #expect(try image.encoded() == changed)
        // What another program has put there is no data of the tag.
        changed[13] = 0x77
        let odd = try TagImage(parsing: changed)
        #expect(odd.contents == .type2(contents))
        #expect(odd.remarks.map(\.kind) == [.leftOut])
    }

    @Test func `A dump of a part of the pages is one, and says so`() throws {
        var bytes = Array(try Files.dump("hf-mfu-ntag215-dump.bin").prefix(56 + 50 * 4))
        bytes[11] = 49
        let image = try TagImage(parsing: bytes)
        #expect(image.contents.type2?.memory.count == 200)
        #expect(try image.encoded() == bytes)
        #expect(image.remarks.map(\.kind) == [.missing])
        #expect(image.remarks.first?.text == "The image has 50 of the 135 pages; the others are as delivered.")
    }

    @Test func `A dump of the first four pages is the shortest one`() throws {
        var bytes = Array(try Files.dump("hf-mfu-ntag215-dump.bin").prefix(56 + 4 * 4))
        bytes[11] = 3
        let image = try TagImage(parsing: bytes)
        #expect(image.contents.type2?.product == .ntag215 && image.contents.type2?.memory.count == 16)
        #expect(try image.encoded() == bytes)
        bytes.removeLast(4)
        bytes[11] = 2
        #expect(throws: TagImageError.self) { try TagImage(parsing: bytes) }
    }

    @Test func `A file with another number of pages than its header says is refused`() throws {
        let bytes = Array(try Files.dump("hf-mfu-ntag215-dump.bin"))
        for last in UInt8.min...UInt8.max where last != 134 {
            var changed = bytes
            changed[11] = last
            let error = #expect(throws: TagImageError.self, "last page \(last)") { try TagImage(parsing: changed) }
            #expect(error?.code == (last < 134 ? .inconsistent : .missingField))
        }
    }

    @Test func `A file with more pages than its product has is refused with both numbers`() throws {
        var bytes = try Files.dump("hf-mfu-ntag215-dump.bin") + [0, 0, 0, 0]
        bytes[11] = 135
        let error = #expect(throws: TagImageError.self) { try TagImage(parsing: bytes) }
        #expect(error?.code == .inconsistent)
        #expect(error?.reason == "136 pages are not what the NTAG215 has, which are 135.")
    }

    @Test(
        "The acknowledgement of a password is that of the older header, and where it has none, that of the last page",
        arguments: ["12 34", "12 00", "00 34", "00 00"]
    )
    func acknowledgements(header: String) throws {
        var bytes = try Files.dump("hf-mfu-ul11-old.bin")
        let end = bytes.count
        bytes.replaceSubrange(13..<15, with: hex(header))
        bytes.replaceSubrange((end - 4)..<(end - 2), with: hex("56 78"))
        let memory = try #require(try TagImage(parsing: bytes).contents.type2?.memory)
        #expect(Array(memory.suffix(4)) == hex(header == "00 00" ? "56 78 00 00" : "\(header) 00 00"))
    }

    @Test func `An ISO 15693 tag has its UID from the low byte on`() throws {
        for name in ["hf-15-slix2-dump.json", "hf-15-slix2-v4.bin", "hf-15-slix2-v5.bin"] {
            guard case .type5(let contents) = try Files.image(name).contents else {
                Issue.record("\(name) is no Type 5 tag")
                continue
            }
            #expect(contents.uid == hex("e0 04 01 08 11 22 33 44"), "\(name)")
            #expect(contents.dsfid == 0x05 && contents.afi == 0x21, "\(name)")
            #expect(contents.isAFILocked && !contents.isDSFIDLocked, "\(name)")
            #expect(contents.lockedBlocks == [0, 3], "\(name)")
            #expect(contents.counter == 300, "\(name)")
            #expect(contents.passwords[0x04] == 0x0F0F_0F0F, "\(name)")
        }
    }

    @Test(arguments: [TagImage.Format.proxmarkJSON, .proxmarkBinary])
    func `The password of an ISO 15693 tag's privacy is kept, where the tag has one`(format: TagImage.Format) throws {
        for (product, hasPassword) in [(Type5Product.icodeSLIX2, true), (.icodeSLIX, false), (.st25tv02K, false)] {
            var contents = Type5Contents(blank: product)
            #expect((contents.passwords[0x04] != nil) == hasPassword)
            if hasPassword { contents.passwords[0x04] = 0x0102_0384 }
            let image = try TagImage(parsing: TagImage(.type5(contents), format: format).encoded())
            guard case .type5(let read) = image.contents else {
                Issue.record("\(product.name) is no Type 5 tag")
                continue
            }
            #expect(read.passwords[0x04] == contents.passwords[0x04], "\(product.name)")
        }
    }

    @Test func `Older versions of ISO 15693 files have memory alone`() throws {
        let data = "E1400401" + String(repeating: "00", count: 28)
        for (type, body) in [
            ("15693", "\"raw\": \"\(data)\""),
            ("15693 v2", "\"blocks\": {\"0\": \"E1400401\", \"1\": \"00000000\"}"),
            ("15693 v3", "\"blocks\": {\"0\": \"E140040100000000\", \"1\": \"0000000000000000\"}"),
        ] {
            let image = try TagImage(
                parsing: Array("{\"Created\": \"proxmark3\", \"FileType\": \"\(type)\", \(body)}".utf8)
            )
            #expect(image.product == "generic Type 5", "\(type)")
            guard case .type5(let contents) = image.contents else { return }
            #expect(contents.product.blockSize == (type == "15693 v3" ? 8 : 4))
            #expect(contents.memory.starts(with: hex("e1 40 04 01")))
        }
    }

    @Test func `A MIFARE Classic of either version is the same card as without a header`() throws {
        guard case .classic(let card) = try Files.image("hf-mf-1k-dump.json").contents,
            case .classic(let raw) = try Files.image("classic-1k.mfd").contents
        else { return }
        #expect(card == raw)
        #expect(card.uid == hex("9c 0c 37 01"))
        var signed = card
        signed.signature = Array(repeating: 0x5A, count: 32)
        let text = String(decoding: try TagImage(.classic(signed), format: .proxmarkJSON).encoded(), as: UTF8.self)
        #expect(text.contains("\"FileType\": \"mfc v3\""))
        #expect(try TagImage(parsing: Array(text.utf8)).contents == .classic(signed))
        #expect(!TagImage.Format.proxmarkBinary.canHold(.classic(signed)))
        // The same bytes under another name.
        let binary = try TagImage(parsing: Files.dump("classic-1k.mfd"), as: .proxmarkBinary)
        #expect(binary.format == .proxmarkBinary)
    }

    @Test("A file of the older name keeps it, and all else, when the card is changed")
    func olderName() throws {
        let text = try Files.text("hf-mf-1k-dump.json").replacing("\"mfc v2\"", with: "\"mfcard\"")
        var image = try TagImage(parsing: Array(text.utf8))
        #expect(try image.contents == Files.image("hf-mf-1k-dump.json").contents)
        #expect(try image.encoded() == Array(text.utf8))
        guard case .classic(var card) = image.contents else { throw TagImageError(.unsupported, "") }
        card.memory[64] = 0xAB
        image.contents = .classic(card)
        let zeros = String(repeating: "00", count: 15)
        let changed = text.replacing("\"4\": \"00\(zeros)\"", with: "\"4\": \"AB\(zeros)\"")
        #expect(changed != text)
        #expect(try image.encoded() == Array(changed.utf8))
    }

    @Test(
        "A tag without a version is known by the number of its pages",
        arguments: [
            (16, "MIFARE Ultralight"), (42, "NTAG203"), (44, "MIFARE Ultralight C"), (48, "MIFARE Ultralight C"),
            (43, nil), (15, nil), (20, nil),
        ] as [(Int, String?)]
    )
    func withoutVersion(pages: Int, product: String?) throws {
        let blocks = (0..<pages).map { "\"\($0)\": \"00000000\"" }.joined(separator: ", ")
        let text = "{\"Created\": \"proxmark3\", \"FileType\": \"mfu\", \"Card\": {}, \"blocks\": {\(blocks)}}"
        guard let product else { return #expect(Files.failure(text)?.code == .unsupported) }
        let image = try TagImage(parsing: Array(text.utf8))
        #expect(image.product == product && image.contents.type2?.memory.count == pages * 4)
    }

    @Test(arguments: ["hf-mfu-ntag215-dump.bin", "hf-mfu-ul11-dump.json", "hf-mfu-ul11-old.bin", "ntag213.mfd"])
    func `A change is written in its place, and all else stays`(_ name: String) async throws {
        let bytes = try Files.dump(name)
        var image = try TagImage(parsing: bytes)
        let tag = image.makeTag()
        let script = try Script(tag)
        try await script.activate(image.uid)
        #expect(await script.send("a2 0b de ad be ef") == "ACK")
        image.update(from: tag)
        let changed = try image.encoded()
        #expect(changed.count == bytes.count)
        let differences = zip(bytes, changed).filter { $0 != $1 }.map { $1 }
        #expect(differences == (name.hasSuffix(".json") ? Array("DEADBEEF".utf8) : hex("de ad be ef")))
        #expect(try TagImage(parsing: changed).contents == image.contents)
    }

    @Test func `A counter that the file has no place for is not lost in silence`() async throws {
        var image = try Files.image("hf-mfu-ul11-old.bin")
        let tag = image.makeTag()
        let script = try Script(tag)
        try await script.activate(image.uid)
        #expect(await script.send("a5 01 05 00 00 00") == "ACK")
        image.update(from: tag)
        #expect(throws: TagImageError(.lossy, "")) { try image.encoded() }
    }

    @Test(arguments: [
        ("\"mfu\"", "\"iclass\"", "unsupported"), ("0004030101000B03", "0004030101007F03", "unsupported"),
        ("0004030101000B03", "0004030101", "malformed"), ("\"19\": ", "\"20\": ", "missing-field"),
        ("\"3\": \"E1100600\"", "\"3\": \"E11006\"", "malformed"), ("\"blocks\"", "\"block\"", "missing-field"),
        ("\"Counter2\": \"70", "\"Counter2\": \"7G", "malformed"),
    ])
    func `Faults of a JSON file are reported`(original: String, fault: String, code: String) throws {
        #expect(try Files.failure("hf-mfu-ul11-dump.json", original, fault)?.code.description == code)
    }

    @Test(arguments: [
        ("iclass", "no phone sees it"), ("14b v2", "neither its UID nor its chip"), ("mfdes", "has the keys of a card"),
        ("ndef", "nfc tag write --message"), ("hitag", "125 kHz"), ("lto", "no virtual tag of"),
    ])
    func `A file that no tag can be made of is refused with the reason`(type: String, reason: String) throws {
        let error = try Files.failure("hf-mfu-ul11-dump.json", "\"mfu\"", "\"\(type)\"")
        #expect(error?.code == .unsupported)
        #expect(error?.reason.contains(reason) == true)
    }

    @Test(arguments: [
        ("\"pagescount\": \"50\"", "\"pagescount\": \"51\"", "malformed"),
        ("\"bytesperpage\": \"04\"", "\"bytesperpage\": \"00\"", "malformed"),
        ("\"bytesperpage\": \"04\"", "\"bytesperpage\": \"21\"", "malformed"),
        ("\"79\": ", "\"80\": ", "missing-field"), ("\"uid\"", "\"id\"", "missing-field"),
    ])
    func `Faults of an ISO 15693 file are reported`(original: String, fault: String, code: String) throws {
        #expect(try Files.failure("hf-15-slix2-dump.json", original, fault)?.code.description == code)
    }

    @Test func `A Topaz 96 has its header`() throws {
        let contents = TagProduct(named: "Topaz 96")?.blank(uid: hex("01 02 03 04 05 06 07"))
        let text = String(
            decoding: try TagImage(try #require(contents), format: .proxmarkJSON).encoded(),
            as: UTF8.self
        )
        #expect(text.contains("\"FileType\": \"topaz\""))
        #expect(text.contains("\"H0R1\": \"1148\""))
        // The name that the client reads.
        #expect(try TagImage(parsing: Array(text.replacing("H0R1", with: "HR01").utf8)).contents == contents)
        #expect(throws: TagImageError(.unsupported, "")) {
            try TagImage(parsing: Array(text.replacing("1148", with: "124C").utf8))
        }
    }

    @Test(
        "A product is known by its maker, type, size and major version, whatever its subtype is",
        arguments: [
            ("0004030201000B03", "MIFARE Ultralight EV1 UL11"), ("0004030101010B03", "MIFARE Ultralight EV1 UL11"),
            ("0004040501000B03", "NTAG210"), ("0005030201000B03", nil), ("0004050201000B03", nil),
            ("0004030202000B03", nil), ("0004030201000C03", nil),
        ] as [(String, String?)]
    )
    func relatives(version: String, product: String?) throws {
        let text = try Files.text("hf-mfu-ul11-dump.json")
        let changed = text.replacing("\"0004030101000B03\"", with: "\"\(version)\"")
        #expect(changed != text)
        if let product {
            #expect(try TagImage(parsing: Array(changed.utf8)).product == product)
        } else {
            #expect(Files.failure(changed)?.code == .unsupported)
        }
    }
}
