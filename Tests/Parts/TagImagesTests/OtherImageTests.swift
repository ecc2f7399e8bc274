// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Images of Types 1, 3, 4 and 5` {
    @Test func `What is not as delivered is written, and read again`() throws {
        var lite = FeliCaLiteSContents(idm: hex("02 fe 00 11 22 33 44 55"))
        lite.memoryConfiguration[2] = 0
        lite.writeCounter = 77
        lite.cardKey = (0..<16).map { UInt8($0) }
        var slix = Type5Contents(blank: .icodeSLIX2)
        slix.lockedBlocks = [0, 3]
        slix.afi = 0x21
        slix.dsfid = 0x05
        slix.isAFILocked = true
        slix.counter = 300
        slix.isSurveillanceSet = false
        var topaz = Type1Contents(blank: .topaz96, uid: VirtualType1Tag.defaultUID)
        topaz.header = [0x11, 0x49]
        var ntag = NTAG424Contents()
        ntag.readCounter = 9
        ntag.ndefFile[1] = 3
        let contents: [TagContents] = [
            .type1(topaz), .type3(.liteS(lite)), .type5(slix),
            .type4(
                Type4Contents(
                    frontEnd: .nfcA(uid: ntag.uid, ats: hex("06 77 77 71 02 80")),
                    kind: .ntag424(ntag)
                )
            ),
            .type4(
                Type4Contents(
                    frontEnd: .nfcB(pupi: hex("01 02 03 04")),
                    kind: .ndef(files: NDEFApplication(size: 50).files)
                )
            ),
        ]
        for contents in contents {
            let bytes = try TagImage(contents).encoded()
            let image = try TagImage(parsing: bytes)
            #expect(image.contents == contents)
            #expect(try image.encoded() == bytes)
            let isLite = contents.product == "FeliCa Lite-S"
            #expect(TagImage.Format.flipper.canHold(contents) == isLite)
        }
    }

    @Test func `A change drops what was about the old message, and nulls what is as delivered again`() throws {
        var contents = Type5Contents(blank: .icodeSLIX)
        contents.afi = 0x21
        let text = try String(decoding: TagImage(.type5(contents)).encoded(), as: UTF8.self)
        var image = try TagImage(parsing: Array(text.replacing("\"blocks\"", with: "\"note\": 1, \"blocks\"").utf8))
        contents.afi = 0
        contents.lockedBlocks = [1]
        image.contents = .type5(contents)
        let changed = try String(decoding: image.encoded(), as: UTF8.self)
        #expect(changed.contains("\"afi\": null"))
        #expect(changed.contains("\"locked_blocks\": [1]"))
        #expect(!changed.contains("note"))
        #expect(try TagImage(parsing: Array(changed.utf8)).contents == .type5(contents))
    }

    @Test(arguments: [
        (#"{"type": "T1T", "product": "Topaz 96", "uid": "01020304050607", "memory_hex": "00"}"#, "malformed"),
        (#"{"type": "T1T", "product": "Topaz 97", "uid": "01020304050607", "memory_hex": "00"}"#, "unsupported"),
        (
            #"{"type": "T3T", "product": "generic Type 3", "uid": "0102030405060708", "pmm": "0102030405060708", "memory_hex": "00"}"#,
            "inconsistent"
        ),
        (#"{"type": "T3T", "product": "FeliCa Lite-S", "uid": "01", "pmm": "", "memory_hex": "00"}"#, "malformed"),
        (#"{"type": "T4T", "product": "generic Type 4", "uid": "01020304"}"#, "missing-field"),
        (
            #"{"type": "T4T", "product": "generic Type 4", "uid": "01020304", "ats": "05", "files": {"e103": "00"}}"#,
            "malformed"
        ),
        (
            #"{"type": "T4T", "product": "generic Type 4", "uid": "01020304", "ats": "0102", "files": {"e1": "00"}}"#,
            "malformed"
        ),
        (
            #"{"type": "T4T", "product": "DESFire EV1", "uid": "01020304050607", "ats": "01", "files": {"e103": "00"}}"#,
            "missing-field"
        ),
        (
            #"{"type": "T5T", "product": "ICODE SLIX", "uid": "e004015000112233", "memory_hex": "00000000"}"#,
            "inconsistent"
        ),
        (#"{"type": "T5T", "product": "generic Type 5", "uid": "e0", "memory_hex": "00000000"}"#, "malformed"),
        (
            #"{"type": "T5T", "product": "generic Type 5", "uid": "e004015000112233", "memory_hex": ""}"#,
            "inconsistent"
        ),
        (
            #"{"type": "T5T", "product": "generic Type 5", "uid": "e004015000112233", "memory_hex": "", "blocks": 1}"#,
            "inconsistent"
        ),
        (
            #"{"type": "T5T", "product": "generic Type 5", "uid": "e004015000112233", "memory_hex": "00000000", "locked_blocks": [1]}"#,
            "malformed"
        ),
    ])
    func `Faulty images are refused`(text: String, code: String) throws {
        #expect(try #require(Files.failure(text)).code.description == code)
    }

    @Test(arguments: [0, 1, 27, 28, 29, 30, 60])
    func `A version of another length than a card's answer is refused, with its line`(count: Int) throws {
        let bytes = try TagImage(parsing: Files.dump("ntag424-version.nfc")).contents
        let text = String(decoding: try TagImage(bytes).encoded(), as: UTF8.self)
        let start = try #require(text.range(of: "\"get_version\": \"")).upperBound
        let end = try #require(text[start...].firstIndex(of: "\""))
        let version = String(repeating: "04", count: count)
        let changed = text.replacing(text[start..<end], with: version)
        guard count != 28, count != 29 else { return #expect(Files.failure(changed) == nil) }
        let error = try #require(Files.failure(changed))
        #expect(error.code == .malformed && error.line != nil)
        #expect(error.reason == "\"get_version\" has \(count) bytes; an answer has 28 or 29.")
    }

    // MARK: Flipper

    private static let slix = """
        Filetype: Flipper NFC device
        Version: 4
        # A tag of a library
        Device type: SLIX
        UID: E0 04 01 50 00 11 22 33
        DSFID: 00
        AFI: 21
        IC Reference: 01
        Lock DSFID: false
        Lock AFI: true
        Block Count: 28
        Block Size: 04
        Data Content: \(["E1 40 0D 01 03 00 FE 00"] + Array(repeating: "00", count: 104), separator: " ")
        Security Status: \(["01"] + Array(repeating: "00", count: 27), separator: " ")
        Capabilities: Default
        Password EAS: 01 02 03 04
        Lock EAS: false

        """

    @Test func `A Flipper file of a SLIX loads, and keeps its lines`() async throws {
        var image = try TagImage(parsing: Array(Self.slix.utf8))
        #expect(image.product == "ICODE SLIX")
        #expect(try image.encoded() == Array(Self.slix.utf8))
        let tag = image.makeTag()
        let script = try LinkScript(.nfcV, tag)
        #expect(await script.send("02 2b") == "00 0f 33 22 11 00 50 01 04 e0 00 21 1b 03 01")
        #expect(await script.send("42 20 00") == "00 01 e1 40 0d 01")
        #expect(await script.send("02 21 1b de ad be ef") == "00")
        image.update(from: tag)
        let before = Self.slix.split(separator: "\n")
        let after = try String(decoding: image.encoded(), as: UTF8.self).split(separator: "\n")
        let changed = zip(before, after).filter { $0 != $1 }.map { $1 }
        #expect(changed.count == 1)
        #expect(changed.first?.hasPrefix("Data Content: E1 40") == true)
        #expect(changed.first?.hasSuffix("DE AD BE EF") == true)
        #expect(try TagImage(parsing: image.encoded()).contents == image.contents)
        guard case .type5(let contents) = image.contents else { return }
        #expect(contents.passwords[0x10] == 0x0403_0201)
    }

    @Test("A SLIX of an earlier file has the locks of AFI and DSFID in front of those of its blocks", arguments: 0...3)
    func locksInFront(head: Int) throws {
        let status = Self.slix.replacing("Lock DSFID: false\nLock AFI: true\n", with: "")
        let text = status.replacing("Security Status: 01", with: "Security Status: 0\(head) 01")
        guard case .type5(let contents) = try TagImage(parsing: Array(text.utf8)).contents else {
            throw TagImageError(.unsupported, "")
        }
        #expect(contents.isDSFIDLocked == (head & 1 != 0) && contents.isAFILocked == (head & 2 != 0))
        #expect(contents.lockedBlocks == [0])
        let short = status.replacing("Security Status: 01 ", with: "Security Status: ")
        #expect(Files.failure(short)?.code == .malformed)
        #expect(Files.failure(text.replacing("Security Status: ", with: "Security Status: 00 "))?.code == .malformed)
    }

    @Test("A FeliCa Lite has another code than a Lite-S, and another name", arguments: [0xF0, 0xF1] as [UInt8])
    func namesOfLite(code: UInt8) throws {
        let pmm: [UInt8] = [0x00, code, 0, 0, 0, 1, 0x43, 0]
        let contents = FeliCaLiteSContents(idm: hex("02 fe 00 11 22 33 44 55"), pmm: pmm)
        let bytes = try TagImage(.type3(.liteS(contents)), format: .flipper).encoded()
        let name = code == 0xF0 ? "FeliCa Lite" : "FeliCa Lite-S"
        #expect(String(decoding: bytes, as: UTF8.self).contains("\nIC Type: \(name)\n"))
        #expect(try TagImage(parsing: bytes).contents == .type3(.liteS(contents)))
    }

    @Test func `A Flipper file of another ISO 15693 tag loads as a generic one`() throws {
        let text = Self.slix.replacing("Device type: SLIX", with: "Device type: ISO15693-3")
            .replacing("UID: E0 04 01 50", with: "UID: E0 08 01 50")
        #expect(try TagImage(parsing: Array(text.utf8)).product == "generic Type 5")
        let cut = Self.slix.replacing("E1 40 0D 01 ", with: "")
        #expect(Files.failure(cut)?.code == .malformed)
        #expect(Files.failure(Self.slix.replacing("Lock AFI: true", with: "Lock AFI: yes"))?.code == .malformed)
    }

    @Test func `A Flipper file of a FeliCa Lite-S loads, and keeps its lines`() async throws {
        let zero = String(repeating: " 00", count: 16)
        var lines = [
            "Filetype: Flipper NFC device", "Version: 4", "Device type: FeliCa", "UID: 02 FE 00 11 22 33 44 55",
            "Data format version: 1", "Manufacture id: 02 FE 00 11 22 33 44 55",
            "Manufacture parameter: 00 F1 00 00 00 01 43 00", "Blocks total: 28", "Blocks read: 28",
            "Block 0: 00 00 10 04 01 00 0D 00 00 00 00 00 01 00 00 00 00 23",
        ]
        for index in 1..<28 { lines.append("Block \(index): 00 00" + zero) }
        lines[9 + 23] = "Block 23: 00 00 FF FF FF 01 07" + String(repeating: " 00", count: 11)
        let text = lines.joined(separator: "\n") + "\n"
        var image = try TagImage(parsing: Array(text.utf8))
        #expect(image.product == "FeliCa Lite-S")
        #expect(try image.encoded() == Array(text.utf8))
        let tag = image.makeTag()
        let script = try LinkScript(.nfcF, tag)
        let idm = "02 fe 00 11 22 33 44 55"
        #expect(
            await script.send("20 08 \(idm) 01 09 00 01 80 01" + String(repeating: "ab", count: 16))
                == "0c 09 \(idm) 00 00"
        )
        image.update(from: tag)
        let after = try String(decoding: image.encoded(), as: UTF8.self).split(separator: "\n")
        #expect(after[10] == "Block 1: 00 00" + String(repeating: " AB", count: 16))
        #expect(after[9 + 24].hasPrefix("Block 24: 00 00 01 00 00"))
        #expect(try TagImage(parsing: image.encoded()).contents == image.contents)
        #expect(Files.failure(text.replacing("Block 27:", with: "Block 28:"))?.code == .unsupported)
    }
}

extension DefaultStringInterpolation {
    /// Strings with a separator between them.
    fileprivate mutating func appendInterpolation(_ parts: [String], separator: String) {
        appendLiteral(parts.joined(separator: separator))
    }
}
