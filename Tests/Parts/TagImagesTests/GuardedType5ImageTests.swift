// SPDX-License-Identifier: Apache-2.0
import TagImages
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Images of guarded Type 5 tags` {
    @Test func `What guards a tag is kept in its image`() throws {
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

    @Test(
        "A number is written from zero up to the greatest that the tag can hold",
        arguments: [
            (Type5Product.icodeSLIX2, "page_pointer", 0xFF), (.icodeSLIX2, "eas_id", 0xFFFF),
            (.st25tv02K, "st_eas_id", 0xFFFF),
        ]
    )
    func numbers(product: Type5Product, key: String, maximum: Int) throws {
        var contents = Type5Contents(blank: product)
        if product == .icodeSLIX2 {
            contents.protection.pointer = 18
            contents.protection.surveillanceIdentifier = 18
        } else {
            contents.settings.surveillanceIdentifier = 18
        }
        let text = String(decoding: try TagImage(.type5(contents)).encoded(), as: UTF8.self)
        let member = "\"\(key)\": 18"
        #expect(text.contains(member))
        for (value, code): (Int, TagImageError.Code?) in [
            (-1, .malformed), (0, nil), (maximum, nil), (maximum + 1, .malformed),
        ] {
            #expect(Files.failure(text.replacing(member, with: "\"\(key)\": \(value)"))?.code == code, "\(value)")
        }
        // Without the member, the number is zero.
        let images = try ["\"\(key)\": 0", "\"note\": 18"].map { other in
            try TagImage(parsing: Array(text.replacing(member, with: other).utf8)).contents
        }
        #expect(images[0] == images[1] && images[0] != .type5(contents))
    }
}
