// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Type 3 tags: FeliCa Lite-S, and cards with the systems of FeliCa Standard.
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
                throw fields.error(.inconsistent, "memory_hex", "\(memory.count) bytes are not whole blocks.")
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

    /// Reads `systems` by code, each with `maximum_read`, `maximum_write`, and `files` by the codes of their services,
    /// separated by commas. A file has `memory_hex` and `key_version`. If known, a system also has `areas` by code with
    /// `services` and `end`, `key_version`, `key`, and `key_versions` and `node_keys` by code.
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
