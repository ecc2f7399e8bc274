// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Type 1 and Type 2 tags, MIFARE Classic, and tags known only by their activation.
extension JSONImage {
    // MARK: Type 1

    /// Reads a Type 1 tag: `memory_hex`, and `hr` if it differs from the product's own. `uid` is only checked.
    static func type1(_ fields: JSONFields) throws(TagImageError) -> Type1Contents {
        let product = try fields.product { Type1Product(named: $0) }
        let memory = try fields.bytes("memory_hex", count: product.memorySize)
        try checkUID(fields, against: memory)
        let header = fields.hasValue("hr") ? try fields.bytes("hr", count: 2) : nil
        return Type1Contents(product, memory: memory, header: header)
    }

    /// Checks that a memory begins with the UID.
    static func checkUID(_ fields: JSONFields, against memory: [UInt8]) throws(TagImageError) {
        guard try fields.bytes("uid", count: 7) == Array(memory.prefix(7)) else {
            throw fields.error(.inconsistent, "uid", "\"uid\" does not match the start of the memory.")
        }
    }

    static func members(of contents: Type1Contents) -> [(String, String)] {
        let header = contents.header == contents.product.header ? [] : [("hr", quoted(contents.header))]
        return [("memory_hex", quoted(contents.memory))] + header
    }

    // MARK: Type 2

    /// The members of a Type 2 tag except `memory_hex` and `pages`. The high byte of ATQA comes first.
    private static var type2Members: [JSONMember<Type2Contents>] {
        [
            .word("atqa", \.atqa), .byte("sak", \.sak),
            JSONMember("get_version") { (fields, contents) throws(TagImageError) in
                guard contents.product.version != nil else { return }
                contents.version = try fields.bytes("get_version", count: 8)
            } write: {
                $0.version.map { .bytes($0) } ?? .null
            },
            .bytes("signature", \.signature, count: 32),
            JSONMember("counters") { (fields, contents) throws(TagImageError) in
                contents.counters = try fields.numbers("counters", count: 3, upTo: 0xFF_FFFF).map { UInt32($0) }
            } write: {
                .numbers($0.counters.map { Int($0) })
            },
            .bytes("tearing_flags", \.tearingFlags, count: 3),
            .number("failed_authentications", \.failedAuthentications, in: 0...0xFFFF_FFFF),
        ]
    }

    /// Reads a Type 2 tag: `uid`, `memory_hex`, and the members of the table where they differ from the product's
    /// defaults. `pages` is only checked.
    static func type2(_ fields: JSONFields) throws(TagImageError) -> Type2Contents {
        let product = try fields.product { Type2Product(named: $0) }
        let uid = try fields.nfcAIdentifier("uid")
        let memory = try fields.bytes("memory_hex")
        let count = memory.count / 4
        guard memory.count % 4 == 0 else {
            let reason = "The memory has \(memory.count) bytes, but needs a multiple of 4."
            throw fields.error(.malformed, "memory_hex", reason)
        }
        guard count <= product.pageCount else {
            let reason = "The memory has \(count) pages, more than the \(product.pageCount) of the \(product)."
            throw fields.error(.inconsistent, "memory_hex", reason)
        }
        let pages = try fields.number("pages", in: 0...100_000, default: count)
        guard pages == count else {
            throw fields.error(.inconsistent, "pages", "\"pages\" is \(pages), but the memory has \(count).")
        }
        var contents = Type2Contents(blank: product, uid: uid)
        contents.memory = memory
        try fields.read(type2Members, into: &contents)
        return contents
    }

    static func members(of contents: Type2Contents) -> [(String, String)] {
        let blank = Type2Contents(blank: contents.product, uid: contents.uid)
        return [("pages", String(contents.memory.count / 4)), ("memory_hex", quoted(contents.memory))]
            + members(type2Members, of: contents, unlike: blank)
    }

