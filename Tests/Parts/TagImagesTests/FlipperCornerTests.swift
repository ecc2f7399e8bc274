// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// The ends of what a Flipper file may have, and what is kept where it is not as usual.
@Suite("Corners of Flipper files")
struct FlipperCornerTests {
    private func contents(_ text: String) throws -> TagContents { try TagImage(parsing: Array(text.utf8)).contents }

    private func text(_ contents: TagContents) throws -> String {
        String(decoding: try TagImage(contents, format: .flipper).encoded(), as: UTF8.self)
    }

    // MARK: Lines

    @Test(
        "A number is taken up to the greatest that there can be",
        arguments: [
            ("Version: 4", "Version: 0", .malformed), ("Version: 4", "Version: 99", .unsupported),
            ("Version: 4", "Version: 100", .malformed), ("Pages total: 135", "Pages total: 3", .malformed),
            ("Pages total: 135", "Pages total: 4", nil), ("Pages total: 135", "Pages total: 100000", .inconsistent),
            ("Pages total: 135", "Pages total: 100001", .malformed), ("Pages read: 135", "Pages read: 100000", nil),
            ("Pages read: 135", "Pages read: 100001", .malformed), ("Counter 2: 0", "Counter 2: 16777215", nil),
            ("attempts: 0", "attempts: 4294967295", nil), ("attempts: 0", "attempts: 4294967296", .malformed),
        ] as [(String, String, TagImageError.Code?)]
    )
    func numbers(original: String, other: String, code: TagImageError.Code?) throws {
        #expect(try Files.failure("ntag215-uri.nfc", original, other)?.code == code)
    }

    @Test("A line has 32768 bytes at most", arguments: [(32_768, true), (32_769, false)])
    func longLines(count: Int, isTaken: Bool) throws {
        let start = "Strange: "
        let line = start + String(repeating: "x", count: count - start.utf8.count)
        let error = try Files.failure("ntag215-uri.nfc", "SAK: 00\n", "SAK: 00\n\(line)\n")
        #expect(error?.code == (isTaken ? nil : .malformed))
        #expect(error?.line == (isTaken ? nil : 10))
    }

    @Test(
        "A file that does not begin as one of a tag is refused with its first line",
        arguments: [("Firmware: Flipper NFC device\nVersion: 4\n", 1), ("# x\nFlipper NFC device\n", 2)]
    )
    func beginnings(text: String, line: Int) throws {
        let error = try #require(Files.failure(text))
        #expect(error.code == .unknownFormat && error.line == line)
        #expect(error.reason == "The file does not begin with \"Filetype: Flipper NFC device\".")
    }

    @Test("Of a long type of a file, the beginning is shown")
    func longTypes() throws {
        let type = "Flipper" + String(repeating: "a", count: 57)
        let error = try #require(Files.failure("Filetype: \(type)and more\nVersion: 4\n"))
        #expect(error.reason.contains("type is \"\(type)\", which"))
    }

    @Test("Spaces and tabs around a name and its value mean nothing")
    func spaces() throws {
        let text = try Files.text("ntag215-uri.nfc")
        let spaced = text.replacing("SAK: 00\n", with: "\t SAK:\t00 \t\n")
        #expect(spaced != text)
        #expect(try contents(spaced) == contents(text))
    }

    @Test("A new line in a file ends as its others do")
    func endings() throws {
        let text = try Files.text("desfire.nfc").replacing("\n", with: "\r\n")
        var image = try TagImage(parsing: Array(text.utf8))
        guard case .type4(var type4) = image.contents, case .desfire(var card) = type4.kind else {
            throw TagImageError(.unsupported, "")
        }
        card.applications[0].files.append(DESFireFile(number: 9, accessRights: 0xEEEE, kind: .standard([1])))
        type4.kind = .desfire(card)
        image.contents = .type4(type4)
        let bytes = try image.encoded()
        #expect(String(decoding: bytes, as: UTF8.self).contains("Application 563412 File 9: 01\r\n"))
        #expect(zip(bytes.dropFirst(), bytes).allSatisfy { $0 != 0x0A || $1 == 0x0D })
    }

    // MARK: Type 2

