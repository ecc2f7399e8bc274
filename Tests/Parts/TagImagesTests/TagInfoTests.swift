// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `TagInfo reports` {
    @Test func `An NTAG213 has its pages, its signature, and as delivered what a phone can't read`() throws {
        let contents = try #require(try TagImage(parsing: Files.dump("taginfo-ntag213.xml")).contents.type2)
        #expect(contents.uid == Script.uid)
        #expect(contents.atqa == 0x0044 && contents.sak == 0x00)
        #expect(contents.signature == Array(0x40..<0x60))
        let same = try #require(try TagImage(parsing: Files.dump("ntag213.mfd")).contents.type2)
        #expect(Array(contents.memory.prefix(42 * 4)) == Array(same.memory.prefix(42 * 4)))
        #expect(Array(contents.memory.suffix(12)) == hex("00 05 00 00 ff ff ff ff 00 00 00 00"))
    }

    @Test func `A SLIX has its blocks and what is locked`() throws {
        guard case .type5(let contents) = try TagImage(parsing: Files.dump("taginfo-slix.xml")).contents else { return }
        #expect(contents.uid == hex("e0 04 01 10 11 22 33 44"))
        #expect(contents.lockedBlocks == [2])
        #expect(contents.afi == 0x21 && contents.dsfid == 0x05)
    }

    @Test func `A MIFARE Classic has the keys that are known`() throws {
        guard case .classic(let card) = try TagImage(parsing: Files.dump("taginfo-classic.xml")).contents else {
            return
        }
        #expect(card.atqa == 0x0004 && card.sak == 0x08)
        #expect(Array(card.memory[48..<58]) == hex("a0 a1 a2 a3 a4 a5 ff 07 80 69"))
        #expect(card.unknownBytes.count == 56 * 16 + 2 * 6)
        #expect(card.unknownBytes.contains(58) && !card.unknownBytes.contains(57))
    }

    @Test func `A report is not written`() throws {
        var image = try TagImage(parsing: Files.dump("taginfo-ntag213.xml"))
        var contents = try #require(image.contents.type2)
        contents.memory[20] ^= 1
        image.contents = .type2(contents)
        #expect(throws: TagImageError(.lossy, "")) { try image.encoded() }
        #expect(TagImage.Format.flipper.canHold(image.contents))
    }

    @Test(arguments: [
        ("NTAG213</content>", "NTAG 999</content>", "unsupported"),
        ("<address>7</address>", "<address>8</address>", "malformed"),
        ("<address>7</address>", "", "malformed"), ("04:A1:B2:C3:D4:E5:80</uid>", "04:A1</uid>", "missing-field"),
        ("04:A1:B2:C3:D4:E5:80</uid>", "E0:04:01:10:11:22:33:44</uid>", "inconsistent"),
        ("34 03 10 D1", "34 03 10 G1", "malformed"), ("34 03 10 D1", "34 03 10 D1 01", "malformed"),
        ("</scan>", "", "malformed"),
        ("</scan>", "</scan>more", "malformed"),
        ("</scan>", "</scan><scan/>", "malformed"), ("<hasndef>", "<hasndef a=1>", "malformed"),
        ("&amp; more", "&more; more", "malformed"), ("&amp; more", "&#xD800; more", "malformed"),
        ("&amp; more", "& more", "malformed"), ("</hasndef>", "</has>", "malformed"),
        ("<scan>", "<!DOCTYPE scan [<!ENTITY a \"b\">]><scan>", "malformed"), ("<scan>", "<svg>", "unknown-format"),
    ])
    func `Faults are reported`(original: String, fault: String, code: String) throws {
        let text = try Files.text("taginfo-ntag213.xml")
        #expect(text.contains(original))
        let changed = text.replacing(original, with: fault, maxReplacements: 1)
        #expect(Files.failure(changed)?.code.description == code)
    }

    @Test(arguments: [
        ("<address>7</address>", "<address>8</address>"), (">6F 6D FE 00<", ">6F 6D FE<"),
    ])
    func `A SLIX has every block, and all are of one size`(original: String, fault: String) throws {
        let error = try #require(try Files.failure("taginfo-slix.xml", original, fault))
        #expect(error.code == .malformed)
        #expect(error.reason == "A block is missing, or not of the size of the others.")
    }

    @Test func `Comments, instructions, sections of characters and references are read`() throws {
        let text = try Files.text("taginfo-ntag213.xml")
        let changed = text.replacing("<scan>", with: "<!-- a <scan> --><?x y?>\n<scan>")
            .replacing("NTAG213</content>", with: "<![CDATA[NTAG]]>&#50;&#x31;3</content>")
            .replacing("<hasndef>true</hasndef>", with: "<hasndef a='>' b = \"&quot;\"/>")
        #expect(try TagImage(parsing: Array(changed.utf8)).product == "NTAG213")
    }

    @Test func `A document that is too deep or without end is refused`() {
        let deep = String(repeating: "<scan>", count: 40_000)
        #expect(Files.failure(deep)?.code == .malformed)
        let wide = "<scan " + (0..<1000).map { "a\($0)=\"\" " }.joined() + "/>"
        #expect(Files.failure(wide)?.code == .malformed)
        #expect(Files.failure("<scan>" + String(repeating: "&amp;", count: 40_000))?.code == .malformed)
        let blocks = (0..<3000).map { "<block type=\"a\"><address>\($0)</address></block>" }.joined()
        #expect(Files.failure("<scan><uid>04A1B2C3</uid>\(blocks)</scan>")?.code == .malformed)
        #expect(Files.failure("<scan><uid>04A1B2C3</uid></scan>")?.code == .missingField)
    }

    @Test(
        "A star and an x mean locked, and nothing else does",
        arguments: [("*", true), ("x", true), ("* ", true), ("+P", false)]
    )
    func access(mark: String, isLocked: Bool) throws {
        let text = try Files.text("taginfo-slix.xml")
        let changed = text.replacing("access=\"x\"", with: "access=\"\(mark)\"")
        guard case .type5(let contents) = try TagImage(parsing: Array(changed.utf8)).contents else {
            throw TagImageError(.unsupported, "")
        }
        #expect(contents.lockedBlocks == (isLocked ? [2] : []))
    }

    @Test(
        "A product is known by its whole name, and the NTAG210µ is no NTAG210",
        arguments: [
            ("NTAG210 (NT2L1011)", "NTAG210"), ("NTAG210", "NTAG210"),
            ("MIFARE Ultralight EV1 (MF0UL11)", "MIFARE Ultralight EV1 UL11"),
            // A micro sign, and the Greek letter.
            ("NTAG210\u{B5} (NT2L1001)", nil), ("NTAG210\u{3BC} (NT2L1001)", nil), ("NTAG2100", nil),
        ] as [(String, String?)]
    )
    func wholeNames(type: String, product: String?) throws {
        for pages in [16, 20] {
            let blocks = (0..<pages).map {
                "<block type=\"ultralight\"><address>\($0)</address><data>00 00 00 00</data></block>"
            }
            let text =
                "<scan><uid>04:A1:B2:C3:D4:E5:80</uid><subsection title=\"IC type\"><block type=\"text\">"
                + "<content>\(type)</content></block></subsection>\(blocks.joined())</scan>"
            guard let product else {
                let error = try #require(Files.failure(text))
                #expect(error.code == .unsupported)
                #expect(error.reason == "A tag of type \(type) is not supported yet.")
                continue
            }
            let image = try TagImage(parsing: Array(text.utf8))
            #expect(image.product == product && image.contents.type2?.memory.count == pages * 4)
        }
    }

    @Test(
        "Elements are nested 32 deep at most, and have 32 attributes",
        arguments: [(31, true), (32, true), (33, false)]
    )
    func limits(count: Int, isTaken: Bool) {
        let elements = ["scan"] + Array(repeating: "a", count: count - 1)
        let deep = elements.map { "<\($0)>" } + elements.reversed().map { "</\($0)>" }
        let wide = "<scan " + (0..<count).map { "a\($0)=\"\"" }.joined(separator: " ") + "/>"
        for text in [deep.joined(), wide] {
            // What is well-formed has no UID.
            #expect(Files.failure(text)?.code == (isTaken ? .missingField : .malformed), "\(text)")
        }
    }

    @Test("The line of a fault is counted through comments, instructions, characters, texts, tags and attributes")
    func lines() {
        let text = "<?x\n?><!--\n\n-->\n<scan>\n<![CDATA[\n]]><a\nb='\n'\n>\n&a;</a></scan>"
        #expect(Files.failure(text)?.line == text.prefix { $0 != "&" }.count { $0 == "\n" } + 1)
        #expect(Files.failure(text)?.reason == "There is no entity of that name.")
    }
}