    static func changes(from old: Type2Contents, to new: Type2Contents) -> [(String, String)] {
        let memory = old.memory == new.memory ? [] : [("memory_hex", quoted(new.memory))]
        let pages = old.memory.count == new.memory.count ? [] : [("pages", String(new.memory.count / 4))]
        return memory + pages + members(type2Members, of: new, unlike: old)
    }

    // MARK: MIFARE Classic

    /// Reads a MIFARE Classic: `memory_hex`, `atqa`, `sak`, and optionally `unknown_octets` and `signature`.
    static func classic(_ fields: JSONFields) throws(TagImageError) -> ClassicContents {
        let product = try fields.product { ClassicProduct(named: $0) }
        let memory = try fields.bytes("memory_hex", count: product.memorySize)
        var contents = ClassicContents(product, memory: memory, uid: try fields.nfcAIdentifier("uid"))
        contents.atqa = try fields.word("atqa")
        contents.sak = try fields.byte("sak")
        if fields.hasValue("unknown_octets") {
            contents.unknownBytes = Set(try fields.numbers("unknown_octets", upTo: memory.count - 1))
        }
        if fields.hasValue("signature") { contents.signature = try fields.bytes("signature") }
        return contents
    }

    static func members(of contents: ClassicContents) -> [(String, String)] {
        var members = [("memory_hex", quoted(contents.memory))] + activation(contents.atqa, contents.sak)
        if !contents.unknownBytes.isEmpty { members.append(("unknown_octets", array(contents.unknownBytes.sorted()))) }
        if !contents.signature.isEmpty { members.append(("signature", quoted(contents.signature))) }
        return members
    }

    // MARK: Activation only

    /// Reads a tag known only by its activation: `atqa` and `sak`.
    static func nfcA(_ fields: JSONFields) throws(TagImageError) -> NFCAContents {
        NFCAContents(uid: try fields.nfcAIdentifier("uid"), atqa: try fields.word("atqa"), sak: try fields.byte("sak"))
    }

    static func members(of contents: NFCAContents) -> [(String, String)] { activation(contents.atqa, contents.sak) }

    private static func activation(_ atqa: UInt16, _ sak: UInt8) -> [(String, String)] {
        [("atqa", quoted(atqa.bigEndianBytes)), ("sak", quoted([sak]))]
    }
}

extension JSONFields {
    func product<Product>(_ find: (String) -> Product?) throws(TagImageError) -> Product {
        let name = try text("product")
        guard let product = find(name) else {
            throw error(.unsupported, "product", "A tag of product \(name) is not supported yet.")
        }
        return product
    }
}

/// Type 3 tags: FeliCa Lite-S, and FeliCa Standard cards with their systems.
extension JSONImage {
    /// The values of a FeliCa Lite-S that may differ from those of a new chip.
    private static var liteSMembers: [JSONMember<FeliCaLiteSContents>] {
        [
            .bytes("register", \.register, count: 16), .bytes("id_extension", \.identifierExtension, count: 8),
            .bytes("service_code", \.serviceCode, count: 16), .bytes("key_version", \.keyVersion, count: 16),
            .bytes("card_key", \.cardKey, count: 16),
            .bytes("memory_configuration", \.memoryConfiguration, count: 16),
            .bytes("device_id", \.deviceIdentifier, count: 16),
            .number("write_counter", \.writeCounter, in: 0...0xFF_FFFF),
        ]
    }

