// SPDX-License-Identifier: Apache-2.0
import TagImages
import Testing
import VirtualCards
import VirtualTags

@Suite("Corners of remarks")
struct RemarkCornerTests {
    private func remarks(_ text: String) throws -> [TagImageRemark] {
        try TagImage(parsing: Array(text.utf8)).remarks
    }

    @Test("Eight names are listed, and of more the number", arguments: [1, 8, 9, 20])
    func list(count: Int) throws {
        let lines = (1...count).map { "Strange \($0): 1\n" }.joined()
        let remarks = try remarks(Files.text("ntag215-uri.nfc") + lines)
        let names = (1...min(count, 8)).map { "Strange \($0)" }.joined(separator: ", ")
        let more = count > 8 ? " and \(count - 8) more" : ""
        #expect(
            remarks.map(\.description) == [
                "left-out: A virtual tag has no place for \(names)\(more): a file of another format is without it."
            ]
        )
    }

    @Test("A number with a zero in front of it is the same number")
    func numbers() throws {
        let text = try Files.text("ntag215-uri.nfc")
        #expect(try remarks(text).isEmpty)
        #expect(try remarks(text.replacing("Counter 0: 0\n", with: "Counter 0: 000\n")).isEmpty)
    }

    @Test("A contradiction that the file has comes before what it lacks, and the last data page is not missing")
    func order() throws {
        let pages = ["04A1B29F", "C3D4E580", "72480000"] + Array(repeating: "00000000", count: 13)
        let blocks = pages.enumerated().map { "\"\($0.offset)\": \"\($0.element)\"" }
        for (count, kinds): (Int, [TagImageRemark.Kind]) in [
            (15, [.contradiction, .missing, .leftOut]), (16, [.contradiction, .leftOut]),
        ] {
            let text =
                #"{"Created": "proxmark3", "FileType": "mfu", "Card": {"UID": "04A1B2C3D4E581", "#
                + #""Version": "0004030101000B03"}, "blocks": {"# + blocks.prefix(count).joined(separator: ", ") + "}}"
            let found = try remarks(text)
            #expect(found.map(\.kind) == kinds)
            #expect(found.last?.text.contains("no place for Card.UID:") == true)
            guard count == 15 else { continue }
            #expect(found[1].text == "The image has 15 of the 20 pages; the others are as delivered.")
        }
    }

    @Test(
        "A capability container that gives more than the product has contradicts it",
        arguments: [
            (.ntag213, 0xE1, 0x12, nil), (.ntag213, 0xE1, 0x13, "152 bytes, and NTAG213 has 144."),
            (.ntag213, 0x00, 0xFF, nil), (.ntag215, 0xE1, 0x3F, nil),
            (.ntag215, 0xE1, 0x40, "512 bytes, and NTAG215 has 504."),
        ] as [(Type2Product, UInt8, UInt8, String?)]
    )
    func area(product: Type2Product, mark: UInt8, size: UInt8, part: String?) {
        var contents = Type2Contents(blank: product, uid: [4, 1, 2, 3, 4, 5, 6])
        (contents.memory[12], contents.memory[14]) = (mark, size)
        let found = TagImage(.type2(contents)).remarks
        #expect(found.map(\.kind) == (part == nil ? [] : [.contradiction]))
        #expect(found.allSatisfy { $0.text.contains("gives a data area of \(part ?? "")") })
    }

    @Test("The sectors of a 4K card have four blocks, and from the thirty-third on sixteen")
    func sectors() {
        var card = ClassicContents(blank: .classic4K, uid: [1, 2, 3, 4])
        card.unknownBytes = Set([127, 128, 143, 144, 255].map { $0 * 16 + 5 })
        #expect(
            TagImage(.classic(card)).remarks.map(\.text) == [
                "5 bytes in 4 sectors were not read; the virtual tag has zeros there."
            ]
        )
    }

    @Test("A version that hides the UID contradicts none", arguments: [(0, false), (4, false), (9, true)])
    func hiddenIdentifiers(byte: Int, isReported: Bool) {
        var version = [UInt8](repeating: 4, count: 28)
        let own: [UInt8] = byte == 4 ? [4, 1, 2, 3, 4, 5, 6] : [UInt8](repeating: UInt8(byte), count: 7)
        version.replaceSubrange(14..<21, with: own)
        let contents = Type4Contents(
            frontEnd: .nfcA(uid: [4, 1, 2, 3, 4, 5, 6], ats: [1]),
            kind: .version(VersionCardContents(.ntag4xx, version: version))
        )
        let found = TagImage(.type4(contents)).remarks
        #expect(found.map(\.kind) == (isReported ? [.contradiction, .missing] : [.missing]))
        guard isReported else { return }
        #expect(
            found[0].text == "The tag's UID is 04010203040506, and GET VERSION answers 09090909090909. "
                + "Correct one of them: on a real tag they are the same."
        )
    }

    @Test("Block 83 of a FeliCa Lite-S contradicts it where it differs alone", arguments: [0x00, 0x77] as [UInt8])
    func deviceIdentifiers(last: UInt8) throws {
        var contents = FeliCaLiteSContents(idm: [0x02, 0xFE, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55])
        contents.deviceIdentifier = contents.idm + [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, last]
        let image = try TagImage(parsing: TagImage(.type3(.liteS(contents))).encoded())
        #expect(image.contents == .type3(.liteS(contents)))
        let sentence =
            "IDm and PMm are 02fe00112233445500f1000000014300, and block 83 (D_ID) holds "
            + "02fe00112233445500f1000000014377. Correct one of them: on a real tag they are the same."
        #expect(image.remarks.map(\.text) == (last == 0x77 ? [sentence] : []))
    }

    @Test("A service of a FeliCa is left out when a new file has another one in its line")
    func services() throws {
        let text = try Files.text("felica-standard.nfc")
        let guarded = "| Code 004A | Attrib. 0A | Private | Random | Read Only  |\n"
        let free = "| Code 008B | Attrib. 0B | Public  | Random | Read Only  |\n"
        let changed = text.replacing(
            "Service 001: \(guarded)Service 002: \(free)",
            with: "Service 001: \(free)Service 002: \(guarded)"
        )
        #expect(changed != text)
        // Another word for a service's attribute alone is the same service.
        #expect(try !remarks(text).contains { $0.text.contains("Service 00") })
        let remark = try #require(try remarks(changed).first { $0.kind == .leftOut })
        #expect(remark.text.contains("Service 001 of System 00, Service 002 of System 00:"))
    }

    @Test("Bytes of a file that the tag has no place for are named by each stretch of them")
    func stretches() throws {
        var bytes = try Files.dump("hf-mfu-ntag215-dump.bin")
        bytes[8] = 0x12
        bytes[10] = 0x34
        let text = try #require(try TagImage(parsing: bytes).remarks.first?.text)
        #expect(text.contains("no place for byte 8, byte 10:"))
    }
}
