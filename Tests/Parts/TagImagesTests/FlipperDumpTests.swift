// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Flipper NFC files` {
    @Test func `A new file has each counter before its tearing flag`() throws {
        var contents = Type2Contents(blank: .ultralightEV1UL11, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.counters = [1, 2, 0x010203]
        contents.tearingFlags = [0xBD, 0x00, 0x55]
        let text = String(decoding: try TagImage(contents, format: .flipper).encoded(), as: UTF8.self)
        #expect(
            text.contains(
                "\nCounter 0: 1\nTearing 0: BD\nCounter 1: 2\nTearing 1: 00\nCounter 2: 66051\nTearing 2: 55\nPages total:"
            )
        )
    }

    @Test(arguments: ["", "\u{FEFF}", " \r\n\t"])
    func `A Flipper file is one from its first words on, also with a zero byte in it`(start: String) throws {
        let text = try Files.text("ntag215-uri.nfc")
        #expect(Files.failure(start + text) == nil)
        // A memory without a header has almost always a zero byte, and this is none.
        let error = try #require(Files.failure(start + text.replacing("\nVersion:", with: "\n\0Version:")))
        #expect(error.code == .missingField && error.reason.hasPrefix("Version is missing;"))
        let other = try #require(Files.failure(start + text.replacing("Filetype:", with: "\0iletype:")))
        #expect(other.code == .unknownFormat && other.reason.hasPrefix("The file is in no known format,"))
    }

    @Test func `A dump of an NTAG215 is a tag with its message`() async throws {
        let image = try TagImage(parsing: Files.dump("ntag215-uri.nfc"))
        #expect(image.format == .flipper)
        #expect(image.product == "NTAG215")
        #expect(image.tagType == 2)
        let tag = image.makeTag()
        #expect(tag.identifier == hex("04 5e 2b 8a d1 6f 81"))
        let script = try Script(tag)
        try await script.activate(tag.identifier)
        #expect(await script.send("60") == "00 04 04 02 01 00 11 03")
        #expect(await script.send("3a 04 07") == "03 34 d1 01 30 55 04 65 78 61 6d 70 6c 65 2e 6f")
        let contents = try #require(image.contents.type2)
        #expect(await script.send("3c 00") == hexText(contents.signature))
        #expect(contents.signature.contains { $0 != 0 })
    }

    @Test func `A tag has the version of its file, also if that is none of the product's usual ones`() async throws {
        let text = try Files.text("ntag215-uri.nfc")
            .replacing("Mifare version: 00 04 04 02 01", with: "Mifare version: 00 04 04 02 02")
        let tag = try TagImage(parsing: Array(text.utf8)).makeTag()
        let script = try Script(tag)
        try await script.activate(tag.identifier)
        #expect(await script.send("60") == "00 04 04 02 02 00 11 03")
    }

    @Test func `Version 2 has the bytes of ATQA the other way round`() throws {
        let image = try TagImage(parsing: Files.dump("ntag213-version2.nfc"))
        #expect(image.contents.type2?.atqa == 0x0044)
        #expect(image.contents.type2?.product == .ntag213)
        #expect(image.contents.type2?.counters == [0, 0, 95])
    }

    @Test func `A file that says Mifare Ultralight is identified by its version`() throws {
        let image = try TagImage(parsing: Files.dump("ultralight11-version3.nfc"))
        #expect(image.contents.type2?.product == .ultralightEV1UL11)
        #expect(image.contents.type2?.counters == [12, 0, 70000])
        #expect(image.contents.type2?.tearingFlags == [0xBD, 0xBD, 0xBD])
        #expect(try TagImage(parsing: Files.dump("ultralight.nfc")).contents.type2?.product == .ultralight)
    }

    @Test func `The configuration of NTAG I2C is behind a gap that the file leaves out`() async throws {
        let image = try TagImage(parsing: Files.dump("ntagi2c2k.nfc"))
        let script = try Script(image.makeTag())
        try await script.activate(image.uid)
        #expect(await script.send("c2 ff") == "ACK")
        #expect(await script.send("01 00 00 00") == "timeout")
        #expect(await script.send("30 04").hasPrefix("01 02 03 04"))
        #expect(await script.send("30 e8").hasPrefix("01 00 f8 48 08 01 00 00"))
    }

    @Test func `A new file of NTAG I2C has the configuration after the lock page, and no session registers`() throws {
        var contents = Type2Contents(blank: .ntagI2C1K, uid: Script.uid)
        contents.memory.replaceSubrange((232 * 4)..<(234 * 4), with: hex("01 02 03 04 05 06 07 08"))
        let text = String(decoding: try TagImage(contents, format: .flipper).encoded(), as: UTF8.self)
        let pages = ["00 00 00 00", "01 02 03 04", "05 06 07 08", "00 00 00 00", "00 00 00 00"]
        let lines = pages.enumerated().map { "Page \(226 + $0.offset): \($0.element)\n" }.joined()
        #expect(text.contains("\n\(lines)Failed authentication attempts: 0\n"))
        #expect(try TagImage(parsing: Array(text.utf8)).contents == .type2(contents))
    }

    @Test(arguments: Files.dumps) func `A dump that is not changed is written byte for byte`(
        _ name: String
    ) async throws {
        let bytes = try Files.dump(name)
        var image = try TagImage(parsing: bytes)
        #expect(try image.encoded() == bytes)
        let tag = image.makeTag()
        let script = try Script(tag)
        try await script.activate(image.uid)
        image.update(from: tag)
        #expect(try image.encoded() == bytes)
    }

    @Test(arguments: Files.dumps) func `A change is written in its line, and the others stay`(
        _ name: String
    ) async throws {
        let bytes = try Files.dump(name)
        var image = try TagImage(parsing: bytes)
        let tag = image.makeTag()
        let script = try Script(tag)
        try await script.activate(image.uid)
        #expect(await script.send("a2 05 de ad be ef") == "ACK")
        image.update(from: tag)
        let before = bytes.split(separator: 0x0A)
        let after = try image.encoded().split(separator: 0x0A)
        #expect(before.count == after.count)
        let changed = zip(before, after).filter { $0 != $1 }.map { String(decoding: $1, as: UTF8.self) }
        #expect(changed == [name == "ntag213-version2.nfc" ? "Page 5: DE AD BE EF\r" : "Page 5: DE AD BE EF"])
        #expect(try TagImage(parsing: image.encoded()).contents.type2 == trimmed(tag, to: image))
    }

    private func trimmed(_ tag: any VirtualTag, to image: TagImage) -> Type2Contents? {
        (tag as? VirtualType2Tag)?.contents
    }

    @Test func `Counters and failed passwords are written too`() async throws {
        var image = try TagImage(parsing: Files.dump("ultralight11-version3.nfc"))
        let tag = image.makeTag()
        let script = try Script(tag)
        try await script.activate(image.uid)
        #expect(await script.send("a5 01 05 00 00 00") == "ACK")
        image.update(from: tag)
        let text = try String(decoding: image.encoded(), as: UTF8.self)
        #expect(text.contains("Counter 1: 5\nTearing 1: BD\n"))
    }

    @Test(arguments: Type2Product.all) func `A new tag of every product is written and read again`(
        _ product: Type2Product
    ) throws {
        var contents = Type2Contents(blank: product, uid: Script.uid)
        contents.counters = [1, 2, 3]
        contents.failedAuthentications = 4
        let bytes = try TagImage(contents, format: .flipper).encoded()
        let image = try TagImage(parsing: bytes)
        #expect(image.contents == .type2(contents))
        #expect(try image.encoded() == bytes)
    }

    @Test func `Lines of pages behind the total are kept and mean nothing`() async throws {
        let text = try Files.text("ultralight.nfc") + (16..<30).map { "Page \($0): 00 00 00 00\n" }.joined()
        var image = try TagImage(parsing: Array(text.utf8))
        let tag = image.makeTag()
        let script = try Script(tag)
        try await script.activate(image.uid)
        #expect(await script.send("a2 0f de ad be ef") == "ACK")
        image.update(from: tag)
        let changed = text.replacing("Page 15: 00 00 00 00", with: "Page 15: DE AD BE EF")
        #expect(try image.encoded() == Array(changed.utf8))
    }

    static let faults: [(String, String, TagImageError.Code, Int?)] = [
        ("Version: 4", "Version: 1", .unsupported, 2),
        ("Version: 4", "Version: 5", .unsupported, 2),
        ("Version: 4", "Version: four", .malformed, 2),
        ("Filetype: Flipper NFC device", "Filetype: Flipper SubGhz Key File", .unknownFormat, 1),
        ("NTAG/Ultralight type: NTAG215", "NTAG/Ultralight type: NTAG I2C Plus 2K", .unsupported, 12),
        ("Device type: NTAG/Ultralight", "Device type: Jewel", .unsupported, 4),
        ("UID: 04 5E 2B 8A D1 6F 81", "UID: 04 5E 2B", .malformed, 6),
        ("UID: 04 5E 2B 8A D1 6F 81", "UID: 04 5E 2B 8A D1 6F 8", .malformed, 6),
        ("ATQA: 00 44", "ATQA: 0044", .malformed, 8),
        ("Pages total: 135", "Pages total: 2041", .inconsistent, 21),
        ("Pages total: 135", "Pages total: -1", .malformed, 21),
        ("Pages total: 135", "Pages total: 99999999999999999999", .malformed, 21),
        ("Counter 2: 0", "Counter 2: 16777216", .malformed, 19),
        ("Page 77: 00 00 00 00", "Page 77: 00 00 00", .malformed, 100),
        ("Page 77: 00 00 00 00", "Page 77: ?? ?? ?? ??", .malformed, 100),
        ("Page 77: 00 00 00 00", "Page 76: 00 00 00 00", .malformed, 100),
        ("Page 77: 00 00 00 00", "Page 77", .malformed, 100),
        ("Page 77: 00 00 00 00\n", "", .missingField, nil),
        ("SAK: 00\n", "", .missingField, nil),
    ]

    @Test(arguments: faults) func `A fault is reported with its line`(
        _ original: String,
        _ fault: String,
        _ code: TagImageError.Code,
        _ line: Int?
    ) throws {
        let text = try Files.text("ntag215-uri.nfc")
        #expect(text.contains(original))
        let error = try #require(Files.failure(text.replacing(original, with: fault, maxReplacements: 1)))
        #expect(error.code == code)
        if let line { #expect(error.line == line) }
    }

    @Test func `The error for another kind of tag names it`() throws {
        let error = Files.failure("Filetype: Flipper NFC device\nVersion: 4\nDevice type: SLIX\nPages total: 4\n")
        #expect(error?.code == .missingField)
        let whole = try Files.text("ultralight.nfc").replacing("type: Mifare Ultralight", with: "type: Ultralight AES")
        #expect(Files.failure(whole)?.reason == "A tag of type Ultralight AES is not supported yet.")
    }

    @Test(arguments: ["AcceptAllPasswords", "Accept All Passwords", "acceptallpasswords", "ACCEPT all PASSWORDS"])
    func `A SLIX accepts every password where the file says so, in whatever spelling`(spelling: String) throws {
        let whole = try Files.text("slix2-every-password.nfc")
        let line = "Capabilities: AcceptAllPasswords"
        #expect(whole.contains(line))
        let original = try TagImage(parsing: Array(whole.utf8)).contents
        let spelled = whole.replacing(line, with: "Capabilities: \(spelling)")
        #expect(try TagImage(parsing: Array(spelled.utf8)).contents == original)
        let usual = whole.replacing(line, with: "Capabilities: Default")
        #expect(try TagImage(parsing: Array(usual.utf8)).contents != original)
    }

    @Test(arguments: Files.dumps) func `A dump that is cut off anywhere is refused or whole`(_ name: String) throws {
        let bytes = try Files.dump(name)
        let last = try #require(bytes.lastIndex(of: UInt8(ascii: ":")))
        for count in stride(from: 0, to: last, by: 41) {
            #expect(throws: TagImageError.self) { try TagImage(parsing: Array(bytes.prefix(count))) }
        }
    }

    @Test func `Damaged dumps never crash`() throws {
        var generator = Numbers(seed: 4)
        let bytes = try Files.dump("ntag215-uri.nfc")
        for _ in 0..<120 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] = UInt8.random(
                    in: 0...255,
                    using: &generator
                )
            }
            guard let image = try? TagImage(parsing: damaged) else { continue }
            #expect(try image.encoded() == damaged)
            _ = image.makeTag()
        }
    }
}