    @Test("A tag has the ATQA and the SAK of its file, in the order of the file's version")
    func activations() throws {
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

    @Test("A version of zeros is none, and a product without the command has none")
    func versions() throws {
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
        "The product may be in a line of an older name, whatever the device is called",
        arguments: ["NTAG/Ultralight", "Mifare Ultralight", "Something else"]
    )
    func olderNames(device: String) throws {
        let text = try Files.text("ntag215-uri.nfc")
            .replacing("\nDevice type: NTAG/Ultralight\n", with: "\nDevice type: \(device)\n")
            .replacing("\nNTAG/Ultralight type: NTAG215\n", with: "\nMifare Ultralight type: NTAG215\n")
        let image = try TagImage(parsing: Array(text.utf8))
        #expect(image.product == "NTAG215")
        #expect(image.remarks.isEmpty)
    }

    @Test(
        "A Mifare Ultralight without a version is the product that has its pages",
        arguments: [
            (16, "MIFARE Ultralight"), (20, "MIFARE Ultralight EV1 UL11"), (41, "MIFARE Ultralight EV1 UL21"),
            (48, "MIFARE Ultralight C"), (17, nil), (47, nil),
        ] as [(Int, String?)]
    )
    func pages(count: Int, product: String?) throws {
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

    @Test(
        "An NTAG I2C has the gap in its memory when the file has pages behind it",
        arguments: [(227, 227), (228, 234)]
    )
    func gaps(pages: Int, memory: Int) throws {
        let text = try text(.type2(Type2Contents(blank: .ntagI2C1K, uid: Script.uid)))
        #expect(text.contains("\nPages total: 231\n"))
        let part = try contents(text.replacing("\nPages total: 231\n", with: "\nPages total: \(pages)\n"))
        #expect(part.type2?.memory.count == memory * 4)
    }

    // MARK: ST25TB

    @Test(
        "An ST25TB is refused with its name and what is there of it",
        arguments: [
            ("512AT", "ST25TB512-AT", 16), ("512AC", "ST25TB512-AC", 16), ("2K", "ST25TB02K", 64),
            ("4K", "ST25TB04K", 128),
        ]
    )
    func refusals(type: String, name: String, blocks: Int) throws {
        let head = "Filetype: Flipper NFC device\nVersion: 4\nDevice type: ST25TB\n"
        let lines = (0..<blocks).map { "Block \($0): 00 00 00 01\n" }.joined()
        let known = "\(head)ST25TB Type: \(type)\n"
        let whole = try #require(Files.failure("\(known)\(lines)System OTP Block: FF FF FF FF\n"))
        #expect(whole.code == .unsupported && whole.line == 3)
        #expect(whole.reason.hasPrefix("An \(name) is found by commands of its own,"))
        #expect(whole.reason.hasSuffix(" The file has \(blocks) of \(blocks) blocks, the system block."))
        let none = try #require(Files.failure(known))
        #expect(
            none.reason.hasPrefix("An \(name) is found") && none.reason.hasSuffix(" there is no virtual tag of it.")
        )
        let other = try #require(Files.failure("\(head)ST25TB Type: 9K\n\(lines)"))
        #expect(other.reason.hasPrefix("An ST25TB is found"))
        #expect(other.reason.hasSuffix(" The file has \(blocks) blocks."))
    }

    // MARK: Cards

    @Test("A byte of a MIFARE Classic is two digits")
    func bytes() throws {
        let error = try Files.failure("classic-unknown.nfc", "Block 0: 9C 0C 37 01", "Block 0: 9C0C 37 01")
        #expect(error?.reason == "Block 0 is not bytes or ?? separated by spaces.")
    }

    @Test("An ATS has 254 bytes at most, in one line or in several", arguments: [254, 255])
    func answers(count: Int) throws {
        let ats = [UInt8(count), 0x08] + Array(repeating: 0x11, count: count - 2)
        let front = Type4FrontEnd.nfcA(uid: hex("ba e2 7c 9d"), atqa: 0x0004, ats: ats)
        let contents = TagContents.type4(Type4Contents(frontEnd: front, kind: .unspecified))
        #expect(TagImage.Format.flipper.canHold(contents) == (count == 254))
        let text = try Files.text("iso14443-4a.nfc")
            .replacing("T0: 78\nTA(1): 80\nTB(1): 70\nTC(1): 02\n", with: "ATS: \(hexText(ats))\n")
        #expect(text.contains("\nATS: f"))
        guard count == 254 else { return #expect(Files.failure(text)?.code == .malformed) }
        #expect(try self.contents(text) == contents)
    }

    @Test("The message of a Type 4 tag may be longer than a Flipper's own file", arguments: [2046, 2047, 4000])
    func longMessages(count: Int) throws {
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

    @Test("A Type 4 tag without an NDEF file of its own size is refused as none that a Flipper emulates")
    func otherFiles() {
        let front = Type4FrontEnd.nfcA(uid: hex("04 11 22 33 44 55 66"), ats: hex("05 78 80 70 02"))
        var files = NDEFApplication(size: 50).files
        for file: [UInt8]? in [files[0xE104], nil, [], [0], [0, 0], [0, 1]] {
            files[0xE104] = file
            let contents = TagContents.type4(Type4Contents(frontEnd: front, kind: .ndef(files: files)))
            let error = #expect(throws: TagImageError.self) { try TagImage(contents, format: .flipper).encoded() }
            #expect(error?.reason == "A Flipper file has no place for such a tag: generic Type 4.")
        }
    }

    @Test("A payment card's application has a name of 5 to 16 bytes", arguments: [4, 5, 16, 17])
    func names(count: Int) throws {
        let name = hexText(Array(repeating: UInt8(0xA0), count: count)).uppercased()
        let error = try Files.failure(
            "emv.nfc",
            "AID length: 7\nAID: A0 00 00 00 03 10 10\n",
            "AID length: \(count)\nAID: \(name)\n"
        )
        #expect(error?.code == ((5...16).contains(count) ? nil : .malformed))
    }

    @Test(
        "255 attempts for a PIN mean that they are not known",
        arguments: [(254, 254), (255, nil)] as [(Int, UInt8?)]
    )
    func attempts(written: Int, tries: UInt8?) throws {
        let line = "\nPIN try counter: \(written)\n"
        let contents = try contents(Files.text("emv.nfc").replacing("\nPIN try counter: 3\n", with: line))
        guard case .type4(let card) = contents, case .emv(let emv) = card.kind else {
            throw TagImageError(.unsupported, "")
        }
        #expect(emv.pinTries == tries)
        #expect(try text(contents).hasSuffix(line))
    }
}