    /// Reads a Type 3 tag: `pmm`, and `memory_hex` starting with the attribute information block, or `systems`.
    static func type3(_ fields: JSONFields) throws(TagImageError) -> VirtualType3Tag.Contents {
        let idm = try fields.bytes("uid", count: 8)
        let pmm = try fields.bytes("pmm", count: 8)
        switch try fields.text("product") {
        case "FeliCa Lite-S":
            var contents = FeliCaLiteSContents(idm: idm, pmm: pmm)
            contents.userMemory = try fields.bytes("memory_hex", count: 224)
            try fields.read(liteSMembers, into: &contents)
            return .liteS(contents)
        case "generic Type 3" where fields.hasValue("systems"), "FeliCa":
            return .standard(FeliCaStandardContents(idm: idm, pmm: pmm, systems: try systems(fields)))
        case "generic Type 3":
            let memory = try fields.bytes("memory_hex")
            guard memory.count % 16 == 0, (16...0x10_0000).contains(memory.count) else {
                let reason = "The memory has \(memory.count) bytes, but needs a multiple of 16, from 16 to 1,048,576."
                throw fields.error(.inconsistent, "memory_hex", reason)
            }
            return .standard(FeliCaStandardContents(idm: idm, pmm: pmm, systems: [FeliCaSystem(ndef: memory)]))
        default: return try fields.product { _ in nil }
        }
    }

    static func members(of contents: VirtualType3Tag.Contents) -> [(String, String)] {
        switch contents {
        case .liteS(let contents):
            let blank = FeliCaLiteSContents(idm: contents.idm, pmm: contents.pmm)
            return [("pmm", quoted(contents.pmm)), ("memory_hex", quoted(contents.userMemory))]
                + members(liteSMembers, of: contents, unlike: blank)
        case .standard(let contents):
            let memory = contents.systems.first?.files.first?.memory ?? []
            let isPlain = !memory.isEmpty && contents.systems == [FeliCaSystem(ndef: memory)]
            let content = isPlain ? ("memory_hex", quoted(memory)) : ("systems", object(of: contents.systems))
            return [("pmm", quoted(contents.pmm)), content]
        }
    }

    // MARK: Systems

    /// Reads `systems` by code. Each has `maximum_read`, `maximum_write`, and `files`, whose key lists the service
    /// codes, separated by commas. A file has `memory_hex` and `key_version`. Optional members of a system: `areas` by
    /// code with `services` and `end`, `key_version`, `key`, and `key_versions` and `node_keys` by code.
    private static func systems(_ fields: JSONFields) throws(TagImageError) -> [FeliCaSystem] {
        let objects = fields.object("systems")
        guard (1...16).contains(objects.keys.count) else {
            throw fields.error(.inconsistent, "systems", "A card has 1 to 16 systems.")
        }
        var systems: [FeliCaSystem] = []
        for key in objects.keys {
            let object = objects.object(key)
            let files = object.object("files")
            var system = FeliCaSystem(
                code: try objects.code(key, in: key),
                files: try files.keys.map { key throws(TagImageError) in
                    FeliCaFile(
                        serviceCodes: try key.split(separator: ",").map { part throws(TagImageError) in
                            try files.code(part, in: key)
                        },
                        memory: try files.object(key).bytes("memory_hex"),
                        keyVersion: UInt16(try files.object(key).number("key_version", in: 0...0xFFFF, default: 0))
                    )
                },
                maximumRead: try object.number("maximum_read", in: 1...255, default: 15),
                maximumWrite: try object.number("maximum_write", in: 1...255, default: 13)
            )
            try readNodes(of: &system, object)
            systems.append(system)
        }
        return systems
    }

    /// Reads the areas, and the keys with their versions.
    private static func readNodes(of system: inout FeliCaSystem, _ fields: JSONFields) throws(TagImageError) {
        let areas = fields.object("areas")
        for key in areas.keys {
            let area = areas.object(key)
            let services = area.hasValue("services") ? try area.numbers("services", count: 2, upTo: 1024) : [0, 0]
            system.areas.append(
                FeliCaArea(
                    code: try areas.code(key, in: key),
                    end: area.hasValue("end") ? try area.code(try area.text("end"), in: "end") : nil,
                    firstService: services[0],
                    lastService: services[1]
                )
            )
        }
        if fields.hasValue("key_version") {
            system.keyVersion = UInt16(try fields.number("key_version", in: 0...0xFFFF))
        }
        if fields.hasValue("key") { system.key = try fields.bytes("key") }
        let versions = fields.object("key_versions")
        for key in versions.keys where versions.hasValue(key) {
            let version = UInt16(try versions.number(key, in: 0...0xFFFF))
            system.nodeKeyVersions[try versions.code(key, in: key)] = version
        }
        let keys = fields.object("node_keys")
        for key in keys.keys { system.nodeKeys[try keys.code(key, in: key)] = try keys.bytes(key) }
    }

