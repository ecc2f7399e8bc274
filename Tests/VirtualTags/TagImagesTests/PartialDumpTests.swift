// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Files that lack a part of their tag: what is there is read, the rest is named, and stays unread in other formats.
struct PartialDumpTests {
    private func image(_ text: String) throws -> TagImage { try TagImage(parsing: Array(text.utf8)) }

    // 322 of 781 public dumps of Skylanders figures have a block whose last byte has one digit.
    @Test func `Flipper block with a cut byte: only this block is unknown, and a remark names it`() throws {
        let text = try Files.text("classic-unknown.nfc")
        let whole = try #require(try image(text).contents.classic)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Block 1: ") })
        let damaged = text.replacing(line, with: line.dropLast())
        let read = try image(damaged)
        let card = try #require(read.contents.classic)
        #expect(card.unknownBytes == whole.unknownBytes.union(16..<32))
        #expect(read.remarks.contains { $0.kind == .missing && $0.text.contains("Block 1 ") })
        #expect(try read.encoded() == Array(damaged.utf8))
        #expect(try TagContents.classic(card).returns() && TagContents.classic(card).returns(in: .mct))
        #expect(!TagImage.Format.mfd.canHold(.classic(card)))
        let page = try image(
            Files.text("ntag215-uri.nfc").replacing("Page 77: 00 00 00 00", with: "Page 77: 0 00 00 00")
        )
        #expect(page.remarks.map(\.kind).first == .missing)
        #expect(try page.contents == Files.image("ntag215-uri.nfc").contents)
        let felica = try Files.text("felica-lite.nfc").replacing(/Block 1: [0-9A-F ]+/, with: "Block 1: 00 00 4")
        #expect(try image(felica).remarks.contains { $0.text.contains("Block 1 ") })
    }

    @Test func `Flipper pages that were not read: absent in each format, and after the tag is saved to the file`()
        throws
    {
        let zeros = (20..<45).map { "Page \($0): 00 00 00 00" }.joined(separator: "\n")
        let blank = try TagContents.type2(Type2Contents(blank: .ntag213, uid: Script.uid)).text(.flipper)
        let pages = blank.split(separator: "\n").filter { $0.hasPrefix("Page ") && !$0.hasPrefix("Pages") }
        let text = blank.replacing("Pages read: 45", with: "Pages read: 20")
            .replacing(pages[20...].joined(separator: "\n"), with: zeros)
        var read = try image(text)
        #expect(read.contents.type2?.memory.count == 80)
        #expect(read.remarks.map(\.kind) == [.missing])
        for format: TagImage.Format in [.json, .flipper, .proxmarkJSON, .proxmarkBinary, .proxmarkText] {
            #expect(try read.contents.returns(in: format), "\(format)")
        }
        let raw = try TagImage(read.contents, format: .mfd).encodedWithLoss()
        #expect(raw.bytes.count == 180 && raw.lost == ["which pages were not read"])
        read.update(from: read.makeTag())
        #expect(try read.encoded() == Array(text.utf8))
    }

    // Flipper firmware, iso15693_3.c: the size and the blocks are only saved when the tag reports its system information.
    @Test func `Flipper ISO 15693 file without the memory: a tag without blocks, also in another format`() async throws
    {
        let head = "Filetype: Flipper NFC device\nVersion: 4\nDevice type: ISO15693-3\nUID: E0 02 26 12 34 56 78 9A\n"
        for text in [head, head + "DSFID: 01\nAFI: 21\nIC Reference: 26\nLock DSFID: false\nLock AFI: true\n"] {
            let read = try image(text)
            let tag = try #require(read.contents.type5)
            #expect(tag.memory.isEmpty && tag.product.blockCount == 0)
            #expect(read.remarks.map(\.kind) == [.missing])
            #expect(try read.encoded() == Array(text.utf8))
            #expect(try read.contents.returns() && read.contents.returns(in: .flipper))
            let script = try LinkScript(.nfcV, read.makeTag())
            #expect(await script.send("02 20 00").hasPrefix("01"))
            #expect(await script.send("02 2b").hasPrefix("00 0b 9a 78 56 34 12 26 02 e0"))
        }
        #expect(Files.failure(head + "Block Count: 4\n")?.code == .missingField)
    }

    // An amiibo's dump of a reader lacks PWD and PACK: 133 pages. Others end with the answer to READ_SIG.
    @Test func `Memory of an amiibo: read from 532 bytes without the password and from 572 bytes with the signature`()
        throws
    {
        var contents = Type2Contents(blank: .ntag215, uid: Script.uid)
        let short = try TagImage(parsing: Array(contents.memory.prefix(532)), as: .proxmarkBinary)
        #expect(short.product == "NTAG215" && short.uid == Script.uid && short.contents.type2?.memory.count == 532)
        #expect(short.remarks.map(\.kind) == [.missing])
        #expect(try short.contents.returns())
        contents.signature = Array(0x40..<0x60)
        let signed = try TagImage(parsing: contents.memory + contents.signature, as: .proxmarkBinary)
        #expect(signed.contents == .type2(contents) && signed.format == .mfd && signed.remarks.isEmpty)
        #expect(try signed.encoded() == contents.memory + contents.signature)
    }

