// SPDX-License-Identifier: Apache-2.0
import Foundation
import NDEF
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Every format with every product and every dump.
struct FormatTests {
    @Test(arguments: Files.tagFiles.indices)
    func `Dump: its format and product are found, and it is written as it was read`(
        _ index: Int
    ) throws {
        let (name, format, product) = Files.tagFiles[index]
        let bytes = try Files.dump(name)
        let image = try TagImage(parsing: bytes)
        #expect(image.format == format, "\(name)")
        #expect(image.product == product, "\(name)")
        #expect(try image.encoded() == bytes, "\(name)")
        #expect(TagContents(of: image.makeTag())?.product == product, "\(name)")
    }

    /// The formats that a product's image is written in, the project's own aside.
    private static let formats: [String: Set<TagImage.Format>] = {
        var formats: [String: Set<TagImage.Format>] = [:]
        let all: Set<TagImage.Format> = [.flipper, .proxmarkJSON, .proxmarkBinary, .proxmarkText, .mfd]
        for product in Type2Product.all { formats[product.name] = all }
        // Without a header they look like a MIFARE Ultralight EV1.
        for name in ["NTAG210", "NTAG212", "NTAG I2C 1K"] { formats[name]?.remove(.mfd) }
        // The client's pages are counted in a byte.
        formats["NTAG I2C 2K"] = [.flipper]
        for product in ClassicProduct.allCases { formats[product.rawValue] = all }
        for name in ["ICODE SLIX", "ICODE SLIX2", "ST25TV512", "ST25TV02K", "ST25DV04K", "generic Type 5"] {
            formats[name] = [.flipper, .proxmarkJSON, .proxmarkBinary]
        }
        for name in ["FeliCa Lite-S", "generic Type 3", "DESFire EV1 2K", "DESFire EV1 4K", "DESFire EV1 8K"] {
            formats[name] = [.flipper]
        }
        formats["Topaz 96"] = [.proxmarkJSON]
        return formats
    }()

    @Test(arguments: TagProduct.all) func `Product in each format: written without loss, or refused`(
        _ product: TagProduct
    ) throws {
        let contents = product.blank()
        for format in TagImage.Format.allCases {
            let holds = format == .json || Self.formats[product.name]?.contains(format) ?? false
            #expect(format.canHold(contents) == holds, "\(product) as \(format)")
            guard holds else {
                #expect(throws: TagImageError(.lossy, "")) { try TagImage(contents, format: format).encoded() }
                continue
            }
            let bytes = try TagImage(contents, format: format).encoded()
            let image = try TagImage(parsing: bytes, as: format)
            #expect(image.format == format, "\(product)")
            #expect(image.contents == contents, "\(product) as \(format)")
            #expect(try image.encoded() == bytes, "\(product) as \(format)")
        }
    }

    @Test(arguments: Files.tagFiles.indices) func `Dump in each other format: the same tag`(_ index: Int) throws {
        let (name, _, _) = Files.tagFiles[index]
        let image = try TagImage(parsing: Files.dump(name))
        for format in TagImage.Format.allCases where format.canHold(image.contents) {
            let other = try TagImage(parsing: TagImage(image.contents, format: format).encoded(), as: format)
            #expect(other.contents == image.contents, "\(name) as \(format)")
            #expect(other.uid == image.uid)
        }
        #expect(TagImage.Format.json.canHold(image.contents), "\(name)")
    }

    @Test(arguments: Files.tagFiles.indices) func `Dump cut anywhere: refused or whole`(
        _ index: Int
    ) throws {
        let (name, format, _) = Files.tagFiles[index]
        let bytes = try Files.dump(name)
        var places = Array(stride(from: 0, to: bytes.count, by: bytes.count / 100 + 1))
        places += (bytes.count - 20)..<bytes.count
        for count in places {
            // The last byte of a report is the end of its last line.
            if format == .tagInfo, count == bytes.count - 1 { continue }
            guard let image = try? TagImage(parsing: Array(bytes.prefix(count))) else { continue }
            // Memory without a header is a smaller product's; a Flipper file may lack its last digits and lines.
            let mayBeCut: [TagImage.Format] = [.mfd, .proxmarkBinary, .flipper]
            let isSmallerClassic = format == .proxmarkText && image.product.hasPrefix("MIFARE Classic")
            #expect(mayBeCut.contains(format) || isSmallerClassic, "\(name) of \(count) bytes")
            _ = image.makeTag()
        }
    }

