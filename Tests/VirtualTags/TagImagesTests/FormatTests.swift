// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import TagScripts
import Testing
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
        // Without a header they look like a MIFARE Ultralight EV1 or AES.
        for name in ["NTAG210", "NTAG212", "NTAG 223 DNA", "NTAG I2C 1K"] { formats[name]?.remove(.mfd) }
        // The client's pages are counted in a byte.
        formats["NTAG I2C 2K"] = [.flipper]
        formats["NTAG I2C plus 1K"]?.remove(.mfd)
        formats["NTAG I2C plus 2K"] = [.flipper]
        for product in ClassicProduct.allCases { formats[product.rawValue] = all.union([.mct]) }
        for name in [
            "ICODE SLIX", "ICODE SLIX2", "ICODE DNA", "ICODE SLIX-S", "ICODE SLIX-L", "ST25TV512", "ST25TV02K",
            "ST25DV04K", "generic Type 5",
        ] {
            formats[name] = [.flipper, .proxmarkJSON, .proxmarkBinary]
        }
        for name in ["FeliCa Lite-S", "generic Type 3", "MIFARE DESFire EV1 2K"] { formats[name] = [.flipper] }
        for name in ["MIFARE DESFire EV1 4K", "MIFARE DESFire EV1 8K"] { formats[name] = [.flipper] }
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

    @Test(arguments: Files.tagFiles.indices) func `Dump written in each other format: read as the same tag`(
        _ index: Int
    ) throws {
        let (name, _, _) = Files.tagFiles[index]
        let image = try TagImage(parsing: Files.dump(name))
        for format in TagImage.Format.allCases where format.canHold(image.contents) {
            let other = try TagImage(parsing: TagImage(image.contents, format: format).encoded(), as: format)
            #expect(other.contents == image.contents, "\(name) as \(format)")
            #expect(other.uid == image.uid)
        }
        #expect(TagImage.Format.json.canHold(image.contents), "\(name)")
    }

    @Test(arguments: Files.tagFiles.indices)
    func `Dump cut at a byte: refused, unless its format can't show that something is missing`(_ index: Int) throws {
        let (name, format, _) = Files.tagFiles[index]
        let bytes = try Files.dump(name)
        var places = Array(stride(from: 0, to: bytes.count, by: bytes.count / 30 + 1))
        places += (bytes.count - 20)..<bytes.count
        for count in places {
            // The last byte of a report is the end of its last line.
            if format == .tagInfo, count == bytes.count - 1 || name.hasSuffix(".txt") { continue }
            guard let image = try? TagImage(parsing: Array(bytes.prefix(count))) else { continue }
            // Memory without a header is a smaller product's; a Flipper file may lack its last digits and lines.
            let mayBeCut: [TagImage.Format] = [.mfd, .proxmarkBinary, .flipper, .mct]
            let isSmallerClassic = format == .proxmarkText && image.product.hasPrefix("MIFARE Classic")
            #expect(mayBeCut.contains(format) || isSmallerClassic, "\(name) of \(count) bytes")
            _ = image.makeTag()
        }
    }

    @Test(arguments: Files.tagFiles.indices)
    func `Dump with flipped bits: refused, or read and written as the same damaged bytes`(_ index: Int) throws {
        let (name, _, _) = Files.tagFiles[index]
        let bytes = try Files.dump(name)
        var generator = Numbers(seed: UInt64(index))
        for _ in 0..<25 {
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

/// Changes of images, and images that are updated from tags.
struct ImageChangeTests {
    /// The lines that a change gives.
    private func changes(_ before: String, _ image: TagImage) throws -> [String] {
        let after = String(decoding: try image.encoded(), as: UTF8.self).split(separator: "\n")
        let before = before.split(separator: "\n")
        #expect(before.count == after.count)
        return zip(before, after).filter { $0 != $1 }.map { String($1) }
    }

    @Test func `JSON change: values that are as delivered again become null, and unknown members are dropped`() throws {
        var contents = Type5Contents(blank: .icodeSLIX)
        contents.afi = 0x21
        let text = try TagContents.type5(contents).text()
        var image = try TagImage(parsing: Array(text.replacing("\"blocks\"", with: "\"note\": 1, \"blocks\"").utf8))
        contents.afi = 0
        contents.lockedBlocks = [1]
        image.contents = .type5(contents)
        let changed = try String(decoding: image.encoded(), as: UTF8.self)
        #expect(changed.contains("\"afi\": null") && changed.contains("\"locked_blocks\": [1]"))
        #expect(!changed.contains("note"))
        #expect(try TagContents(text: changed) == .type5(contents))
    }

    @Test(arguments: [true, false])
    func `JSON change of the memory: members that describe the old memory go, others and the file's end stay`(
        endsLine: Bool
    ) throws {
        let end = endsLine ? "\n" : ""
        let zeros = String(repeating: "00", count: 64)
        let head = #"{"type": "T2T", "product": "Ultralight", "uid": "04a1b2c3d4e580", "#
        let old = #""state": "empty", "ndef_hex": "", "capacity": 46, "readonly": false, "note": "n", "id": "k"}"#
        let text = head + "\"memory_hex\": \"\(zeros)\", " + old + end
        var image = try TagImage(parsing: Array(text.utf8))
        var contents = try #require(image.contents.type2)
        contents.memory[63] = 0xAB
        image.contents = .type2(contents)
        let expected = head + "\"memory_hex\": \"\(zeros.dropLast(2))ab\", " + #""id": "k"}"# + end
        #expect(try String(decoding: image.encoded(), as: UTF8.self) == expected)
    }

    @Test func `Image update: a tag of another kind or product changes nothing`() throws {
        var image = try Files.image("ntag215-uri.nfc")
        let contents = image.contents
        let others: [any VirtualTag] = [
            VirtualType2Tag(.ntag213, uid: Script.uid), VirtualType5Tag(.icodeSLIX2),
            VirtualType4Tag(NTAG424Contents()),
        ]
        for other in others {
            image.update(from: other)
            #expect(image.contents == contents)
        }
        let same = Type2Contents(blank: .ntag215, uid: Script.uid)
        image.update(from: VirtualType2Tag(same))
        #expect(image.contents == .type2(same))
    }

    @Test func `Flipper SLIX: its tag answers as in the file, and a write changes one line`() async throws {
        let text = try Files.text("slix2-every-password.nfc")
        var image = try TagImage(parsing: Array(text.utf8))
        let tag = image.makeTag()
        let script = try LinkScript(.nfcV, tag)
        #expect(await script.send("02 2b") == "00 0f 44 33 22 11 08 01 04 e0 05 21 4f 03 01")
        #expect(await script.send("02 21 1b de ad be ef") == "00")
        image.update(from: tag)
        let changed = try changes(text, image)
        #expect(changed.count == 1 && changed.first?.hasPrefix("Data Content: E1 40 27 01") == true)
        #expect(changed.first?.contains("DE AD BE EF") == true)
        #expect(try TagImage(parsing: image.encoded()).contents == image.contents)
    }

    @Test func `Flipper FeliCa Lite-S: a write changes the lines of its block and of the counter`() async throws {
        let text = try Files.text("felica-lite.nfc")
        var image = try TagImage(parsing: Array(text.utf8))
        let tag = image.makeTag()
        let idm = "02 fe 00 11 22 33 44 55"
        let write = "20 08 \(idm) 01 09 00 01 80 01" + String(repeating: "ab", count: 16)
        #expect(await (try LinkScript(.nfcF, tag)).send(write) == "0c 09 \(idm) 00 00")
        image.update(from: tag)
        let changed = try changes(text, image)
        #expect(changed.first == "Block 1: 00 00" + String(repeating: " AB", count: 16))
        #expect(changed.count == 2 && changed.last?.hasPrefix("Block 24: 00 00 ") == true)
        #expect(try TagImage(parsing: image.encoded()).contents == image.contents)
    }

    @Test func `Byte order mark: skipped before JSON and XML`() throws {
        let json = #"{"type": "NFCA", "product": "generic NFC-A", "uid": "01020304", "atqa": "0004", "sak": "08"}"#
        #expect(try TagContents(text: "\u{FEFF}" + json).uid == [1, 2, 3, 4])
        let report = try TagImage(parsing: Array(("\u{FEFF}" + Files.text("taginfo-ntag213.xml")).utf8))
        #expect(report.format == .tagInfo && report.product == "NTAG213")
    }
}
