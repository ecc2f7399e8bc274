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
}
