// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

extension JSONImage {
    private static func unsupported(_ name: String, _ fields: JSONFields) -> TagImageError {
        TagImageError(.unsupported, "A tag of product \(name) is not supported yet.", line: fields.line("product"))
    }

    private static func inconsistent(_ reason: String, _ key: String, _ fields: JSONFields) -> TagImageError {
        TagImageError(.inconsistent, reason, line: fields.line(key))
    }

    // MARK: Type 1

    /// Reads a Type 1 tag: `memory_hex`, and `hr` if it differs from the product's own. `uid` is only checked.
    static func type1(_ fields: JSONFields) throws(TagImageError) -> Type1Contents {
        let name = try fields.text("product")
        guard let product = Type1Product(named: name) else { throw unsupported(name, fields) }
        let memory = try fields.bytes("memory_hex", count: product.memorySize)
        guard try fields.bytes("uid", count: 7) == Array(memory.prefix(7)) else {
            throw inconsistent("\"uid\" is not what the memory begins with.", "uid", fields)
        }
        let header = fields.hasValue("hr") ? try fields.bytes("hr", count: 2) : nil
        return Type1Contents(product, memory: memory, header: header)
    }

    static func members(of contents: Type1Contents) -> [(String, String)] {
        let header = contents.header == contents.product.header ? [] : [("hr", quoted(contents.header))]
        return [("memory_hex", quoted(contents.memory))] + header
    }

    // MARK: Type 3

    /// Reads a Type 3 tag: `pmm`, `memory_hex` starting with the attribute information block, and for FeliCa Lite-S the
    /// values that differ from those of a new chip: `register`, `id_extension`, `device_id`, `service_code`,
    /// `key_version`, `card_key`, `memory_configuration`, `write_counter`.
    static func type3(_ fields: JSONFields) throws(TagImageError) -> VirtualType3Tag.Contents {
        let name = try fields.text("product")
        let idm = try fields.bytes("uid", count: 8)
        let pmm = try fields.bytes("pmm", count: 8)
        switch name {
        case "FeliCa Lite-S":
            var contents = FeliCaLiteSContents(idm: idm, pmm: pmm)
            contents.userMemory = try fields.bytes("memory_hex", count: 224)
            for (key, path) in liteSBlocks where fields.hasValue(key) {
                contents[keyPath: path] = try fields.bytes(key, count: contents[keyPath: path].count)
            }
            if fields.hasValue("device_id") { contents.deviceIdentifier = try fields.bytes("device_id", count: 16) }
            contents.writeCounter = UInt32(try fields.number("write_counter", in: 0...0xFF_FFFF) ?? 0)
            return .liteS(contents)
        case "generic Type 3" where fields.hasValue("systems"), "FeliCa":
            return .standard(FeliCaStandardContents(idm: idm, pmm: pmm, systems: try systems(fields)))
        case "generic Type 3":
            let memory = try fields.bytes("memory_hex", count: nil)
            guard memory.count % 16 == 0, (16...0x10_0000).contains(memory.count) else {
                throw inconsistent("\(memory.count) bytes are not whole blocks.", "memory_hex", fields)
            }
            return .standard(FeliCaStandardContents(idm: idm, pmm: pmm, systems: [FeliCaSystem(ndef: memory)]))
        default:
            throw unsupported(name, fields)
        }
    }

    private static var liteSBlocks: [(String, WritableKeyPath<FeliCaLiteSContents, [UInt8]>)] {
        [
            ("register", \.register), ("id_extension", \.identifierExtension), ("service_code", \.serviceCode),
            ("key_version", \.keyVersion), ("card_key", \.cardKey), ("memory_configuration", \.memoryConfiguration),
        ]
    }

    static func members(of contents: VirtualType3Tag.Contents) -> [(String, String)] {
        switch contents {
        case .liteS(let contents):
            let blank = FeliCaLiteSContents(idm: contents.idm, pmm: contents.pmm)
            var members = [("pmm", quoted(contents.pmm)), ("memory_hex", quoted(contents.userMemory))]
            for (key, path) in liteSBlocks where contents[keyPath: path] != blank[keyPath: path] {
                members.append((key, quoted(contents[keyPath: path])))
            }
            if let identifier = contents.deviceIdentifier { members.append(("device_id", quoted(identifier))) }
            if contents.writeCounter != 0 { members.append(("write_counter", String(contents.writeCounter))) }
            return members
        case .standard(let contents):
            let memory = contents.systems.first?.files.first?.memory ?? []
            let isPlain = !memory.isEmpty && contents.systems == [FeliCaSystem(ndef: memory)]
            let content = isPlain ? ("memory_hex", quoted(memory)) : ("systems", object(of: contents.systems))
            return [("pmm", quoted(contents.pmm)), content]
        }
    }

