// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite("Corners of TagInfo reports")
struct TagInfoCornerTests {
    private func contents(_ text: String) throws -> TagContents { try TagImage(parsing: Array(text.utf8)).contents }

    /// A report of a tag with pages of zeros.
    private func report(_ type: String, uid: String = "04:A1:B2:C3:D4:E5:80", pages: Int) -> String {
        let blocks = (0..<pages).map {
            "<block type=\"ultralight\"><address>\($0)</address><data>00 00 00 00</data></block>"
        }
        return "<scan><uid>\(uid)</uid><subsection title=\"IC type\"><block type=\"text\">"
            + "<content>\(type)</content></block></subsection>\(blocks.joined())</scan>"
    }

    // MARK: Tags

    @Test("The answers to the activation are those of the report")
    func answers() throws {
        let ntag = try Files.text("taginfo-ntag213.xml").replacing("ATQA: 0x4400", with: "ATQA: 0x0400")
            .replacing("SAK: 0x00", with: "SAK: 0x08")
        let tag = try #require(try contents(ntag).type2)
        #expect(tag.atqa == 0x0004 && tag.sak == 0x08)
        let other = try Files.text("taginfo-classic.xml").replacing("ATQA: 0x0400", with: "ATQA: 0x4200")
            .replacing("SAK: 0x08", with: "SAK: 0x88")
        guard case .classic(let card) = try contents(other) else { throw TagImageError(.unsupported, "") }
        #expect(card.atqa == 0x0042 && card.sak == 0x88)
    }

    @Test(
        "A product is also known by its number, and with an F behind its name",
        arguments: [
            ("NTAG213F (NT2H1311F0)", "NTAG213"), ("NTAG213F", "NTAG213"), ("NTAG213F2", nil), ("NTAG213FX", nil),
            ("MIFARE Ultralight (MF0ICU1)", "MIFARE Ultralight"),
            ("MIFARE Ultralight C (MF0ICU2)", "MIFARE Ultralight C"),
            ("MIFARE Ultralight EV1 (MF0UL21)", "MIFARE Ultralight EV1 UL21"), ("", nil),
        ] as [(String, String?)]
    )
    func names(type: String, product: String?) throws {
        let text = report(type, pages: 16)
        guard let product else { return #expect(Files.failure(text)?.code == .unsupported) }
        #expect(try TagImage(parsing: Array(text.utf8)).product == product)
    }

    @Test(
        "A report has four pages at least, and no more than the product",
        arguments: [(3, false), (4, true), (45, true), (46, false)]
    )
    func pages(count: Int, isTaken: Bool) {
        let error = Files.failure(report("NTAG213", pages: count))
        #expect(error?.code == (isTaken ? nil : .inconsistent))
        #expect(error?.reason == (isTaken ? nil : "\(count) pages are not what the NTAG213 has."))
    }

    @Test(
        "A UID has 4, 7, 8 or 10 bytes, with any space between them",
        arguments: [
            ("04A1B2C3", nil), ("04 A1\tB2\nC3\r04 A1 B2", nil), ("04A1B2C3D4E580010203", nil),
            ("04A1B2C3D4E58001", .inconsistent), ("04A1B2C3D4", .missingField), ("04A1B2C3D4E5800102", .missingField),
            (String(repeating: "00", count: 256), .missingField), (String(repeating: "00", count: 257), .malformed),
            ("", .missingField), ("04;A1;B2;C3", .malformed),
        ] as [(String, TagImageError.Code?)]
    )
    func identifiers(uid: String, code: TagImageError.Code?) {
        #expect(Files.failure(report("NTAG213", uid: uid, pages: 16))?.code == code)
    }

    @Test("A block of a SLIX that was not read is zero, and the signature of a report is kept")
    func unreadBlocks() throws {
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

    @Test(
        "A block of a MIFARE Classic has 16 bytes, and a card all of its blocks",
        arguments: [
            ("4D 49 46 41", "4D 49 46", .malformed), ("<address>1</address>", "<address>2</address>", .malformed),
            ("<address>1</address>", "", .inconsistent),
        ] as [(String, String, TagImageError.Code)]
    )
    func classics(original: String, fault: String, code: TagImageError.Code) throws {
        #expect(try Files.failure("taginfo-classic.xml", original, fault)?.code == code)
    }

    @Test("A report has 2048 blocks of a kind at most", arguments: [(2048, false), (2049, true)])
    func blocks(count: Int, isTooLarge: Bool) {
        let blocks = (0..<count).map { "<block type=\"a\"><address>\($0)</address></block>" }.joined()
        let error = Files.failure("<scan><uid>04A1B2C3</uid>\(blocks)</scan>")
        #expect(error?.code == (isTooLarge ? .malformed : .unsupported))
        let reason =
            isTooLarge ? "There are more than 2048 blocks." : "A report with memory of type a is not supported yet."
        #expect(error?.reason == reason)
    }

    // MARK: XML

    @Test("A reference stands for its character")
    func references() throws {
        let error = try #require(Files.failure(report("&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&#x00000043;", pages: 16)))
        #expect(error.reason == "A tag of type <>&\"'ABC is not supported yet.")
    }

    @Test(
        "What is not well-formed is refused",
        arguments: [
            ("</scan>", "</scan>\nmore"), ("</scan>", "</scan><!-- "), ("</scan>", "</scan><? "),
            ("<scan>", "<![CDATA[ ]]><scan>"), ("<scan>", "&amp;<scan>"), ("<hasndef>", "<hasndef a=\"1>"),
            ("<hasndef>", "<hasndef a\"1\">"), ("<hasndef>", "<hasndef a>"), ("<hasndef>", "<hasndef =\"1\">"),
            ("<hasndef>", "< hasndef>"), ("&amp; more", "&#0000000065; more"), ("&amp; more", "&#x000000041; more"),
            ("&amp; more", "&amp more"),
        ]
    )
    func faults(original: String, fault: String) throws {
        #expect(try Files.failure("taginfo-ntag213.xml", original, fault)?.code == .malformed)
    }

    @Test("What is well-formed is read")
    func wellFormed() throws {
        let text = try Files.text("taginfo-ntag213.xml")
        let original = try contents(text)
        for (old, new) in [
            ("</scan>", "</scan>\n<!-- the end --><?x?>\n"), ("</hasndef>", "</hasndef\t\n >"),
            ("<hasndef>", "<hasndef\ta = '1'\n\r b=\"2\" >"), ("<hasndef>", "<a-b.c_1:d/><hasndef>"),
        ] {
            #expect(text.contains(old))
            let changed = text.replacing(old, with: new, maxReplacements: 1)
            #expect(try contents(changed) == original, "\(new)")
        }
    }

    @Test("A document without an element is refused as one that was cut off", arguments: ["<?xml?>", "<!-- a -->\n"])
    func withoutElements(text: String) throws {
        let error = try #require(Files.failure(text))
        #expect(error.code == .malformed)
        #expect(error.reason == "The file ends in the middle of the document.")
    }
}
