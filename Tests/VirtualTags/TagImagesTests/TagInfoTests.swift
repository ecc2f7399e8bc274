// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualTags

/// Reports of NXP TagInfo.
struct TagInfoTests {
    @Test func `TagInfo NTAG213: pages, signature, ATQA and SAK are read; unreadable pages are as delivered`() throws {
        let text = try Files.text("taginfo-ntag213.xml")
        let contents = try #require(try TagContents(text: text).type2)
        #expect(contents.uid == Script.uid && contents.atqa == 0x0044 && contents.sak == 0x00)
        #expect(contents.signature == Array(0x40..<0x60))
        let same = try #require(try Files.image("ntag213.mfd").contents.type2)
        #expect(contents.memory.prefix(42 * 4) == same.memory.prefix(42 * 4))
        #expect(Array(contents.memory.suffix(12)) == hex("00 05 00 00 ff ff ff ff 00 00 00 00"))
        let other = text.replacing("ATQA: 0x4400", with: "ATQA: 0x0400").replacing("SAK: 0x00", with: "SAK: 0x08")
        let tag = try #require(try TagContents(text: other).type2)
        #expect(tag.atqa == 0x0004 && tag.sak == 0x08)
    }

    @Test func `TagInfo SLIX: blocks, locks, AFI, DSFID and signature are read; an unread block is zeros`() throws {
        let text = try Files.text("taginfo-slix.xml")
        var whole = try #require(try TagContents(text: text).type5)
        #expect(whole.uid == hex("e0 04 01 10 11 22 33 44") && whole.afi == 0x21 && whole.dsfid == 0x05)
        for (mark, isLocked) in [("*", true), ("x", true), ("* ", true), ("+P", false)] {
            let contents = try TagContents(text: text.replacing("access=\"x\"", with: "access=\"\(mark)\"")).type5
            #expect(contents?.lockedBlocks == (isLocked ? [2] : []), "\(mark)")
        }
        let signature =
            "<subsection title=\"Originality check\"><block type=\"text\"><content>Signature\n"
            + "r: 0x\(String(repeating: "1a", count: 16))\ns: 0x\(String(repeating: "2b", count: 16))"
            + "</content></block></subsection></scan>"
        let signed = text.replacing(">6F 6D FE 00<", with: "><").replacing("</scan>", with: signature)
        whole.memory.replaceSubrange(20..<24, with: [0, 0, 0, 0])
        whole.signature = Array(repeating: 0x1A, count: 16) + Array(repeating: 0x2B, count: 16)
        #expect(try TagContents(text: signed) == .type5(whole))
    }

    @Test func `TagInfo MIFARE Classic: the known keys are read`() throws {
        let card = try #require(try Files.image("taginfo-classic.xml").contents.classic)
        #expect(card.atqa == 0x0004 && card.sak == 0x08)
        #expect(Array(card.memory[48..<58]) == hex("a0 a1 a2 a3 a4 a5 ff 07 80 69"))
        #expect(card.unknownBytes.count == 56 * 16 + 2 * 6)
        #expect(card.unknownBytes.contains(58) && !card.unknownBytes.contains(57))
    }

