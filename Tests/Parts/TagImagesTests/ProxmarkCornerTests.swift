// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite("Corners of Proxmark3 files")
struct ProxmarkCornerTests {
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

    // MARK: MIFARE Ultralight and NTAG

    @Test("What a file of pages does not say is zero")
    func withoutCard() throws {
        let blocks = (0..<16).map { "\"\($0)\": \"00000000\"" }.joined(separator: ", ")
        let text = "{\"Created\": \"proxmark3\", \"FileType\": \"mfu\", \"Card\": {}, \"blocks\": {\(blocks)}}"
        let tag = try #require(try TagImage(parsing: Array(text.utf8)).contents.type2)
        #expect(tag.version == nil && tag.signature == Array(repeating: 0, count: 32))
        #expect(tag.counters == [0, 0, 0] && tag.tearingFlags == [0, 0, 0])
        #expect(tag.uid == [0, 0, 0, 0, 0, 0, 0])
    }

    @Test("A file that the client wrote has nothing that a tag has no place for")
    func nothingLeftOut() throws {
        for name in ["hf-mfu-ul11-dump.json", "hf-mf-1k-dump.json"] {
            #expect(try Files.image(name).remarks.isEmpty, "\(name)")
        }
    }

    @Test("A tag that there is no model of is named by its version, or by the number of its pages")
    func unknownProducts() throws {
        let version = "\"Version\": \"0004030101000B03\""
        let other = try Files.failure("hf-mfu-ul11-dump.json", version, "\"Version\": \"0004030101007F03\"")
        #expect(other?.reason == "A tag with the version 0004030101007f03 is not supported yet.")
        let none = try Files.failure("hf-mfu-ul11-dump.json", version, "\"Version\": \"0000000000000000\"")
        #expect(none?.reason == "No tag without GET_VERSION has 20 pages.")
    }