    @Test(arguments: Files.tagFiles.indices) func `Dump with flipped bits: survived, and what is read is written again`(
        _ index: Int
    ) throws {
        let (name, _, _) = Files.tagFiles[index]
        let bytes = try Files.dump(name)
        var generator = Numbers(seed: UInt64(index))
        for _ in 0..<60 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0...7, using: &generator)
            }
            guard let image = try? TagImage(parsing: damaged) else { continue }
            #expect(try image.encoded() == damaged)
            _ = image.makeTag()
        }
    }
}

/// Images of Types 1, 3, 4 and 5.
struct OtherImageTests {
    @Test func `Image of a changed tag: written and read again`() throws {
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

    @Test func `Image change: drops the old message, and nulls what is as delivered again`() throws {
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
        Data Content: \((["E1 40 0D 01 03 00 FE 00"] + Array(repeating: "00", count: 104)).joined(separator: " "))
        Security Status: \((["01"] + Array(repeating: "00", count: 27)).joined(separator: " "))
        Capabilities: Default
        Password EAS: 01 02 03 04
        Lock EAS: false

        """

    @Test func `Flipper SLIX: loads, and a change is written in its line`() async throws {
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

    @Test(arguments: 0...3)
    func `Flipper SLIX of an earlier file: locks of AFI and DSFID before those of the blocks`(head: Int) throws {
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

    @Test func `Flipper ISO 15693-3: loads as a generic tag`() throws {
        let text = Self.slix.replacing("Device type: SLIX", with: "Device type: ISO15693-3")
            .replacing("UID: E0 04 01 50", with: "UID: E0 08 01 50")
        #expect(try TagImage(parsing: Array(text.utf8)).product == "generic Type 5")
        let cut = Self.slix.replacing("E1 40 0D 01 ", with: "")
        #expect(Files.failure(cut)?.code == .malformed)
        #expect(Files.failure(Self.slix.replacing("Lock AFI: true", with: "Lock AFI: yes"))?.code == .malformed)
    }

    @Test func `Flipper FeliCa Lite-S: loads, and a change is written in its line`() async throws {
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

/// Updates of images, and what a JSON image says of a card.
struct ImageUpdateTests {
    private static let zeros = String(repeating: "00", count: 64)

    @Test
    func `Image update: a tag of another kind or product changes nothing`() throws {
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

    @Test(arguments: ["", "\n"])
    func `JSON change: the end stays, and each description of the old memory goes`(end: String) throws {
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

    @Test
    func `Byte order mark: skipped, and lines are counted behind it`() throws {
        let json = "\u{FEFF}" + #"{"type": "NFCA", "product": "generic NFC-A", "uid": "01020304","#
        let image = try TagImage(parsing: Array((json + "\"atqa\": \"0004\", \"sak\": \"08\"}").utf8))
        #expect(image.format == .json && image.uid == [1, 2, 3, 4])
        let error = try #require(Files.failure(json + "\n\"atqa\": \"0004\",\n\"sak\": \"0\"}"))
        #expect(error.code == .malformed && error.line == 3)
        #expect(Files.failure(json + "\n\"atqa\": \"0004\",\n\n}")?.line == 4)
        let report = try TagImage(parsing: Array(("\u{FEFF}" + Files.text("taginfo-ntag213.xml")).utf8))
        #expect(report.format == .tagInfo && report.product == "NTAG213")
    }

    @Test
    func `JSON FeliCa: 1 to 16 systems with the usual limits`() throws {
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
}
