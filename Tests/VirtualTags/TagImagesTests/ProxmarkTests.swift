// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualTags

/// Proxmark3 files, made after the structures of the client.
struct ProxmarkTests {
    // MARK: Pages

    @Test func `Proxmark3 header of pages: version, signature, counters and flags are read`() throws {
        let contents = try #require(try Files.image("hf-mfu-ntag215-dump.bin").contents.type2)
        #expect(contents.product == .ntag215 && contents.uid == Script.uid)
        #expect(contents.counters == [0, 0, 95] && contents.signature == Array(0x40..<0x60))
        #expect(contents.memory.count == 135 * 4)
        let json = try #require(try Files.image("hf-mfu-ul11-dump.json").contents.type2)
        #expect(json.product == .ultralightEV1UL11)
        #expect(json.counters == [12, 0, 70000] && json.tearingFlags == [0xBD, 0xBD, 0xBD])
        #expect(try Files.image("hf-mfu-ul11-old.bin").contents.type2?.counters == [0, 0, 0])
    }

    @Test func `Proxmark3 new file of pages: binary and JSON have the layout that the client reads`() throws {
        var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
        contents.counters = [0, 0, 0x010203]
        let bytes = try TagImage(contents, format: .proxmarkBinary).encoded()
        #expect(bytes.count == 56 + 45 * 4)
        #expect(Array(bytes[0..<8]) == hex("00 04 04 02 01 00 0f 03"))
        // The number of the last page.
        #expect(bytes[11] == 44)
        #expect(Array(bytes[44..<60]) == hex("00 00 00 bd 00 00 00 bd 03 02 01 bd 04 a1 b2 9f"))
        let text = try TagContents.type2(contents).text(.proxmarkJSON)
        let start = """
            {
              "Created": "proxmark3",
              "FileType": "mfu",
              "Card": {
                "UID": "04A1B2C3D4E580"
            """
        let middle = """
                "Counter2": "030201",
                "Tearing2": "BD"
              },
              "blocks": {
                "0": "04A1B29F"
            """
        #expect(text.hasPrefix(start) && text.contains(middle))
        #expect(text.hasSuffix("    \"44\": \"00000000\"\n  }\n}"))
    }

    @Test func `Proxmark3 NTAG I2C: read behind a header of either length`() throws {
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
        #expect(throws: TagImageError(.missingField, "")) { try TagImage(parsing: Array(bytes.dropLast(24))) }
        #expect(throws: TagImageError.self) { try TagImage(parsing: bytes + [0, 0, 0, 0]) }
    }

    @Test func `Proxmark3 dump of a part of the pages: read, and reported as missing`() throws {
        var bytes = Array(try Files.dump("hf-mfu-ntag215-dump.bin").prefix(56 + 50 * 4))
        bytes[11] = 49
        let image = try TagImage(parsing: bytes)
        #expect(image.contents.type2?.memory.count == 200)
        #expect(try image.encoded() == bytes)
        #expect(image.remarks.map(\.kind) == [.missing])
        let whole = try Files.dump("hf-mfu-ntag215-dump.bin")
        for last in UInt8.min...UInt8.max where last != 134 {
            var changed = whole
            changed[11] = last
            let error = #expect(throws: TagImageError.self, "last page \(last)") { try TagImage(parsing: changed) }
            #expect(error?.code == (last < 134 ? .inconsistent : .missingField))
        }
    }

    @Test(arguments: [16, 1024])
    func `Proxmark3 binary pages: a part of an NTAG I2C 2K is read, also the most pages that fit, 256`(count: Int)
        throws
    {
        let contents = Type2Contents(blank: .ntagI2C2K, uid: Script.uid)
        let version = try #require(contents.version)
        let head = version + [0, 0, 0, UInt8(count / 4 - 1)] + [UInt8](repeating: 0, count: 32 + 12)
        let bytes = head + contents.memory.prefix(count)
        let image = try TagImage(parsing: bytes)
        #expect(image.format == .proxmarkBinary && image.product == "NTAG I2C 2K")
        #expect(image.contents.type2?.memory.count == count)
        #expect(try image.encoded() == bytes)
    }

    @Test(arguments: ["12 34", "12 00", "00 34", "00 00"])
    func `Proxmark3 older header: PACK is that of the header, or of the last page if the header has zeros`(
        header: String
    ) throws {
        var bytes = try Files.dump("hf-mfu-ul11-old.bin")
        let end = bytes.count
        bytes.replaceSubrange(13..<15, with: hex(header))
        bytes.replaceSubrange((end - 4)..<(end - 2), with: hex("56 78"))
        let memory = try #require(try TagImage(parsing: bytes).contents.type2?.memory)
        #expect(Array(memory.suffix(4)) == hex(header == "00 00" ? "56 78 00 00" : "\(header) 00 00"))
    }

