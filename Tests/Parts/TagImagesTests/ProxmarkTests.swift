// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Proxmark3 files, made after the structures of the client.
struct ProxmarkTests {
    @Test func `Proxmark3 header of pages: version, signature, counters and flags are read`() throws {
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

    @Test func `Proxmark3 new file of pages: laid out as the client reads it`() throws {
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
    func `Proxmark3 binary file cut at any byte: refused`(_ name: String) throws {
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

    @Test(arguments: [TagImage.Format.proxmarkJSON, .proxmarkBinary])
    func `Proxmark3 ISO 15693: 256 blocks and 2048 bytes at most`(format: TagImage.Format) {
        for (blocks, size, isHeld) in [(64, 32, true), (256, 8, true), (65, 32, false), (257, 4, false)] {
            let contents = Type5Contents(blank: .generic(blockCount: blocks, blockSize: size))
            #expect(format.canHold(.type5(contents)) == isHeld, "\(blocks) blocks of \(size)")
        }
    }

    @Test
    func `Proxmark3 NTAG I2C: read behind a header of either length`() throws {
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

    @Test func `Proxmark3 dump of a part of the pages: read, and reported as missing`() throws {
        var bytes = Array(try Files.dump("hf-mfu-ntag215-dump.bin").prefix(56 + 50 * 4))
        bytes[11] = 49
        let image = try TagImage(parsing: bytes)
        #expect(image.contents.type2?.memory.count == 200)
        #expect(try image.encoded() == bytes)
        #expect(image.remarks.map(\.kind) == [.missing])
        #expect(image.remarks.first?.text == "The image has 50 of the 135 pages; the others are as delivered.")
    }

    @Test func `Proxmark3 header: another number of pages is refused`() throws {
        let bytes = Array(try Files.dump("hf-mfu-ntag215-dump.bin"))
        for last in UInt8.min...UInt8.max where last != 134 {
            var changed = bytes
            changed[11] = last
            let error = #expect(throws: TagImageError.self, "last page \(last)") { try TagImage(parsing: changed) }
            #expect(error?.code == (last < 134 ? .inconsistent : .missingField))
        }
    }

    @Test(arguments: ["12 34", "12 00", "00 34", "00 00"]
    )
    func `Proxmark3 older header: PACK is that of the header, or of the last page`(header: String) throws {
        var bytes = try Files.dump("hf-mfu-ul11-old.bin")
        let end = bytes.count
        bytes.replaceSubrange(13..<15, with: hex(header))
        bytes.replaceSubrange((end - 4)..<(end - 2), with: hex("56 78"))
        let memory = try #require(try TagImage(parsing: bytes).contents.type2?.memory)
        #expect(Array(memory.suffix(4)) == hex(header == "00 00" ? "56 78 00 00" : "\(header) 00 00"))
    }

    @Test func `Proxmark3 ISO 15693: UID, locks and counter of each version are read`() throws {
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
    func `Proxmark3 ISO 15693: the privacy password is kept where the tag has one`(format: TagImage.Format) throws {
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

    @Test func `Proxmark3 MIFARE Classic: the same card with and without a header`() throws {
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

    @Test(
        arguments: [
            (16, "MIFARE Ultralight"), (42, "NTAG203"), (44, "MIFARE Ultralight C"), (48, "MIFARE Ultralight C"),
            (43, nil), (15, nil), (20, nil),
        ] as [(Int, String?)]
    )
    func `Proxmark3 pages without a version: their number names the product`(pages: Int, product: String?) throws {
        let blocks = (0..<pages).map { "\"\($0)\": \"00000000\"" }.joined(separator: ", ")
        let text = "{\"Created\": \"proxmark3\", \"FileType\": \"mfu\", \"Card\": {}, \"blocks\": {\(blocks)}}"
        guard let product else { return #expect(Files.failure(text)?.code == .unsupported) }
        let image = try TagImage(parsing: Array(text.utf8))
        #expect(image.product == product && image.contents.type2?.memory.count == pages * 4)
    }

    @Test(arguments: ["hf-mfu-ntag215-dump.bin", "hf-mfu-ul11-dump.json", "hf-mfu-ul11-old.bin", "ntag213.mfd"])
    func `Proxmark3 change: written in its place, and all else stays`(_ name: String) async throws {
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

    @Test func `Proxmark3 counter without a place: the change is refused as lossy`() async throws {
        var image = try Files.image("hf-mfu-ul11-old.bin")
        let tag = image.makeTag()
        let script = try Script(tag)
        try await script.activate(image.uid)
        #expect(await script.send("a5 01 05 00 00 00") == "ACK")
        image.update(from: tag)
        #expect(throws: TagImageError(.lossy, "")) { try image.encoded() }
    }
}

/// Limits and versions of Proxmark3 files.
struct ProxmarkLimitTests {
    private func type5(_ text: String) throws -> Type5Contents {
        guard case .type5(let contents) = try TagImage(parsing: Array(text.utf8)).contents else {
            throw TagImageError(.unsupported, "")
        }
        return contents
    }

    private func classic(_ text: String) throws -> ClassicContents {
        guard case .classic(let contents) = try TagImage(parsing: Array(text.utf8)).contents else {
            throw TagImageError(.unsupported, "")
        }
        return contents
    }

    @Test(arguments: [16, 1024]
    )
    func `Proxmark3 binary pages: 256 at most`(count: Int) throws {
        let contents = Type2Contents(blank: .ntagI2C2K, uid: Script.uid)
        var bytes = try #require(contents.version)
        bytes += [0, 0, 0, UInt8(count / 4 - 1)]
        bytes += [UInt8](repeating: 0, count: 32 + 12)
        bytes += contents.memory.prefix(count)
        let image = try TagImage(parsing: bytes)
        #expect(image.format == .proxmarkBinary && image.product == "NTAG I2C 2K")
        #expect(image.contents.type2?.memory.count == count)
        #expect(try image.encoded() == bytes)
    }

    @Test
    func `Proxmark3 MIFARE Classic: ATQA and SAK of the file, and the UID of its first block`() throws {
        let text = try Files.text("hf-mf-1k-dump.json")
        let other = try classic(
            text.replacing("\"ATQA\": \"0400\"", with: "\"ATQA\": \"4200\"")
                .replacing("\"SAK\": \"08\"", with: "\"SAK\": \"88\"")
        )
        #expect(other.atqa == 0x0042 && other.sak == 0x88)
        let card = "\"UID\": \"9C0C3701\",\n    \"ATQA\": \"0400\",\n    \"SAK\": \"08\""
        #expect(text.contains(card))
        #expect(try classic(text.replacing(card, with: "")) == classic(text))
        let error = try Files.failure("hf-mf-1k-dump.json", "\"UID\": \"9C0C3701\"", "\"UID\": \"9C0C370102\"")
        #expect(error?.code == .malformed && error?.reason == "A UID has 4, 7 or 10 bytes, not 5.")
        #expect(error?.line == 5)
        let fewer = try Files.failure("hf-mf-1k-dump.json", "\"63\": ", "\"64\": ")
        #expect(fewer?.code == .missingField)
    }

    @Test
    func `Raw memory: the check byte of the UID tells a MIFARE Classic from ISO 15693`() throws {
        var bytes = [UInt8](repeating: 0, count: 1024)
        bytes.replaceSubrange(0..<13, with: hex("01 02 03 04 04 00 00 e0 00 00 00 00 04"))
        let image = try TagImage(parsing: bytes)
        #expect(image.product == "MIFARE Classic 1K" && image.uid == hex("01 02 03 04"))
        bytes[4] = 0x05
        let error = #expect(throws: TagImageError.self) { try TagImage(parsing: bytes) }
        #expect(error?.code == .missingField)
        bytes[12] = 33
        #expect(try TagImage(parsing: bytes).product == "MIFARE Classic 1K")
    }

    @Test(arguments: [160, 161]
    )
    func `Proxmark3 ISO 15693: version 4 up to 160 blocks, version 5 above`(count: Int) throws {
        var contents = Type5Contents(blank: .generic(blockCount: count))
        contents.lockedBlocks = [0, count - 1]
        contents.isDSFIDLocked = true
        let binary = try TagImage(.type5(contents), format: .proxmarkBinary).encoded()
        #expect(binary.count == (count == 160 ? 0xA0 + 15 : 0x100 + 16) + 2048 + 12)
        #expect(try TagImage(parsing: binary).contents == .type5(contents))
        let text = String(decoding: try TagImage(.type5(contents), format: .proxmarkJSON).encoded(), as: UTF8.self)
        #expect(text.contains("\"FileType\": \"15693 v\(count == 160 ? 4 : 5)\""))
        #expect(text.contains("\"pagescount\": \"\(count == 160 ? "A0" : "A100")\""))
        #expect(
            text.contains("\"random\": \"0000\",\n    \"privacypasswd\": \"00000000\",\n    \"state\": \"00\"\n  },\n")
        )
        #expect(try type5(text) == contents)
    }

    @Test
    func `Proxmark3 older ISO 15693 file: takes a change of its memory, and nothing else`() throws {
        for (type, body) in [
            ("15693", "\"raw\": \"E140040103000000\""),
            ("15693 v2", "\"blocks\": {\"0\": \"E1400401\", \"1\": \"03000000\"}"),
            ("15693 v3", "\"blocks\": {\"0\": \"E140040103000000\"}"),
        ] {
            let text = "{\"Created\": \"proxmark3\", \"FileType\": \"\(type)\", \(body)}"
            var image = try TagImage(parsing: Array(text.utf8))
            var contents = try type5(text)
            let size = type == "15693 v3" ? 8 : 4
            let product = Type5Product.generic(blockCount: 8 / size, blockSize: size)
            var expected = Type5Contents(blank: product, uid: hex("e0 00 00 00 00 00 00 00"))
            expected.memory = hex("e1 40 04 01 03 00 00 00")
            #expect(contents == expected, "\(type)")
            contents.memory[4] = 0xFE
            image.contents = .type5(contents)
            let changed = String(decoding: try image.encoded(), as: UTF8.self)
            #expect(changed == text.replacing("03000000", with: "FE000000"), "\(type)")
            for change in Self.losses {
                var other = contents
                change(&other)
                image.contents = .type5(other)
                #expect(throws: TagImageError(.lossy, "")) { try image.encoded() }
            }
        }
    }

    /// Changes that a file with the memory alone has no place for.
    private static let losses: [@Sendable (inout Type5Contents) -> Void] = [
        { $0.uid[7] = 1 }, { $0.lockedBlocks = [0] }, { $0.afi = 1 }, { $0.dsfid = 1 }, { $0.isAFILocked = true },
        { $0.isDSFIDLocked = true }, { $0.isSurveillanceSet = false }, { $0.isSurveillanceLocked = true },
        { $0.passwords[0x10] = 1 }, { $0.signature[0] = 1 }, { $0.counter = 1 }, { $0.protection.pointer = 1 },
        { $0.settings.isKilled = true },
    ]
}

/// Proxmark3 text files.
struct ProxmarkTextTests {
    @Test(arguments: [("hf-mfu-ntag215-dump.eml", "hf-mfu-ntag215-dump.bin"), ("hf-mf-1k-dump.eml", "classic-1k.mfd")])
    func `Proxmark3 text: holds what the binary file does`(text: String, binary: String) throws {
        #expect(try Files.image(text).contents == Files.image(binary).contents)
    }

    @Test func `Proxmark3 text change: comments, spaces and case stay`() throws {
        var image = try Files.image("hf-mf-1k-dump.eml")
        guard case .classic(var contents) = image.contents else { throw TagImageError(.unsupported, "") }
        contents.memory[16] = 0xAB
        image.contents = .classic(contents)
        let (old, new) = (try Files.dump("hf-mf-1k-dump.eml"), try image.encoded())
        let lines = [old, new].map { $0.split(separator: 0x0A, omittingEmptySubsequences: false) }
        #expect(lines[0].count == lines[1].count)
        let different = lines[0].indices.filter { lines[0][$0] != lines[1][$0] }
        // The first line is a comment, the second block 0.
        #expect(different == [2])
        #expect(String(decoding: lines[1][2], as: UTF8.self).hasPrefix("ab "))
        #expect(try TagImage(parsing: new).contents == image.contents)
    }

    @Test(arguments: ["hf-mf-1k-dump.eml", "hf-mfu-ntag215-dump.eml"]
    )
    func `Proxmark3 text: a byte order mark is skipped and kept`(name: String) throws {
        let (mark, bytes): ([UInt8], [UInt8]) = ([0xEF, 0xBB, 0xBF], try Files.dump(name))
        var image = try TagImage(parsing: bytes)
        var marked = try TagImage(parsing: mark + bytes)
        #expect(marked.format == .proxmarkText && marked.contents == image.contents)
        #expect(try marked.encoded() == mark + bytes)
        switch image.contents {
        case .classic(var card):
            card.memory[16] ^= 0xFF
            image.contents = .classic(card)
        case .type2(var tag):
            tag.memory[16] ^= 0xFF
            image.contents = .type2(tag)
        default: throw TagImageError(.unsupported, "")
        }
        marked.contents = image.contents
        let changed = try image.encoded()
        #expect(changed != bytes)
        #expect(try marked.encoded() == mark + changed)
        let text = try "\u{FEFF}" + Files.text(name)
        let fault = text.replacing("00 00", with: "?? 00", maxReplacements: 1)
            .replacing("\n00000000\n", with: "\n?0000000\n", maxReplacements: 1)
        let error = try #require(Files.failure(fault))
        #expect(error.code == .malformed && error.line == fault.prefix { $0 != "?" }.count(where: \.isNewline) + 1)
    }
}
