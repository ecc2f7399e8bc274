// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Images of guarded Type 5 tags.
struct GuardedType5ImageTests {
    @Test func `Type 5 image: all that guards a tag is kept`() throws {
        var slix = Type5Contents(blank: .icodeSLIX2)
        slix.protection.pointer = 40
        slix.protection.condition = [.readLow, .writeHigh]
        slix.protection.isConditionLocked = true
        slix.protection.lockedPasswords = [0x01, 0x10]
        slix.protection.needsBothPasswords = true
        slix.protection.isSurveillanceProtected = true
        slix.protection.isFamilyProtected = true
        slix.protection.surveillanceIdentifier = 0x1234
        slix.protection.isCounterProtected = true
        slix.protection.isPrivate = true
        slix.protection.isDestroyed = true
        slix.protection.isPersistentlyQuiet = true
        var plain = Type5Contents(blank: .st25tv02K)
        plain.settings.registers[0] = 0x07
        plain.settings.passwords[3] = [1, 2, 3, 4]
        plain.settings.isKillLocked = true
        plain.settings.isKilled = true
        plain.settings.isUntraceable = true
        plain.settings.isSurveillanceSet = true
        plain.settings.isSurveillanceLocked = true
        plain.settings.surveillanceIdentifier = 0x4321
        plain.settings.telegram[31] = 0x55
        plain.settings.telegramLength = 2
        plain.settings.isTamperLoopClosed = false
        var dynamic = Type5Contents(blank: .st25dv64K)
        dynamic.settings.registers[5] = 0x10
        dynamic.settings.passwords[1][7] = 0x77
        dynamic.settings.isSupplied = false
        for contents in [slix, plain, dynamic] {
            let image = try TagImage(parsing: TagImage(.type5(contents)).encoded())
            #expect(image.contents == .type5(contents))
        }
    }
}

/// Type 5 tags in every format.
struct Type5ImageTests {
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

    @Test
    func `Flipper SLIX2: lines for all that guards it`() throws {
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

    @Test
    func `Flipper SLIX: nothing that a SLIX2 alone has`() throws {
        let slix = Type5Contents(blank: .icodeSLIX)
        let text = try text(slix, .flipper)
        #expect(text.hasSuffix("\nPassword EAS: 00 00 00 00\nLock EAS: false\n"))
        for word in ["Signature", "Privacy", "Protection", "Lock PPL"] { #expect(!text.contains(word), "\(word)") }
        let more = text.replacing("Password EAS:", with: "Password Read: 01 02 03 04\nPassword EAS:")
        #expect(try contents(more) == slix)
    }

    @Test
    func `Type 5 IC reference: zero where a file has none`() throws {
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

    @Test
    func `JSON Type 5 as delivered: its memory alone`() throws {
        for product in [Type5Product.icodeSLIX, .st25tv512, .generic(blockCount: 16)] {
            let text = try text(Type5Contents(blank: product), .json)
            let last = try #require(text.split(separator: ", ").last)
            #expect(last.hasPrefix("\"memory_hex\": "), "\(product)")
        }
    }
}