    // OpenPrintTag's tools save the memory of an ICODE SLIX2 or ICODE 3 alone.
    @Test func `Memory of a Type 5 tag: its UID is given, or reported as missing`() async throws {
        let uid: [UInt8] = [0xE0, 0x04, 0x01, 0x20, 1, 2, 3, 4]
        let bytes = try Files.dump("type5-memory.bin")
        for (bytes, count) in [(bytes, 76), (bytes + [0, 0, 0, 0, 0, 0, 0, 0], 78)] {
            let read = try TagImage(parsing: bytes)
            #expect(read.contents.type5?.product.blockCount == count && read.remarks.map(\.kind) == [.missing])
            #expect(try read.encoded() == bytes)
            var named = try TagImage(parsing: bytes, uid: uid)
            #expect(named.uid == uid && named.remarks.isEmpty)
            #expect(try named.contents.returns())
            let tag = named.makeTag()
            #expect(await (try LinkScript(.nfcV, tag)).send("02 21 05 de ad be ef") == "00")
            named.update(from: tag)
            #expect(try named.encoded() == Array(bytes[..<20]) + hex("de ad be ef") + bytes[24...])
        }
        let wrong: [UInt8] = [4, 1, 2, 3, 4, 5, 6]
        #expect(throws: TagImageError(.inconsistent, "")) { try TagImage(parsing: bytes, uid: wrong) }
        let ntag = try Files.dump("ntag215-uri.nfc")
        #expect(throws: TagImageError(.inconsistent, "")) { try TagImage(parsing: ntag, uid: uid) }
    }

    @Test func `MIFARE Classic Tool: absent sectors and hyphens are unknown bytes, and a wrong sector is malformed`()
        throws
    {
        let card = try #require(try Files.image("classic-1k.mct").contents.classic)
        #expect(card.uid == hex("a1 b2 c3 d4") && card.unknownBytes == Set(64..<1024))
        let lines = try Files.text("classic-1k.mct").split(separator: "\n")
        let key = "------------FF078069FFFFFFFFFFFF"
        let text = (lines[..<4] + [key[...], "+Sector: 39", "*No keys found or dead sector"]).joined(separator: "\r\n")
        let large = try #require(try TagContents(text: text).classic)
        #expect(large.product == .classic4K && large.unknownBytes.contains(48) && !large.unknownBytes.contains(54))
        #expect(try TagContents.classic(large).returns())
        for end in ["+Sector: 0", "+Sector: 40", "+Sector:", "00", String(repeating: "00", count: 16)] {
            let error = Files.failure((lines + [end[...]]).joined(separator: "\n"))
            #expect(error?.code == .malformed && error?.line == 6, "\(end)")
        }
    }

    // The format's description in the client, doc/mfdes_dump_format.md.
    @Test func `Proxmark3 DESFire: keys, files and rights, and what was not read stays unread`() throws {
        let image = try Files.image("hf-mfdes-dump.json")
        let card = try #require(image.contents.desfire)
        #expect(image.contents.type4?.frontEnd == .nfcA(uid: card.uid, ats: hex("06 75 77 81 02 80")))
        #expect(card.masterKey.bytes == Array(0..<16) && card.freeMemory == 3840)
        let application = try #require(card.applications.first)
        #expect(application.identifier == 0x123456 && application.isoIdentifier == 0xDF01)
        #expect(application.keyVersions == [0x03, 0x07] && application.keys[0].bytes.first == 0xE7)
        #expect(application.files.map(\.isUnread) == [false, false, false, true])
        #expect(application.files[0].accessRights == 0x1230 && application.files[0].communication == .enciphered)
        #expect(application.files[1].kind == .value(lower: -5, upper: 1000, current: 42, limitedCredit: true))
        #expect(application.files[2].kind == .cyclicRecords(size: 2, maximum: 3, records: [1, 2, 3, 4]))
        let texts = image.remarks.map(\.text)
        #expect(
            texts.contains { $0.contains("application 123456 file 4") } && texts.contains { $0.contains("file 5") }
        )
        #expect(try image.contents.returns())
        var written = card
        written.applications[0].files[3].kind = .standard([1, 2, 3, 4, 5, 6, 7, 8])
        #expect(!written.applications[0].files[3].isUnread)
        let flipper = try Files.image("desfire.nfc")
        #expect(flipper.contents.desfire?.applications.first?.files.last?.isUnread == true)
        #expect(try flipper.contents.returns() && flipper.contents.returns(in: .flipper))
    }

    @Test func `Proxmark3 pages of Mikron's Ultralight EV1: read, and its version stays`() throws {
        var contents = Type2Contents(blank: .ultralightEV1UL21, uid: [0x34, 1, 2, 3, 4, 5, 6])
        contents.version = hex("00 34 21 01 01 00 0e 03")
        for format: TagImage.Format in [.proxmarkBinary, .proxmarkJSON, .flipper, .json] {
            #expect(try TagContents.type2(contents).returns(in: format), "\(format)")
        }
    }

    // Flipper firmware, mf_ultralight.c and its poller: 236 and 492 pages, of which 234 and 235 are session registers.
    @Test(arguments: [(Type2Product.ntagI2CPlus1K, 236), (.ntagI2CPlus2K, 492)])
    func `Flipper NTAG I2C plus: pages 234 and 235 of the file are session registers, not memory`(
        product: Type2Product,
        count: Int
    ) throws {
        var contents = Type2Contents(blank: product, uid: Script.uid)
        let last = product.pageCount - 1
        contents.memory.replaceSubrange((last * 4)..<(last * 4 + 4), with: [1, 2, 3, 4])
        let text = try TagContents.type2(contents).text(.flipper)
        #expect(text.contains("type: NTAG I2C Plus \(count == 236 ? 1 : 2)K\n") && text.contains("total: \(count)\n"))
        #expect(text.contains("\nPage 234: 00 00 00 00\nPage 235: 00 00 00 00\n"))
        #expect(text.contains("\nPage \(count == 236 ? 233 : 491): 01 02 03 04\n"))
        #expect(try TagContents(text: text) == .type2(contents))
        let cut = try TagContents(text: text.replacing("total: \(count)", with: "total: 230")).type2
        #expect(cut?.memory.count == 230 * 4)
    }
}
