// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Type 5 tags with everything that a format has a place for, and the ends of their sizes.
@Suite("Corners of Type 5 images")
struct Type5CornerTests {
    private func contents(_ text: String) throws -> Type5Contents {
        guard case .type5(let contents) = try TagImage(parsing: Array(text.utf8)).contents else {
            throw TagImageError(.unsupported, "")
        }
        return contents
    }

    private func text(_ contents: Type5Contents, _ format: TagImage.Format) throws -> String {
        String(decoding: try TagImage(.type5(contents), format: format).encoded(), as: UTF8.self)
    }

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

    @Test("A Flipper file of a SLIX2 has lines for all that guards it")
    func wholeSLIX2() throws {
        let text = try text(slix2, .flipper)
        #expect(
            text.contains(
                "\nPassword Read: 01 02 03 04\nPassword Write: 05 06 07 08\nPassword Privacy: 09 0A 0B 0C\n"
                    + "Password Destroy: 0D 0E 0F 10\nPassword EAS: 11 12 13 14\nSignature: 01 02 03"
            )
        )
        #expect(text.contains("\nLock DSFID: true\nLock AFI: false\n"))
        #expect(text.contains("\nPrivacy Mode: true\n"))
        #expect(text.hasSuffix("\n# SLIX Lock Bits\nLock EAS: true\nLock PPL: false\n"))
        #expect(try contents(text) == slix2)
    }

    @Test("A Flipper file of a SLIX has nothing that a SLIX2 alone has, and a password that it has not means nothing")
    func lesserSLIX() throws {
        let slix = Type5Contents(blank: .icodeSLIX)
        let text = try text(slix, .flipper)
        #expect(text.hasSuffix("\nPassword EAS: 00 00 00 00\nLock EAS: false\n"))
        for word in ["Signature", "Privacy", "Protection", "Lock PPL"] { #expect(!text.contains(word), "\(word)") }
        let more = text.replacing("Password EAS:", with: "Password Read: 01 02 03 04\nPassword EAS:")
        #expect(try contents(more) == slix)
    }

    @Test(
        "A block has 1 to 32 bytes, and a Flipper file 256 of them at most",
        arguments: [(64, 32, true), (256, 8, true), (256, 32, true), (257, 4, false)]
    )
    func sizes(blocks: Int, size: Int, isHeld: Bool) {
        let contents = TagContents.type5(Type5Contents(blank: .generic(blockCount: blocks, blockSize: size)))
        let canHold = TagImage.Format.flipper.canHold(contents)
        #expect(canHold == isHeld)
        guard !isHeld else { return }
        let error = #expect(throws: TagImageError.self) { try TagImage(contents, format: .flipper).encoded() }
        #expect(error?.reason == "A Flipper file has no place for such a tag: generic Type 5.")
    }

    @Test("The size of a block is one that there is", arguments: [0x00, 0x21] as [UInt8])
    func blockSizes(size: UInt8) throws {
        let line = "Block Size: \(hexText([size]))"
        let error = try Files.failure("slix2-every-password.nfc", "Block Size: 04", line)
        #expect(error?.code == .malformed && error?.line == 14)
        #expect(error?.reason == "A block has 1 to 32 bytes, not \(size).")
    }

    @Test("The IC reference is that of the tag, and zero where a file has none")
    func references() throws {
        let contents = Type5Contents(blank: .generic(blockCount: 8, blockSize: 4, icReference: 0x5A))
        for format in [TagImage.Format.flipper, .json, .proxmarkJSON, .proxmarkBinary] {
            let image = try TagImage(parsing: TagImage(.type5(contents), format: format).encoded())
            #expect(image.contents == .type5(contents), "\(format)")
        }
        let flipper = try text(contents, .flipper).replacing("\nIC Reference: 5A\n", with: "\n")
        #expect(try self.contents(flipper).product.icReference == 0)
        let json = try text(contents, .json).replacing(", \"ic_reference\": \"5a\"", with: "")
        #expect(try self.contents(json).product.icReference == 0)
        let proxmark = try text(contents, .proxmarkJSON).replacing("    \"ic\": \"5A\",\n", with: "")
        #expect(try self.contents(proxmark).product.icReference == 0)
    }

    // MARK: JSON

    @Test("A new image of an ICODE has its members in the order in which people read them")
    func membersOfICODE() throws {
        var contents = slix2
        contents.isAFILocked = true
        contents.isSurveillanceSet = false
        contents.protection.condition = [.writeHigh]
        contents.protection.isConditionLocked = true
        contents.protection.lockedPasswords = [0x10, 0xFF]
        contents.protection.needsBothPasswords = true
        contents.protection.isSurveillanceProtected = true
        contents.protection.isFamilyProtected = true
        contents.protection.surveillanceIdentifier = 18
        contents.protection.isDestroyed = true
        contents.protection.isPersistentlyQuiet = true
        contents.protection.acceptsEveryPassword = true
        let signature = (1...32).map { hexText([UInt8($0)]) }.joined()
        let text = try text(contents, .json)
        let expected =
            "\"locked_blocks\": [0, 78, 79], \"dsfid\": \"05\", \"afi\": \"21\", \"dsfid_locked\": true, "
            + "\"afi_locked\": true, \"eas\": false, \"eas_locked\": true, \"counter\": 300, "
            + "\"signature\": \"\(signature)\", \"passwords\": {\"01\": \"01020304\", \"02\": \"05060708\", "
            + "\"04\": \"090a0b0c\", \"08\": \"0d0e0f10\", \"10\": \"11121314\"}, "
            + "\"page_pointer\": 32, \"page_condition\": \"20\", \"page_locked\": true, "
            + "\"locked_passwords\": [16, 255], \"passwords_joined\": true, \"eas_protected\": true, "
            + "\"afi_protected\": true, \"eas_id\": 18, \"counter_protected\": true, \"private\": true, "
            + "\"destroyed\": true, \"persistent_quiet\": true, \"accepts_every_password\": true}\n"
        #expect(text.hasSuffix(expected), "\(text)")
        #expect(try self.contents(text) == contents)
        // The last block is that of the counter. There is none behind it.
        #expect(Files.failure(text.replacing("[0, 78, 79]", with: "[0, 78, 80]"))?.code == .malformed)
    }

    @Test("A new image of an ST25TV has its members in the order in which people read them")
    func membersOfST25TV() throws {
        var contents = Type5Contents(blank: .st25tv512)
        contents.settings.registers[0] = 0x07
        contents.settings.passwords[0] = [1, 2, 3, 4]
        contents.settings.isKillLocked = true
        contents.settings.isKilled = true
        contents.settings.isUntraceable = true
        contents.settings.isSurveillanceSet = true
        contents.settings.isSurveillanceLocked = true
        contents.settings.surveillanceIdentifier = 18
        contents.settings.telegram[0] = 0x55
        contents.settings.telegramLength = 3
        contents.settings.isTamperLoopClosed = false
        contents.settings.isSupplied = false
        let text = try text(contents, .json)
        let start = try #require(text.firstRange(of: "\"registers\": \"07")).lowerBound
        let keys = text[start...].split(separator: ", ").map { $0.split(separator: ":")[0] }
        let expected = [
            "registers", "st_passwords", "kill_locked", "killed", "untraceable", "st_eas", "st_eas_locked", "st_eas_id",
            "telegram", "telegram_length", "tamper_open", "unsupplied",
        ]
        #expect(keys.map { String($0) } == expected.map { "\"\($0)\"" })
        #expect(try self.contents(text) == contents)
        #expect(
            Files.failure(text.replacing("\"telegram_length\": 3", with: "\"telegram_length\": 4"))?.code == .malformed
        )
    }

    @Test("An image of a tag as delivered has its memory alone")
    func membersAsDelivered() throws {
        for product in [Type5Product.icodeSLIX, .st25tv512, .generic(blockCount: 16)] {
            let text = try text(Type5Contents(blank: product), .json)
            let last = try #require(text.split(separator: ", ").last)
            #expect(last.hasPrefix("\"memory_hex\": "), "\(product)")
        }
    }

    @Test(
        "The numbers of a Type 5 image agree with its memory",
        arguments: [
            ("\"blocks\": 16", "\"blocks\": 0", .malformed), ("\"blocks\": 16", "\"blocks\": 65536", .inconsistent),
            ("\"blocks\": 16", "\"blocks\": 65537", .malformed), ("\"blocks\": 16", "\"note\": 16", nil),
            ("\"block_size\": 4", "\"block_size\": 0", .malformed),
            ("\"block_size\": 4", "\"block_size\": 32", .inconsistent),
            ("\"block_size\": 4", "\"block_size\": 33", .malformed),
            ("\"block_size\": 4, \"blocks\": 16", "\"block_size\": 32, \"blocks\": 2", nil),
            ("\"generic Type 5\", ", "\"ST25TV512\", ", nil),
            ("\"generic Type 5\", ", "\"ST25TV02K\", ", .inconsistent),
            ("\"generic Type 5\", ", "\"ST25TV99\", ", .unsupported),
            ("\"blocks\": 16", "\"blocks\": 16, \"eas\": 1", .malformed),
            ("\"blocks\": 16", "\"blocks\": 16, \"locked_blocks\": 5", .malformed),
            ("\"blocks\": 16", "\"blocks\": 16, \"locked_blocks\": [15]", nil),
            ("\"blocks\": 16", "\"blocks\": 16, \"locked_blocks\": [0, 16]", .malformed),
            ("\"blocks\": 16", "\"blocks\": 16, \"counter\": 65535", nil),
            ("\"blocks\": 16", "\"blocks\": 16, \"counter\": 65536", .malformed),
            ("\"blocks\": 16", "\"blocks\": 16, \"locked_passwords\": [256]", .malformed),
        ] as [(String, String, TagImageError.Code?)]
    )
    func numbers(original: String, other: String, code: TagImageError.Code?) throws {
        let text = try text(Type5Contents(blank: .generic(blockCount: 16)), .json)
        #expect(text.contains(original))
        #expect(Files.failure(text.replacing(original, with: other))?.code == code)
    }

    @Test("A product has blocks of its size")
    func productSizes() throws {
        let text = try text(Type5Contents(blank: .generic(blockCount: 28, blockSize: 8)), .json)
            .replacing("\"generic Type 5\"", with: "\"ICODE SLIX\"")
        let error = try #require(Files.failure(text))
        #expect(error.code == .inconsistent && error.reason == "The ICODE SLIX has 28 blocks of 4.")
    }
}
