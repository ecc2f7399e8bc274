// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualTags

/// Type 5 tags in Flipper and Proxmark3 files.
struct Type5ImageTests {
    /// A tag of which nothing is as delivered that a Flipper file has a line for.
    private var slix2: Type5Contents {
        var contents = Type5Contents(blank: .icodeSLIX2)
        contents.lockedBlocks = [0, 78, 79]
        (contents.dsfid, contents.afi) = (0x05, 0x21)
        contents.isDSFIDLocked = true
        contents.isSurveillanceLocked = true
        contents.signature = Array(1...32)
        contents.counter = 300
        contents.passwords = [
            0x01: 0x0403_0201, 0x02: 0x0807_0605, 0x04: 0x0C0B_0A09, 0x08: 0x100F_0E0D, 0x10: 0x1413_1211,
        ]
        contents.protection.pointer = 0x20
        contents.protection.isCounterProtected = true
        contents.protection.isPrivate = true
        return contents
    }

    @Test func `Flipper SLIX2: passwords, locks and privacy mode have their lines, a SLIX has fewer`() throws {
        let text = try TagContents.type5(slix2).text(.flipper)
        let lines = [
            "Password Read: 01 02 03 04\nPassword Write: 05 06 07 08\nPassword Privacy: 09 0A 0B 0C\n",
            "Password Destroy: 0D 0E 0F 10\nPassword EAS: 11 12 13 14\nSignature: 01 02 03",
            "\nLock DSFID: true\nLock AFI: false\n", "\nPrivacy Mode: true\n",
            "\n# SLIX Lock Bits\nLock EAS: true\nLock PPL: false\n",
        ]
        for line in lines { #expect(text.contains(line), "\(line)") }
        #expect(try TagContents(text: text) == .type5(slix2))
        let slix = TagContents.type5(Type5Contents(blank: .icodeSLIX))
        let short = try slix.text(.flipper)
        #expect(short.hasSuffix("\nPassword EAS: 00 00 00 00\nLock EAS: false\n"))
        for word in ["Signature", "Privacy", "Protection", "Lock PPL"] { #expect(!short.contains(word), "\(word)") }
        let more = short.replacing("Password EAS:", with: "Password Read: 01 02 03 04\nPassword EAS:")
        #expect(try TagContents(text: more) == slix)
    }

    @Test func `Flipper SLIX-L and SLIX-S: read with their passwords and privacy, and written the same`() throws {
        for (product, uid) in [(Type5Product.icodeSLIXL, "e0 04 03 50"), (.icodeSLIXS, "e0 04 02 58")] {
            var contents = Type5Contents(blank: product, uid: hex(uid + " 20 30 36 1d"))
            contents.passwords[0x04] = 0x5B6E_FD7F
            contents.protection.isPrivate = true
            let text = try TagContents.type5(contents).text(.flipper)
            #expect(text.contains("\nDevice type: SLIX\n"))
            #expect(text.contains("\nPassword Privacy: 7F FD 6E 5B\nPassword Destroy: 0F 0F 0F 0F\n"))
            #expect(text.hasSuffix("\nPassword EAS: 00 00 00 00\nPrivacy Mode: true\nLock EAS: false\n"))
            #expect(text.contains("Password Read") == (product == .icodeSLIXS))
            #expect(try TagContents(text: text) == .type5(contents))
        }
    }

    @Test(arguments: 0...3)
    func `Flipper SLIX of an earlier file: locks of AFI and DSFID before those of the blocks`(head: Int) throws {
        var slix = Type5Contents(blank: .icodeSLIX)
        slix.lockedBlocks = [0]
        let text = try TagContents.type5(slix).text(.flipper)
            .replacing("Lock DSFID: false\nLock AFI: false\n", with: "")
        let status = text.replacing("Security Status: 01", with: "Security Status: 0\(head) 01")
        #expect(status != text)
        let contents = try #require(try TagContents(text: status).type5)
        #expect(contents.isDSFIDLocked == (head & 1 != 0) && contents.isAFILocked == (head & 2 != 0))
        #expect(contents.lockedBlocks == [0])
        let short = text.replacing("Security Status: 01 ", with: "Security Status: ")
        let long = status.replacing("Security Status: ", with: "Security Status: 00 ")
        for wrong in [short, long] { #expect(Files.failure(wrong)?.code == .malformed) }
    }

    @Test func `Flipper ISO 15693-3: loads as a generic tag`() throws {
        let contents = Type5Contents(blank: .generic(blockCount: 28))
        let text = try TagContents.type5(contents).text(.flipper)
        #expect(text.contains("\nDevice type: ISO15693-3\n"))
        #expect(try TagImage(parsing: Array(text.utf8)).product == "generic Type 5")
        for (old, new) in [("Data Content: E1 40 ", "Data Content: "), ("Lock AFI: false", "Lock AFI: no")] {
            #expect(Files.failure(text.replacing(old, with: new))?.code == .malformed, "\(new)")
        }
    }

    @Test func `Type 5 IC reference: zero where a file has none`() throws {
        let product = Type5Product.generic(blockCount: 8, blockSize: 4, icReference: 0x5A)
        let contents = TagContents.type5(Type5Contents(blank: product))
        let rows: [(TagImage.Format, String, String)] = [
            (.flipper, "\nIC Reference: 5A\n", "\n"), (.json, ", \"ic_reference\": \"5a\"", ""),
            (.proxmarkJSON, "    \"ic\": \"5A\",\n", ""),
        ]
        for (format, line, other) in rows {
            #expect(try contents.returns(in: format), "\(format)")
            let without = try contents.text(format).replacing(line, with: other)
            #expect(try TagContents(text: without).type5?.product.icReference == 0, "\(format)")
        }
        #expect(try contents.returns(in: .proxmarkBinary))
    }

    @Test(arguments: [160, 161])
    func `Proxmark3 ISO 15693: version 4 up to 160 blocks, version 5 above`(count: Int) throws {
        var contents = Type5Contents(blank: .generic(blockCount: count))
        contents.lockedBlocks = [0, count - 1]
        contents.isDSFIDLocked = true
        let tag = TagContents.type5(contents)
        let binary = try TagImage(tag, format: .proxmarkBinary).encoded()
        #expect(binary.count == (count == 160 ? 0xA0 + 15 : 0x100 + 16) + 2048 + 12)
        #expect(try TagImage(parsing: binary).contents == tag)
        let text = try tag.text(.proxmarkJSON)
        #expect(text.contains("\"FileType\": \"15693 v\(count == 160 ? 4 : 5)\""))
        #expect(text.contains("\"pagescount\": \"\(count == 160 ? "A0" : "A100")\""))
        #expect(text.contains("\"privacypasswd\": \"00000000\",\n    \"state\": \"00\"\n  },\n"))
        #expect(try TagContents(text: text) == tag)
    }

    @Test func `Proxmark3 ISO 15693: UID, locks and counter of each version are read`() throws {
        for name in ["hf-15-slix2-dump.json", "hf-15-slix2-v4.bin", "hf-15-slix2-v5.bin"] {
            let contents = try #require(try Files.image(name).contents.type5, "\(name)")
            #expect(contents.uid == hex("e0 04 01 08 11 22 33 44") && contents.counter == 300, "\(name)")
            #expect(contents.dsfid == 0x05 && contents.afi == 0x21, "\(name)")
            #expect(contents.isAFILocked && !contents.isDSFIDLocked && contents.lockedBlocks == [0, 3], "\(name)")
            #expect(contents.passwords[0x04] == 0x0F0F_0F0F, "\(name)")
        }
    }

    @Test(arguments: [TagImage.Format.proxmarkJSON, .proxmarkBinary])
    func `Proxmark3 ISO 15693: holds 256 blocks and 2048 bytes at most, and keeps the privacy password`(
        format: TagImage.Format
    ) throws {
        for (blocks, size, isHeld) in [(64, 32, true), (256, 8, true), (65, 32, false), (257, 4, false)] {
            let contents = Type5Contents(blank: .generic(blockCount: blocks, blockSize: size))
            #expect(format.canHold(.type5(contents)) == isHeld, "\(blocks) blocks of \(size)")
        }
        var contents = Type5Contents(blank: .icodeSLIX2)
        contents.passwords[0x04] = 0x0102_0384
        #expect(try TagContents.type5(contents).returns(in: format))
    }

    @Test func `Proxmark3 older ISO 15693 file: takes a change of its memory, and nothing else`() throws {
        for (type, body) in [
            ("15693", "\"raw\": \"E140040103000000\""),
            ("15693 v2", "\"blocks\": {\"0\": \"E1400401\", \"1\": \"03000000\"}"),
            ("15693 v3", "\"blocks\": {\"0\": \"E140040103000000\"}"),
        ] {
            let text = "{\"Created\": \"proxmark3\", \"FileType\": \"\(type)\", \(body)}"
            var image = try TagImage(parsing: Array(text.utf8))
            let size = type == "15693 v3" ? 8 : 4
            let product = Type5Product.generic(blockCount: 8 / size, blockSize: size)
            var contents = Type5Contents(blank: product, uid: hex("e0 00 00 00 00 00 00 00"))
            contents.memory = hex("e1 40 04 01 03 00 00 00")
            #expect(image.contents == .type5(contents), "\(type)")
            contents.memory[4] = 0xFE
            image.contents = .type5(contents)
            let changed = String(decoding: try image.encoded(), as: UTF8.self)
            #expect(changed == text.replacing("03000000", with: "FE000000"), "\(type)")
            for change in Self.losses {
                var other = contents
                change(&other)
                image.contents = .type5(other)
                #expect(throws: TagImageError(.lossy, "")) { try image.encoded() }
            }
        }
    }

    /// Changes that a file with the memory alone has no place for.
    private static let losses: [@Sendable (inout Type5Contents) -> Void] = [
        { $0.uid[7] = 1 }, { $0.lockedBlocks = [0] }, { $0.afi = 1 }, { $0.dsfid = 1 }, { $0.isAFILocked = true },
        { $0.isDSFIDLocked = true }, { $0.isSurveillanceSet = false }, { $0.isSurveillanceLocked = true },
        { $0.passwords[0x10] = 1 }, { $0.signature[0] = 1 }, { $0.counter = 1 }, { $0.protection.pointer = 1 },
        { $0.settings.isKilled = true },
    ]
}
