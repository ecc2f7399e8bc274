// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Reports of NXP TagInfo.
struct TagInfoTests {
    @Test func `TagInfo NTAG213: pages and signature, and as delivered what a phone can not read`() throws {
        let contents = try #require(try TagImage(parsing: Files.dump("taginfo-ntag213.xml")).contents.type2)
        #expect(contents.uid == Script.uid)
        #expect(contents.atqa == 0x0044 && contents.sak == 0x00)
        #expect(contents.signature == Array(0x40..<0x60))
        let same = try #require(try TagImage(parsing: Files.dump("ntag213.mfd")).contents.type2)
        #expect(Array(contents.memory.prefix(42 * 4)) == Array(same.memory.prefix(42 * 4)))
        #expect(Array(contents.memory.suffix(12)) == hex("00 05 00 00 ff ff ff ff 00 00 00 00"))
    }

    @Test func `TagInfo SLIX: blocks, locks, AFI and DSFID are read`() throws {
        guard case .type5(let contents) = try TagImage(parsing: Files.dump("taginfo-slix.xml")).contents else { return }
        #expect(contents.uid == hex("e0 04 01 10 11 22 33 44"))
        #expect(contents.lockedBlocks == [2])
        #expect(contents.afi == 0x21 && contents.dsfid == 0x05)
    }

    @Test func `TagInfo MIFARE Classic: the known keys are read`() throws {
        guard case .classic(let card) = try TagImage(parsing: Files.dump("taginfo-classic.xml")).contents else {
            return
        }
        #expect(card.atqa == 0x0004 && card.sak == 0x08)
        #expect(Array(card.memory[48..<58]) == hex("a0 a1 a2 a3 a4 a5 ff 07 80 69"))
        #expect(card.unknownBytes.count == 56 * 16 + 2 * 6)
        #expect(card.unknownBytes.contains(58) && !card.unknownBytes.contains(57))
    }

    @Test func `TagInfo report: refused as lossy when its tag has changed`() throws {
        var image = try TagImage(parsing: Files.dump("taginfo-ntag213.xml"))
        var contents = try #require(image.contents.type2)
        contents.memory[20] ^= 1
        image.contents = .type2(contents)
        #expect(throws: TagImageError(.lossy, "")) { try image.encoded() }
        #expect(TagImage.Format.flipper.canHold(image.contents))
    }

    @Test func `TagInfo XML: comments, instructions, CDATA and references are read`() throws {
        let text = try Files.text("taginfo-ntag213.xml")
        let changed = text.replacing("<scan>", with: "<!-- a <scan> --><?x y?>\n<scan>")
            .replacing("NTAG213</content>", with: "<![CDATA[NTAG]]>&#50;&#x31;3</content>")
            .replacing("<hasndef>true</hasndef>", with: "<hasndef a='>' b = \"&quot;\"/>")
        #expect(try TagImage(parsing: Array(changed.utf8)).product == "NTAG213")
    }

    @Test(arguments: [("*", true), ("x", true), ("* ", true), ("+P", false)]
    )
    func `TagInfo access: a star and an x mean locked`(mark: String, isLocked: Bool) throws {
        let text = try Files.text("taginfo-slix.xml")
        let changed = text.replacing("access=\"x\"", with: "access=\"\(mark)\"")
        guard case .type5(let contents) = try TagImage(parsing: Array(changed.utf8)).contents else {
            throw TagImageError(.unsupported, "")
        }
        #expect(contents.lockedBlocks == (isLocked ? [2] : []))
    }
}

/// Names, pages and UIDs in reports of TagInfo.
struct TagInfoLimitTests {
    private func contents(_ text: String) throws -> TagContents { try TagImage(parsing: Array(text.utf8)).contents }

    /// A report of a tag with pages of zeros.
    private func report(_ type: String, uid: String = "04:A1:B2:C3:D4:E5:80", pages: Int) -> String {
        let blocks = (0..<pages).map {
            "<block type=\"ultralight\"><address>\($0)</address><data>00 00 00 00</data></block>"
        }
        return "<scan><uid>\(uid)</uid><subsection title=\"IC type\"><block type=\"text\">"
            + "<content>\(type)</content></block></subsection>\(blocks.joined())</scan>"
    }

    @Test
    func `TagInfo activation: ATQA and SAK are those of the report`() throws {
        let ntag = try Files.text("taginfo-ntag213.xml").replacing("ATQA: 0x4400", with: "ATQA: 0x0400")
            .replacing("SAK: 0x00", with: "SAK: 0x08")
        let tag = try #require(try contents(ntag).type2)
        #expect(tag.atqa == 0x0004 && tag.sak == 0x08)
        let other = try Files.text("taginfo-classic.xml").replacing("ATQA: 0x0400", with: "ATQA: 0x4200")
            .replacing("SAK: 0x08", with: "SAK: 0x88")
        guard case .classic(let card) = try contents(other) else { throw TagImageError(.unsupported, "") }
        #expect(card.atqa == 0x0042 && card.sak == 0x88)
    }

    @Test(arguments: [(3, false), (4, true), (45, true), (46, false)]
    )
    func `TagInfo pages: 4 to those of the product`(count: Int, isTaken: Bool) {
        let error = Files.failure(report("NTAG213", pages: count))
        #expect(error?.code == (isTaken ? nil : .inconsistent))
        #expect(error?.reason == (isTaken ? nil : "\(count) pages are not what the NTAG213 has."))
    }

    @Test(
        arguments: [
            ("04A1B2C3", nil), ("04 A1\tB2\nC3\r04 A1 B2", nil), ("04A1B2C3D4E580010203", nil),
            ("04A1B2C3D4E58001", .inconsistent), ("04A1B2C3D4", .missingField), ("04A1B2C3D4E5800102", .missingField),
            (String(repeating: "00", count: 256), .missingField), (String(repeating: "00", count: 257), .malformed),
            ("", .missingField), ("04;A1;B2;C3", .malformed),
        ] as [(String, TagImageError.Code?)]
    )
    func `TagInfo UID: 4, 7, 8 or 10 bytes`(uid: String, code: TagImageError.Code?) {
        #expect(Files.failure(report("NTAG213", uid: uid, pages: 16))?.code == code)
    }

    @Test
    func `TagInfo SLIX: an unread block is zero, and the signature is read`() throws {
        let signature =
            "<subsection title=\"Originality check\"><block type=\"text\"><content>Signature\n"
            + "r: 0x\(String(repeating: "1a", count: 16))\ns: 0x\(String(repeating: "2b", count: 16))"
            + "</content></block></subsection></scan>"
        let text = try Files.text("taginfo-slix.xml").replacing(">6F 6D FE 00<", with: "><")
            .replacing("</scan>", with: signature)
        guard case .type5(let contents) = try self.contents(text),
            case .type5(var whole) = try Files.image("taginfo-slix.xml").contents
        else { throw TagImageError(.unsupported, "") }
        whole.memory.replaceSubrange(20..<24, with: [0, 0, 0, 0])
        whole.signature = Array(repeating: 0x1A, count: 16) + Array(repeating: 0x2B, count: 16)
        #expect(contents == whole)
    }
}