    @Test func `Proxmark3 pages without a version: their number names the product`() throws {
        let rows: [(Int, String?)] = [
            (16, "MIFARE Ultralight"), (42, "NTAG203"), (44, "MIFARE Ultralight C"), (48, "MIFARE Ultralight C"),
            (43, nil), (15, nil), (20, nil),
        ]
        for (pages, product) in rows {
            let blocks = (0..<pages).map { "\"\($0)\": \"00000000\"" }.joined(separator: ", ")
            let text = "{\"Created\": \"proxmark3\", \"FileType\": \"mfu\", \"Card\": {}, \"blocks\": {\(blocks)}}"
            #expect(Files.failure(text)?.code == (product == nil ? .unsupported : nil), "\(pages)")
            guard let product else { continue }
            let image = try TagImage(parsing: Array(text.utf8))
            #expect(image.product == product && image.contents.type2?.memory.count == pages * 4)
        }
    }

    // MARK: Changes

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
        guard name == "hf-mfu-ul11-old.bin" else { return }
        // The older header has no place for a counter.
        #expect(await script.send("a5 01 05 00 00 00") == "ACK")
        image.update(from: tag)
        #expect(throws: TagImageError(.lossy, "")) { try image.encoded() }
    }

    // MARK: MIFARE Classic and raw memory

    @Test func `Proxmark3 MIFARE Classic: the same card with and without a header`() throws {
        let text = try Files.text("hf-mf-1k-dump.json")
        let card = try #require(try TagContents(text: text).classic)
        #expect(try Files.image("classic-1k.mfd").contents == .classic(card))
        #expect(card.uid == hex("9c 0c 37 01"))
        var signed = card
        signed.signature = Array(repeating: 0x5A, count: 32)
        #expect(try TagContents.classic(signed).text(.proxmarkJSON).contains("\"FileType\": \"mfc v3\""))
        #expect(try TagContents.classic(signed).returns(in: .proxmarkJSON))
        #expect(!TagImage.Format.proxmarkBinary.canHold(.classic(signed)))
        // The same bytes under another name.
        let binary = try TagImage(parsing: Files.dump("classic-1k.mfd"), as: .proxmarkBinary)
        #expect(binary.format == .proxmarkBinary)
        // ATQA and SAK of the file, and without them the UID of the first block.
        let other = text.replacing("\"ATQA\": \"0400\"", with: "\"ATQA\": \"4200\"")
            .replacing("\"SAK\": \"08\"", with: "\"SAK\": \"88\"")
        let changed = try #require(try TagContents(text: other).classic)
        #expect(changed.atqa == 0x0042 && changed.sak == 0x88)
        let members = "\"UID\": \"9C0C3701\",\n    \"ATQA\": \"0400\",\n    \"SAK\": \"08\""
        #expect(text.contains(members))
        #expect(try TagContents(text: text.replacing(members, with: "")) == .classic(card))
    }

    @Test func `Raw memory: the check byte of the UID distinguishes a MIFARE Classic from ISO 15693`() throws {
        var bytes = [UInt8](repeating: 0, count: 1024)
        bytes.replaceSubrange(0..<13, with: hex("01 02 03 04 04 00 00 e0 00 00 00 00 04"))
        let image = try TagImage(parsing: bytes)
        #expect(image.product == "MIFARE Classic 1K" && image.uid == hex("01 02 03 04"))
        bytes[4] = 0x05
        #expect(throws: TagImageError(.missingField, "")) { try TagImage(parsing: bytes) }
        bytes[12] = 33
        #expect(try TagImage(parsing: bytes).product == "MIFARE Classic 1K")
    }

    // MARK: Text

    @Test(arguments: [("hf-mfu-ntag215-dump.eml", "hf-mfu-ntag215-dump.bin"), ("hf-mf-1k-dump.eml", "classic-1k.mfd")])
    func `Proxmark3 text: holds what the binary file does, and a change leaves the rest`(text: String, binary: String)
        throws
    {
        let bytes = try Files.dump(text)
        var image = try TagImage(parsing: bytes)
        #expect(try image.contents == Files.image(binary).contents)
        if case .classic(var card) = image.contents {
            card.memory[16] = 0xAB
            image.contents = .classic(card)
        } else if case .type2(var tag) = image.contents {
            tag.memory[16] = 0xAB
            image.contents = .type2(tag)
        }
        let changed = try image.encoded()
        let lines = [bytes, changed].map { $0.split(separator: 0x0A, omittingEmptySubsequences: false) }
        #expect(lines[0].count == lines[1].count)
        let different = lines[1].indices.filter { lines[0][$0] != lines[1][$0] }
        #expect(different.count == 1)
        let line = String(decoding: lines[1][try #require(different.first)], as: UTF8.self)
        #expect(line.lowercased().hasPrefix("ab"))
        // A byte order mark is skipped and kept, and lines are counted behind it.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var marked = try TagImage(parsing: mark + bytes)
        #expect(try marked.format == .proxmarkText && marked.encoded() == mark + bytes)
        marked.contents = image.contents
        #expect(try marked.encoded() == mark + changed)
    }
}
