// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// What is kept, dropped and said where an image and its tag are not quite of one piece.
@Suite("Corners of images")
struct ImageCornerTests {
    private static let zeros = String(repeating: "00", count: 64)

    @Test("A tag of another kind or product changes no image, whatever its name")
    func otherTags() throws {
        var image = try Files.image("ntag215-uri.nfc")
        let contents = image.contents
        let others: [any VirtualTag] = [
            VirtualType2Tag(Type2Contents(blank: .ntag213, uid: Script.uid)),
            VirtualType5Tag(Type5Contents(blank: .icodeSLIX2)), VirtualType4Tag(NTAG424Contents()),
            VirtualType5Tag(
                Type5Product(name: image.product, uidPrefix: [0xE0], blockCount: 16, icReference: 0, features: [])
            ),
        ]
        for other in others {
            image.update(from: other)
            #expect(image.contents == contents)
        }
        let same = Type2Contents(blank: .ntag215, uid: Script.uid)
        image.update(from: VirtualType2Tag(same))
        #expect(image.contents == .type2(same))
    }

    // MARK: JSON

    @Test("A changed image ends as it did, and drops each description of the old memory", arguments: ["", "\n"])
    func descriptions(end: String) throws {
        let head = #"{"type": "T2T", "product": "Ultralight", "uid": "04a1b2c3d4e580", "#
        let old = #""state": "empty", "ndef_hex": "", "capacity": 46, "readonly": false, "note": "n", "id": "k"}"#
        let text = head + "\"memory_hex\": \"\(Self.zeros)\", " + old + end
        var image = try TagImage(parsing: Array(text.utf8))
        var contents = try #require(image.contents.type2)
        contents.memory[63] = 0xAB
        image.contents = .type2(contents)
        let expected = head + "\"memory_hex\": \"\(Self.zeros.dropLast(2))ab\", " + #""id": "k"}"# + end
        #expect(try String(decoding: image.encoded(), as: UTF8.self) == expected)
    }

    @Test("A byte order mark is skipped, and lines are counted behind it as before it")
    func byteOrderMarks() throws {
        let json = "\u{FEFF}" + #"{"type": "NFCA", "product": "generic NFC-A", "uid": "01020304","#
        let image = try TagImage(parsing: Array((json + "\"atqa\": \"0004\", \"sak\": \"08\"}").utf8))
        #expect(image.format == .json && image.uid == [1, 2, 3, 4])
        let error = try #require(Files.failure(json + "\n\"atqa\": \"0004\",\n\"sak\": \"0\"}"))
        #expect(error.code == .malformed && error.line == 3)
        #expect(Files.failure(json + "\n\"atqa\": \"0004\",\n\n}")?.line == 4)
        let report = try TagImage(parsing: Array(("\u{FEFF}" + Files.text("taginfo-ntag213.xml")).utf8))
        #expect(report.format == .tagInfo && report.product == "NTAG213")
    }

    @Test(
        "A card without pages has a UID of 4, 7 or 10 bytes, and unknown bytes that are in its memory",
        arguments: [
            (4, "0, 319", nil), (7, "319", nil), (10, "", nil), (5, "0", .malformed), (0, "0", .malformed),
            (4, "320", .malformed), (4, "-1", .malformed), (4, "\"1\"", .malformed),
        ] as [(Int, String, TagImageError.Code?)]
    )
    func classics(count: Int, unknown: String, code: TagImageError.Code?) throws {
        let uid = String(repeating: "5a", count: count)
        let memory = String(repeating: "00", count: 320)
        let text =
            #"{"type": "MFC", "product": "MIFARE Classic Mini", "uid": "\#(uid)", "atqa": "0004", "sak": "09", "#
            + #""memory_hex": "\#(memory)", "unknown_octets": [\#(unknown)]}"#
        #expect(Files.failure(text)?.code == code)
        let activation = #"{"type": "NFCA", "product": "generic NFC-A", "uid": "\#(uid)", "atqa": "0004", "sak": "09"}"#
        #expect(Files.failure(activation)?.code == ([4, 7, 10].contains(count) ? nil : .malformed))
    }