    @Test("A tag with a version has four pages at least", arguments: [(3, false), (4, true)])
    func fewestPages(count: Int, isTaken: Bool) {
        let blocks = (0..<count).map { "\"\($0)\": \"00000000\"" }.joined(separator: ", ")
        let card = "\"Card\": {\"Version\": \"0004030101000B03\"}"
        let text = "{\"Created\": \"proxmark3\", \"FileType\": \"mfu\", \(card), \"blocks\": {\(blocks)}}"
        let error = Files.failure(text)
        #expect(error?.code == (isTaken ? nil : .inconsistent))
        #expect(
            error?.reason == (isTaken ? nil : "3 pages are not what the MIFARE Ultralight EV1 UL11 has, which are 20.")
        )
    }

    @Test(
        "The greatest number of pages in a binary file is 256, as in a part of an NTAG I2C 2K",
        arguments: [16, 1024]
    )
    func mostPages(count: Int) throws {
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

    // MARK: MIFARE Classic

    @Test("A MIFARE Classic has the answers of its file, and without a UID that of its first block")
    func answers() throws {
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

    @Test("A memory that begins as an ISO 15693 tag is one of a MIFARE Classic by the check byte of its UID")
    func likeISO15693() throws {
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

    // MARK: ISO 15693

    @Test(
        "A memory of up to 160 blocks is in a file of version 4, and a greater one in version 5",
        arguments: [160, 161]
    )
    func versions(count: Int) throws {
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

    @Test("A file of an older version has nothing but the memory, and takes a change of it alone")
    func olderVersions() throws {
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
            for (change, words) in Self.losses {
                var other = contents
                change(&other)
                image.contents = .type5(other)
                let error = #expect(throws: TagImageError.self) { try image.encoded() }
                #expect(
                    error?.reason
                        == "A Proxmark3 JSON file can't hold this generic Type 5 without losing \(words)."
                )
            }
        }
    }

    /// Changes that a file with the memory alone has no place for.
    private static let losses: [(@Sendable (inout Type5Contents) -> Void, String)] = [
        ({ $0.uid[7] = 1 }, "the UID"), ({ $0.lockedBlocks = [0] }, "the locked blocks"),
        ({ $0.afi = 1 }, "AFI and DSFID"), ({ $0.dsfid = 1 }, "AFI and DSFID"),
        ({ $0.isAFILocked = true }, "the locks of AFI and DSFID"),
        ({ $0.isDSFIDLocked = true }, "the locks of AFI and DSFID"),
        ({ $0.isSurveillanceSet = false }, "the surveillance bit"),
        ({ $0.isSurveillanceLocked = true }, "the surveillance bit"), ({ $0.passwords[0x10] = 1 }, "the passwords"),
        ({ $0.signature[0] = 1 }, "the signature"), ({ $0.counter = 1 }, "the counter"),
        ({ $0.protection.pointer = 1 }, "what guards its pages"), ({ $0.settings.isKilled = true }, "the settings"),
        (
            {
                $0.lockedBlocks = [0]
                $0.afi = 1
                $0.isAFILocked = true
                $0.isSurveillanceLocked = true
                $0.passwords[0x10] = 1
                $0.signature[0] = 1
                $0.counter = 1
                $0.protection.pointer = 1
                $0.settings.isKilled = true
            },
            "the locked blocks, AFI and DSFID, the locks of AFI and DSFID, the surveillance bit, the passwords, "
                + "the signature, the counter, what guards its pages, the settings"
        ),
    ]

    @Test(
        "The size of a memory is one or two bytes, and its blocks have a size that there is",
        arguments: [
            ("\"50\"", "\"5000\"", nil), ("\"50\"", "\"500000\"", .malformed), ("\"50\"", "\"\"", .malformed),
            ("\"50\"", "\"0000\"", .malformed),
        ] as [(String, String, TagImageError.Code?)]
    )
    func counts(original: String, other: String, code: TagImageError.Code?) throws {
        let error = try Files.failure(
            "hf-15-slix2-dump.json",
            "\"pagescount\": \(original)",
            "\"pagescount\": \(other)"
        )
        #expect(error?.code == code)
    }

    @Test("What the card of an ISO 15693 file does not say is zero")
    func withoutDetails() throws {
        let text = try Files.text("hf-15-slix2-dump.json")
        let start = try #require(text.firstRange(of: "    \"dsfid\"")).lowerBound
        let middle = try #require(text.firstRange(of: "    \"bytesperpage\"")).lowerBound
        let details = try #require(text.firstRange(of: ",\n    \"ic\"")).lowerBound
        let end = try #require(text.firstRange(of: "\n  },\n  \"blocks\"")).lowerBound
        let plain = String(text[..<start]) + String(text[middle..<details]) + String(text[end...])
        let contents = try type5(plain)
        #expect(contents.product == .icodeSLIX2 && contents.counter == 300)
        #expect(contents.dsfid == 0 && contents.afi == 0 && contents.lockedBlocks.isEmpty)
        #expect(!contents.isDSFIDLocked && !contents.isAFILocked)
        #expect(contents.passwords[0x04] == 0)
    }

    @Test(
        "More blocks than a binary file has room for contradict it",
        arguments: [(0xA1, 4), (0xFF, 4), (0x50, 32), (0x50, 26)] as [(UInt8, UInt8)]
    )
    func largeCounts(count: UInt8, size: UInt8) throws {
        var bytes = try Files.dump("hf-15-slix2-v4.bin")
        (bytes[12], bytes[13]) = (size, count)
        let error = #expect(throws: TagImageError.self) { try TagImage(parsing: bytes) }
        #expect(error?.code == .inconsistent)
        #expect(error?.reason == "\(count) blocks of \(size) don't fit into the file.")
    }

    @Test("Each stretch of a file that a tag has no place for is named from its first byte to its last")
    func stretches() throws {
        let bytes = try Files.dump("hf-15-slix2-v4.bin")
        let end = bytes.count - 12
        let text = try #require(try TagImage(parsing: bytes).remarks.first?.text)
        #expect(text.contains("no place for bytes \(end) to \(end + 1), byte \(end + 6):"))
        var more = bytes
        more[end + 8] = 1
        more[end + 9] = 2
        let other = try #require(try TagImage(parsing: more).remarks.first?.text)
        let places = "bytes \(end) to \(end + 1), byte \(end + 6), bytes \(end + 8) to \(end + 9):"
        #expect(other.contains("no place for \(places)"))
    }

    // MARK: Topaz

    @Test("A Topaz file has all blocks of static memory")
    func topaz() throws {
        let contents = TagContents.type1(Type1Contents(blank: .topaz96, uid: hex("01 02 03 04 05 06 07")))
        let text = String(decoding: try TagImage(contents, format: .proxmarkJSON).encoded(), as: UTF8.self)
        #expect(text.contains("\"UID\": \"01020304050607\",\n    \"H0R1\": \"1148\",\n    \"Size\": \"7800\"\n"))
        let last = try #require(text.firstRange(of: ",\n    \"14\": ")).lowerBound
        let error = try #require(Files.failure(String(text[..<last]) + "\n  }\n}"))
        #expect(error.code == .unsupported && error.line == 6)
    }

    // MARK: Text

    @Test("Rows may have tabs between their bytes, and a row with another character is refused for that")
    func rows() throws {
        let text = try Files.text("hf-mf-1k-dump.eml")
        let tabs = text.replacing(" ", with: "\t").replacing("#\ta\tcomment", with: "# a comment")
        #expect(try classic(tabs) == classic(text))
        let error = try Files.failure("hf-mf-1k-dump.eml", "ff ff ff ff ff ff", "?? ff ff ff ff ff")
        #expect(error?.reason == "The line is no row of hexadecimal digits.")
        let shorter = try Files.failure("hf-mf-1k-dump.eml", "ff ff ff ff ff ff", "ff ff ff ff ff")
        let sizes = "The line has 15 bytes, and those before it have 16;"
        #expect(shorter?.reason.hasPrefix(sizes) == true)
    }
}