    private static func object(of systems: [FeliCaSystem]) -> String {
        func text(_ code: UInt16) -> String { code.bigEndianBytes.hexText() }
        return object(
            systems.map { system in
                let files = system.files.map { file in
                    let version = file.keyVersion == 0 ? [] : [("key_version", String(file.keyVersion))]
                    let members = object([("memory_hex", quoted(file.memory))] + version)
                    return (file.serviceCodes.map { text($0) }.joined(separator: ","), members)
                }
                var members = [
                    ("maximum_read", String(system.maximumRead)), ("maximum_write", String(system.maximumWrite)),
                    ("files", object(files)),
                ]
                let areas = system.areas.map { area in
                    let end = area.end.map { [("end", "\"\(text($0))\"")] } ?? []
                    let services = [("services", array([area.firstService, area.lastService]))]
                    return (text(area.code), object(services + end))
                }
                if !areas.isEmpty { members.append(("areas", object(areas))) }
                if let version = system.keyVersion { members.append(("key_version", String(version))) }
                if let key = system.key { members.append(("key", quoted(key))) }
                let versions = system.nodeKeyVersions.sorted { $0.key < $1.key }
                if !versions.isEmpty {
                    members.append(("key_versions", object(versions.map { (text($0.key), String($0.value)) })))
                }
                let keys = system.nodeKeys.sorted { $0.key < $1.key }.map { (text($0.key), quoted($0.value)) }
                if !keys.isEmpty { members.append(("node_keys", object(keys))) }
                return (text(system.code), object(members))
            }
        )
    }
}

/// Type 5 tags: `memory_hex`, `blocks`, `block_size`, and the values that differ from those of a new tag.
///
/// `passwords` are keyed by identifier, with bytes in transmission order. A generic tag has `ic_reference`.
extension JSONImage {
    private static var type5Members: [JSONMember<Type5Contents>] {
        [
            blocks("locked_blocks", \.lockedBlocks), blocks("unread_blocks", \.unreadBlocks),
            .byte("dsfid", \.dsfid), .byte("afi", \.afi),
            .flag("dsfid_locked", \.isDSFIDLocked), .flag("afi_locked", \.isAFILocked),
            .flag("eas", \.isSurveillanceSet), .flag("eas_locked", \.isSurveillanceLocked),
            .number("counter", \.counter, in: 0...0xFFFF), .bytes("signature", \.signature, count: 32),
        ]
    }

    private static func blocks(
        _ key: String,
        _ path: any WritableKeyPath<Type5Contents, Set<Int>> & Sendable
    ) -> JSONMember<Type5Contents> {
        JSONMember(key) { (fields, contents) throws(TagImageError) in
            contents[keyPath: path] = Set(try fields.numbers(key, upTo: contents.product.blockCount - 1))
        } write: {
            .numbers($0[keyPath: path].sorted())
        }
    }

    private static var protectionMembers: [JSONMember<ICODEProtection>] {
        [
            .number("page_pointer", \.pointer, in: 0...0xFF),
            .byte("page_condition", \.condition.rawValue),
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
        let blocks = fields.hasValue("blocks") ? try fields.number("blocks", in: 0...0x1_0000) : whole
        // Only an image of a tag whose memory was not read may have no blocks, and then "blocks" is 0.
        guard blocks * size == memory.count, blocks > 0 || fields.hasValue("blocks") else {
            let reason = "The memory has \(memory.count) bytes instead of \(blocks) blocks of \(size)."
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
