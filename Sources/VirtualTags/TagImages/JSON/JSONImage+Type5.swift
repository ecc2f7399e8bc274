// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Type 5 tags: `memory_hex`, `blocks`, `block_size`, and the values that differ from those of a new tag.
///
/// `passwords` are by identifier and as on the air; a generic tag has `ic_reference`.
extension JSONImage {
    private static var type5Members: [JSONMember<Type5Contents>] {
        [
            JSONMember("locked_blocks") { (fields, contents) throws(TagImageError) in
                contents.lockedBlocks = Set(try fields.numbers("locked_blocks", upTo: contents.product.blockCount - 1))
            } write: {
                .numbers($0.lockedBlocks.sorted())
            },
            .byte("dsfid", \.dsfid), .byte("afi", \.afi),
            .flag("dsfid_locked", \.isDSFIDLocked), .flag("afi_locked", \.isAFILocked),
            .flag("eas", \.isSurveillanceSet), .flag("eas_locked", \.isSurveillanceLocked),
            .number("counter", \.counter, in: 0...0xFFFF), .bytes("signature", \.signature, count: 32),
        ]
    }

    private static var protectionMembers: [JSONMember<ICODEProtection>] {
        [
            .number("page_pointer", \.pointer, in: 0...0xFF),
            JSONMember("page_condition") { (fields, state) throws(TagImageError) in
                state.condition = ICODEProtection.Condition(rawValue: try fields.byte("page_condition"))
            } write: {
                .bytes([$0.condition.rawValue])
            },
            .flag("page_locked", \.isConditionLocked),
            JSONMember("locked_passwords") { (fields, state) throws(TagImageError) in
                state.lockedPasswords = Set(try fields.numbers("locked_passwords", upTo: 0xFF).map { UInt8($0) })
            } write: {
                .numbers($0.lockedPasswords.sorted().map { Int($0) })
            },
            .flag("passwords_joined", \.needsBothPasswords), .flag("eas_protected", \.isSurveillanceProtected),
            .flag("afi_protected", \.isFamilyProtected),
            .number("eas_id", \.surveillanceIdentifier, in: 0...0xFFFF),
            .flag("counter_protected", \.isCounterProtected), .flag("private", \.isPrivate),
            .flag("destroyed", \.isDestroyed), .flag("persistent_quiet", \.isPersistentlyQuiet),
            .flag("accepts_every_password", \.acceptsEveryPassword),
        ]
    }

    /// The settings of an ST25TV or ST25DV. Its four passwords are concatenated.
    private static var settingsMembers: [JSONMember<ST25Settings>] {
        [
            JSONMember("registers") { (fields, settings) throws(TagImageError) in
                settings.registers = try fields.bytes("registers", count: settings.registers.count)
            } write: {
                .bytes($0.registers)
            },
            JSONMember("st_passwords") { (fields, settings) throws(TagImageError) in
                let size = settings.passwords[0].count
                let bytes = try fields.bytes("st_passwords", count: 4 * size)
                settings.passwords = (0..<4).map { Array(bytes[($0 * size)..<(($0 + 1) * size)]) }
            } write: {
                .bytes($0.passwords.flatMap(\.self))
            },
            .flag("kill_locked", \.isKillLocked), .flag("killed", \.isKilled), .flag("untraceable", \.isUntraceable),
            .flag("st_eas", \.isSurveillanceSet), .flag("st_eas_locked", \.isSurveillanceLocked),
            .number("st_eas_id", \.surveillanceIdentifier, in: 0...0xFFFF),
            .bytes("telegram", \.telegram, count: 32), .number("telegram_length", \.telegramLength, in: 0...3),
            .flag("tamper_open", \.isTamperLoopClosed, isInverted: true),
            .flag("unsupplied", \.isSupplied, isInverted: true),
        ]
    }

    static func type5(_ fields: JSONFields) throws(TagImageError) -> Type5Contents {
        let size = try fields.number("block_size", in: 1...32, default: 4)
        let memory = try fields.bytes("memory_hex")
        let whole = memory.count / size
        let blocks = fields.hasValue("blocks") ? try fields.number("blocks", in: 1...0x1_0000) : whole
        guard blocks * size == memory.count, blocks > 0 else {
            let reason = "\(memory.count) bytes are not \(blocks) blocks of \(size)."
            throw fields.error(.inconsistent, "memory_hex", reason)
        }
        let reference = try fields.byte("ic_reference", default: 0)
        let product = try fields.product { name in
            name == "generic Type 5"
                ? .generic(blockCount: blocks, blockSize: size, icReference: reference)
                : Type5Product.all.first { $0.name == name }
        }
        guard product.blockSize == size, blocks == product.dataBlockCount else {
            let reason = "The \(product) has \(product.dataBlockCount) blocks of \(product.blockSize)."
            throw fields.error(.inconsistent, "memory_hex", reason)
        }
        var contents = Type5Contents(blank: product, uid: try fields.bytes("uid", count: 8))
        contents.memory = memory
        try fields.read(type5Members, into: &contents)
        let passwords = fields.object("passwords")
        for identifier in contents.passwords.keys {
            let key = [identifier].hexText()
            guard passwords.hasValue(key) else { continue }
            contents.passwords[identifier] = UInt32(bytes: try passwords.bytes(key, count: 4).reversed())
        }
        try fields.read(protectionMembers, into: &contents.protection)
        try fields.read(settingsMembers, into: &contents.settings)
        return contents
    }

    static func members(of contents: Type5Contents) -> [(String, String)] {
        let product = contents.product
        let blank = Type5Contents(blank: product, uid: contents.uid)
        var members = [
            ("block_size", String(product.blockSize)), ("blocks", String(contents.memory.count / product.blockSize)),
            ("memory_hex", quoted(contents.memory)),
        ]
        members += Self.members(type5Members, of: contents, unlike: blank)
        if contents.passwords != blank.passwords {
            let passwords = contents.passwords.sorted { $0.key < $1.key }.map { identifier, password in
                ([identifier].hexText(), quoted([UInt8](littleEndian: Int(password), count: 4)))
            }
            members.append(("passwords", object(passwords)))
        }
        if product.icReference != 0, !Type5Product.all.contains(where: { $0.name == product.name }) {
            members.append(("ic_reference", quoted([product.icReference])))
        }
        members += Self.members(protectionMembers, of: contents.protection, unlike: blank.protection)
        return members + Self.members(settingsMembers, of: contents.settings, unlike: blank.settings)
    }
}