    // MARK: Type 5

    /// Reads a Type 5 tag: `memory_hex`, `blocks`, `block_size`, and the values that differ from those of a new tag:
    /// `locked_blocks`, `dsfid`, `afi`, `dsfid_locked`, `afi_locked`, `eas`, `eas_locked`, `counter`, `signature`,
    /// `passwords` by identifier as on the air, and for a generic tag `ic_reference`.
    static func type5(_ fields: JSONFields) throws(TagImageError) -> Type5Contents {
        let name = try fields.text("product")
        let size = try fields.number("block_size", in: 1...32) ?? 4
        let memory = try fields.bytes("memory_hex", count: nil)
        let blocks = try fields.number("blocks", in: 1...0x1_0000) ?? memory.count / size
        guard blocks * size == memory.count, blocks > 0 else {
            throw inconsistent("\(memory.count) bytes are not \(blocks) blocks of \(size).", "memory_hex", fields)
        }
        var product = Type5Product.all.first { $0.name == name }
        if name == "generic Type 5" {
            let reference = fields.hasValue("ic_reference") ? try fields.bytes("ic_reference", count: 1)[0] : 0
            product = .generic(blockCount: blocks, blockSize: size, icReference: reference)
        }
        guard let product else { throw unsupported(name, fields) }
        guard product.blockSize == size, blocks == product.dataBlockCount else {
            throw inconsistent(
                "The \(product) has \(product.dataBlockCount) blocks of \(product.blockSize).",
                "memory_hex",
                fields
            )
        }
        var contents = Type5Contents(blank: product, uid: try fields.bytes("uid", count: 8))
        contents.memory = memory
        contents.lockedBlocks = Set(try fields.list("locked_blocks", upTo: product.blockCount - 1) ?? [])
        if fields.hasValue("dsfid") { contents.dsfid = try fields.bytes("dsfid", count: 1)[0] }
        if fields.hasValue("afi") { contents.afi = try fields.bytes("afi", count: 1)[0] }
        if fields.hasValue("signature") { contents.signature = try fields.bytes("signature", count: 32) }
        contents.counter = UInt16(try fields.number("counter", in: 0...0xFFFF) ?? 0)
        contents.isDSFIDLocked = try fields.flag("dsfid_locked") ?? false
        contents.isAFILocked = try fields.flag("afi_locked") ?? false
        contents.isSurveillanceSet = try fields.flag("eas") ?? true
        contents.isSurveillanceLocked = try fields.flag("eas_locked") ?? false
        let passwords = fields.object("passwords")
        for identifier in contents.passwords.keys {
            let key = [identifier].hexText()
            guard passwords.hasValue(key) else { continue }
            contents.passwords[identifier] = UInt32(try passwords.bytes(key, count: 4).littleEndian(at: 0, count: 4))
        }
        try readState(fields, into: &contents)
        return contents
    }

    static func members(of contents: Type5Contents) -> [(String, String)] {
        let product = contents.product
        let blank = Type5Contents(blank: product, uid: contents.uid)
        var members = [
            ("block_size", String(product.blockSize)), ("blocks", String(contents.memory.count / product.blockSize)),
            ("memory_hex", quoted(contents.memory)),
        ]
        func add(_ key: String, _ differs: Bool, _ value: String) {
            if differs { members.append((key, value)) }
        }
        let locked = contents.lockedBlocks.sorted().map { String($0) }.joined(separator: ", ")
        add("locked_blocks", !contents.lockedBlocks.isEmpty, "[\(locked)]")
        add("dsfid", contents.dsfid != 0, quoted([contents.dsfid]))
        add("afi", contents.afi != 0, quoted([contents.afi]))
        add("dsfid_locked", contents.isDSFIDLocked, "true")
        add("afi_locked", contents.isAFILocked, "true")
        add("eas", !contents.isSurveillanceSet, "false")
        add("eas_locked", contents.isSurveillanceLocked, "true")
        add("counter", contents.counter != 0, String(contents.counter))
        add("signature", contents.signature != blank.signature, quoted(contents.signature))
        let passwords = contents.passwords.sorted { $0.key < $1.key }.map { identifier, password in
            ([identifier].hexText(), quoted([UInt8](littleEndian: Int(password), count: 4)))
        }
        add("passwords", contents.passwords != blank.passwords, object(passwords))
        let isGeneric = !Type5Product.all.contains { $0.name == product.name }
        add("ic_reference", isGeneric && product.icReference != 0, quoted([product.icReference]))
        members += stateMembers(of: contents)
        return members
    }
}