    @Test("A PUPI has four bytes, and an ATS 254 at most", arguments: [0, 3, 4, 5, 7, 10])
    func activations(count: Int) {
        let uid = String(repeating: "01", count: count)
        let head = #"{"type": "T4T", "product": "generic ISO 14443-4", "uid": "\#(uid)", "#
        let typeB = head + #""application_data": "00000000", "protocol_info": "778195"}"#
        #expect(Files.failure(typeB)?.code == (count == 4 ? nil : .malformed))
        for length in [1, 254, 255] {
            let ats = (length < 16 ? "0" : "") + String(length, radix: 16) + String(repeating: "75", count: length - 1)
            let isTaken = [4, 7, 10].contains(count) && length <= 254
            #expect(Files.failure(head + "\"ats\": \"\(ats)\"}")?.code == (isTaken ? nil : .malformed), "\(length)")
        }
    }

    @Test("A FeliCa card has 1 to 16 systems, each with the usual limits unless it says others")
    func systems() throws {
        let head = #"{"type": "T3T", "product": "FeliCa", "uid": "0102030405060708", "pmm": "0102030405060708", "#
        func text(_ systems: [String]) -> String { head + "\"systems\": {\(systems.joined(separator: ", "))}}" }
        let files = #""files": {"0009,000b": {"memory_hex": "\#(Self.zeros)"}}"#
        let image = try TagImage(
            parsing: Array(text(["\"0003\": {\(files)}", "\"fe00\": {\"maximum_read\": 4, \(files)}"]).utf8)
        )
        guard case .type3(.standard(let card)) = image.contents else { throw TagImageError(.unsupported, "") }
        #expect(card.systems.map(\.code) == [0x0003, 0xFE00])
        #expect(card.systems.map(\.maximumRead) == [15, 4] && card.systems.map(\.maximumWrite) == [13, 13])
        #expect(card.systems[0].files.map(\.serviceCodes) == [[0x0009, 0x000B]])
        let many = (0..<17).map { "\"00\($0 < 16 ? "0" : "")\(String($0, radix: 16))\": {\(files)}" }
        #expect(Files.failure(text(Array(many.prefix(16)))) == nil)
        #expect(Files.failure(text(many))?.code == .inconsistent)
        #expect(Files.failure(text([]))?.code == .inconsistent)
        let plain = head.replacing("\"FeliCa\"", with: "\"generic Type 3\"")
        for (memory, code): (String, TagImageError.Code?) in [
            ("", .inconsistent), (String(repeating: "00", count: 15), .inconsistent),
            ("10040100" + String(repeating: "00", count: 10) + "0015", nil),
        ] { #expect(Files.failure(plain + "\"memory_hex\": \"\(memory)\"}")?.code == code, "\(memory)") }
    }

    // MARK: What is lost

    @Test("What a format has no place for is said in words")
    func losses() throws {
        func reason(_ contents: TagContents, _ format: TagImage.Format) -> String {
            do {
                _ = try TagImage(contents, format: format).encoded()
                return ""
            } catch {
                return error.code == .lossy ? error.reason : error.description
            }
        }
        var ntag = Type2Contents(blank: .ntag213, uid: Script.uid)
        ntag.failedAuthentications = 3
        #expect(
            reason(.type2(ntag), .mfd) == "An .mfd file can't hold this NTAG213 without losing the failed passwords."
        )
        ntag.sak = 0x08
        ntag.signature = Array(1...32)
        #expect(
            reason(.type2(ntag), .mfd)
                == "An .mfd file can't hold this NTAG213 without losing ATQA and SAK, the signature, "
                + "the failed passwords."
        )
        var slix = Type5Contents(blank: .icodeSLIX2)
        slix.protection.pointer = 0x20
        #expect(
            reason(.type5(slix), .proxmarkBinary)
                == "A Proxmark3 .bin file can't hold this ICODE SLIX2 without losing what guards its pages."
        )
        var plain = Type5Contents(blank: .st25tv02K)
        plain.isSurveillanceLocked = true
        plain.settings.isKillLocked = true
        #expect(
            reason(.type5(plain), .proxmarkJSON)
                == "A Proxmark3 JSON file can't hold this ST25TV02K without losing the surveillance bit, the settings."
        )
        var classic = ClassicContents(blank: .classic1K, uid: [1, 2, 3, 4])
        classic.unknownBytes = [20]
        #expect(
            reason(.classic(classic), .mfd)
                == "An .mfd file can't hold this MIFARE Classic 1K without losing which bytes are unknown."
        )
        #expect(reason(.type5(slix), .mfd) == "An .mfd file has no place for such a tag: ICODE SLIX2.")
    }
}
