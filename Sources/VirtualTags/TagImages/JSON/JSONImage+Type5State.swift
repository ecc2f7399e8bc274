// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// The protection state of a Type 5 tag in the project's own images.
extension JSONImage {
    /// Reads the values that differ from those of a new tag. For an ICODE: `page_pointer`, `page_condition`,
    /// `page_locked`, `locked_passwords`, `passwords_joined`, `eas_protected`, `afi_protected`, `eas_id`,
    /// `counter_protected`, `private`, `destroyed`, `persistent_quiet`, `accepts_every_password`. For an ST25:
    /// `registers`, `st_passwords` concatenated, `kill_locked`, `killed`, `untraceable`, `st_eas`, `st_eas_locked`,
    /// `st_eas_id`, `telegram`, `telegram_length`, `tamper_open`, `unsupplied`.
    static func readState(_ fields: JSONFields, into contents: inout Type5Contents) throws(TagImageError) {
        var state = contents.protection
        state.pointer = UInt8(try fields.number("page_pointer", in: 0...0xFF) ?? 0)
        if fields.hasValue("page_condition") {
            state.condition = ICODEProtection.Condition(rawValue: try fields.bytes("page_condition", count: 1)[0])
        }
        state.isConditionLocked = try fields.flag("page_locked") ?? false
        state.lockedPasswords = Set((try fields.list("locked_passwords", upTo: 0xFF) ?? []).map { UInt8($0) })
        state.needsBothPasswords = try fields.flag("passwords_joined") ?? false
        state.isSurveillanceProtected = try fields.flag("eas_protected") ?? false
        state.isFamilyProtected = try fields.flag("afi_protected") ?? false
        state.surveillanceIdentifier = UInt16(try fields.number("eas_id", in: 0...0xFFFF) ?? 0)
        state.isCounterProtected = try fields.flag("counter_protected") ?? false
        state.isPrivate = try fields.flag("private") ?? false
        state.isDestroyed = try fields.flag("destroyed") ?? false
        state.isPersistentlyQuiet = try fields.flag("persistent_quiet") ?? false
        state.acceptsEveryPassword = try fields.flag("accepts_every_password") ?? false
        contents.protection = state
        contents.settings = try settings(fields, contents.settings)
    }

    private static func settings(_ fields: JSONFields, _ blank: ST25Settings) throws(TagImageError) -> ST25Settings {
        var settings = blank
        if fields.hasValue("registers") {
            settings.registers = try fields.bytes("registers", count: blank.registers.count)
        }
        if fields.hasValue("st_passwords") {
            let size = blank.passwords[0].count
            let bytes = try fields.bytes("st_passwords", count: 4 * size)
            settings.passwords = (0..<4).map { Array(bytes[($0 * size)..<(($0 + 1) * size)]) }
        }
        settings.isKillLocked = try fields.flag("kill_locked") ?? false
        settings.isKilled = try fields.flag("killed") ?? false
        settings.isUntraceable = try fields.flag("untraceable") ?? false
        settings.isSurveillanceSet = try fields.flag("st_eas") ?? false
        settings.isSurveillanceLocked = try fields.flag("st_eas_locked") ?? false
        settings.surveillanceIdentifier = UInt16(try fields.number("st_eas_id", in: 0...0xFFFF) ?? 0)
        if fields.hasValue("telegram") { settings.telegram = try fields.bytes("telegram", count: 32) }
        settings.telegramLength = UInt8(try fields.number("telegram_length", in: 0...3) ?? 0)
        settings.isTamperLoopClosed = try !(fields.flag("tamper_open") ?? false)
        settings.isSupplied = try !(fields.flag("unsupplied") ?? false)
        return settings
    }

    /// Returns the members that ``readState(_:into:)`` reads.
    static func stateMembers(of contents: Type5Contents) -> [(String, String)] {
        var members: [(String, String)] = []
        func add(_ key: String, _ differs: Bool, _ value: String = "true") {
            if differs { members.append((key, value)) }
        }
        let state = contents.protection
        add("page_pointer", state.pointer != 0, String(state.pointer))
        add("page_condition", !state.condition.isEmpty, quoted([state.condition.rawValue]))
        add("page_locked", state.isConditionLocked)
        let locked = state.lockedPasswords.sorted().map { String($0) }.joined(separator: ", ")
        add("locked_passwords", !state.lockedPasswords.isEmpty, "[\(locked)]")
        add("passwords_joined", state.needsBothPasswords)
        add("eas_protected", state.isSurveillanceProtected)
        add("afi_protected", state.isFamilyProtected)
        add("eas_id", state.surveillanceIdentifier != 0, String(state.surveillanceIdentifier))
        add("counter_protected", state.isCounterProtected)
        add("private", state.isPrivate)
        add("destroyed", state.isDestroyed)
        add("persistent_quiet", state.isPersistentlyQuiet)
        add("accepts_every_password", state.acceptsEveryPassword)
        let settings = contents.settings
        let blank = ST25Settings(contents.product)
        add("registers", settings.registers != blank.registers, quoted(settings.registers))
        add("st_passwords", settings.passwords != blank.passwords, quoted(settings.passwords.flatMap(\.self)))
        add("kill_locked", settings.isKillLocked)
        add("killed", settings.isKilled)
        add("untraceable", settings.isUntraceable)
        add("st_eas", settings.isSurveillanceSet)
        add("st_eas_locked", settings.isSurveillanceLocked)
        add("st_eas_id", settings.surveillanceIdentifier != 0, String(settings.surveillanceIdentifier))
        add("telegram", settings.telegram != blank.telegram, quoted(settings.telegram))
        add("telegram_length", settings.telegramLength != 0, String(settings.telegramLength))
        add("tamper_open", !settings.isTamperLoopClosed)
        add("unsupplied", !settings.isSupplied)
        return members
    }
}