/// The systems of a FeliCa Standard card: `systems` by code, each with `maximum_read`, `maximum_write`, and `files` by
/// the codes of their services, separated by commas. A file has `memory_hex` and `key_version`. If known, a system also
/// has `areas` by code with `services` and `end`, `key_version`, `key`, and `key_versions` and `node_keys` by code.
extension JSONImage {
    static func systems(_ fields: JSONFields) throws(TagImageError) -> [FeliCaSystem] {
        let objects = fields.object("systems")
        guard (1...16).contains(objects.keys.count) else {
            throw TagImageError(.inconsistent, "A card has 1 to 16 systems.", line: fields.line("systems"))
        }
        var systems: [FeliCaSystem] = []
        for key in objects.keys {
            let system = objects.object(key)
            let files = system.object("files")
            var read = FeliCaSystem(
                code: try code(key, objects.line(key)),
                files: try files.keys.map { key throws(TagImageError) in
                    FeliCaFile(
                        serviceCodes: try key.split(separator: ",").map { part throws(TagImageError) in
                            try code(String(part), files.line(key))
                        },
                        memory: try files.object(key).bytes("memory_hex", count: nil),
                        keyVersion: UInt16(try files.object(key).number("key_version", in: 0...0xFFFF) ?? 0)
                    )
                },
                maximumRead: try system.number("maximum_read", in: 1...255) ?? 15,
                maximumWrite: try system.number("maximum_write", in: 1...255) ?? 13
            )
            try readNodes(of: &read, system)
            systems.append(read)
        }
        return systems
    }

    /// Reads the areas, and the keys with their versions.
    private static func readNodes(of system: inout FeliCaSystem, _ fields: JSONFields) throws(TagImageError) {
        let areas = fields.object("areas")
        for key in areas.keys {
            let area = areas.object(key)
            let services = try area.numbers("services", count: 2, upTo: 1024) ?? [0, 0]
            system.areas.append(
                FeliCaArea(
                    code: try code(key, areas.line(key)),
                    end: area.hasValue("end") ? try code(try area.text("end"), areas.line(key)) : nil,
                    firstService: services[0],
                    lastService: services[1]
                )
            )
        }
        system.keyVersion = try fields.number("key_version", in: 0...0xFFFF).map { UInt16($0) }
        if fields.hasValue("key") { system.key = try fields.bytes("key", count: nil) }
        let versions = fields.object("key_versions")
        for key in versions.keys {
            let version = try versions.number(key, in: 0...0xFFFF)
            system.nodeKeyVersions[try code(key, versions.line(key))] = version.map { UInt16($0) }
        }
        let keys = fields.object("node_keys")
        for key in keys.keys { system.nodeKeys[try code(key, keys.line(key))] = try keys.bytes(key, count: nil) }
    }

    private static func code(_ text: String, _ line: Int?) throws(TagImageError) -> UInt16 {
        guard let bytes = [UInt8](hexadecimal: text.utf8), bytes.count == 2 else {
            throw TagImageError(.malformed, "\"\(text)\" is not a code of four digits.", line: line)
        }
        return UInt16(high: bytes[0], low: bytes[1])
    }

    static func object(of systems: [FeliCaSystem]) -> String {
        func text(_ code: UInt16) -> String { code.bigEndianBytes.hexText() }
        return object(
            systems.map { system in
                let files = system.files.map { file in
                    let members = [("memory_hex", quoted(file.memory))]
                    let version = file.keyVersion == 0 ? [] : [("key_version", String(file.keyVersion))]
                    return (file.serviceCodes.map { text($0) }.joined(separator: ","), object(members + version))
                }
                var members = [
                    ("maximum_read", String(system.maximumRead)), ("maximum_write", String(system.maximumWrite)),
                    ("files", object(files)),
                ]
                let areas = system.areas.map { area in
                    let services = [("services", "[\(area.firstService), \(area.lastService)]")]
                    let end = area.end.map { [("end", "\"\(text($0))\"")] } ?? []
                    return (text(area.code), object(services + end))
                }
                if !areas.isEmpty { members.append(("areas", object(areas))) }
                if let version = system.keyVersion { members.append(("key_version", String(version))) }
                if let key = system.key { members.append(("key", quoted(key))) }
                let versions = system.nodeKeyVersions.sorted { $0.key < $1.key }.map {
                    (text($0.key), String($0.value))
                }
                if !versions.isEmpty { members.append(("key_versions", object(versions))) }
                let keys = system.nodeKeys.sorted { $0.key < $1.key }.map { (text($0.key), quoted($0.value)) }
                if !keys.isEmpty { members.append(("node_keys", object(keys))) }
                return (text(system.code), object(members))
            }
        )
    }
}