    @Test func `TagInfo text: pages, and blocks with keys and locks are read; hyphens are unknown bytes`() throws {
        let ntag = try Files.image("taginfo-ntag215.txt")
        #expect(ntag.uid == hex("04 44 55 ca 60 57 81") && ntag.contents.type2?.memory.count == 20)
        #expect(ntag.contents.type2?.atqa == 0x0044 && ntag.remarks.map(\.kind) == [.missing])
        // As in reports of TagInfo 4.24.5.
        let row = "rwi  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 |................|"
        let trailer = "wxx  FF:FF:FF:FF:FF:FF FF:07:80 69 XX:XX:XX:XX:XX:XX\n  Factory default key (unknown key)"
        let unread = "???  -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- --"
        let rows = (0..<64).map { block in
            let number = hexText([UInt8(block)]).uppercased()
            if block == 0 { return "[00] r--  E2 F8 0C 77 61 88 04 00 C8 23 00 20 00 00 00 18 |...wa....#. ....|" }
            return "[\(number)] " + (block == 10 ? unread : block % 4 == 3 ? trailer : row)
        }
        let head = "** TagInfo scan (version 4.24.5) 2019-11-27 17:44:39 **\n# Detailed protocol information:\n"
        let text = head + "ID: E2:F8:0C:77\nATQA: 0x0400\nSAK: 0x08\n# Memory content:\n" + rows.joined(separator: "\n")
        let card = try #require(try TagContents(text: text).classic)
        #expect(card.product == .classic1K && card.uid == hex("e2 f8 0c 77") && card.sak == 0x08)
        #expect(Array(card.memory[48..<58]) == hex("ff ff ff ff ff ff ff 07 80 69"))
        #expect(card.unknownBytes.count == 16 + 16 * 6 && card.unknownBytes.contains(160))
        #expect(Files.failure(text.replacing("[3F]", with: "[40]"))?.code == .malformed)
        #expect(Files.failure(text.replacing("E2 F8 0C", with: "E2 G8 0C"))?.code == .malformed)
        let memory = ["E1 40 04 01", "03 00 FE 00", "", "00 00 00 00"].enumerated().map { "[0\($0)] *  \($1) |....|\n" }
        let tag = try #require(try TagContents(text: head + "ID: E0:04:01:50:01:02:03:04\n" + memory.joined()).type5)
        #expect(
            tag.product.blockCount == 4 && tag.lockedBlocks == [0, 1, 2, 3]
                && Array(tag.memory.prefix(4)) == hex("e1 40 04 01")
        )
    }

    @Test func `TagInfo report: refused as lossy when its tag has changed`() throws {
        var image = try Files.image("taginfo-ntag213.xml")
        var contents = try #require(image.contents.type2)
        contents.memory[20] ^= 1
        image.contents = .type2(contents)
        #expect(throws: TagImageError(.lossy, "")) { try image.encoded() }
    }

    @Test func `TagInfo XML: comments, instructions, CDATA and references are read`() throws {
        let changed = try Files.text("taginfo-ntag213.xml")
            .replacing("<scan>", with: "<!-- a <scan> --><?x y?>\n<scan>")
            .replacing("NTAG213</content>", with: "<![CDATA[NTAG]]>&#50;&#x31;3</content>")
            .replacing("<hasndef>true</hasndef>", with: "<hasndef a='>' b = \"&quot;\"/>")
        #expect(try TagImage(parsing: Array(changed.utf8)).product == "NTAG213")
    }

    /// A report of a tag with pages of zeros.
    private func report(uid: String = "04:A1:B2:C3:D4:E5:80", pages: Int = 16) -> String {
        let blocks = (0..<pages).map {
            "<block type=\"ultralight\"><address>\($0)</address><data>00 00 00 00</data></block>"
        }
        return "<scan><uid>\(uid)</uid><subsection title=\"IC type\"><block type=\"text\">"
            + "<content>NTAG213</content></block></subsection>\(blocks.joined())</scan>"
    }

    @Test func `TagInfo limits: 4 pages up to those of the product are read, and UIDs of 4, 7 or 10 bytes`() {
        for (count, isTaken) in [(3, false), (4, true), (45, true), (46, false)] {
            #expect(Files.failure(report(pages: count))?.code == (isTaken ? nil : .inconsistent), "\(count) pages")
        }
        let uids: [(String, TagImageError.Code?)] = [
            ("04A1B2C3", nil), ("04 A1\tB2\nC3\r04 A1 B2", nil), ("04A1B2C3D4E580010203", nil),
            ("04A1B2C3D4E58001", .inconsistent), ("04A1B2C3D4", .missingField), ("04A1B2C3D4E5800102", .missingField),
            (String(repeating: "00", count: 256), .missingField), (String(repeating: "00", count: 257), .malformed),
            ("", .missingField), ("04;A1;B2;C3", .malformed),
        ]
        for (uid, code) in uids { #expect(Files.failure(report(uid: uid))?.code == code, "\(uid)") }
    }
}
