// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Files of FeliCa cards: the 28 blocks of Lite and Lite-S, or the systems of Standard.
extension FlipperTagDump {
    static func type3(
        _ fields: FlipperFields,
        _ remarks: inout Remarks
    ) throws(TagImageError) -> VirtualType3Tag.Contents {
        let uid = try fields.bytes("UID", count: 8)
        let idm = try fields.bytes("Manufacture id", count: 8)
        if uid != idm {
            let (header, manufacture) = (uid.hexText(), idm.hexText())
            let text = "\"UID\" is \(header), and \"Manufacture id\" is \(manufacture), which the tag answers with."
            remarks.append(TagImageRemark(.contradiction, text))
        }
        if fields.hasValue("Block 27") { return .liteS(try liteS(fields, &remarks)) }
        if fields.hasValue("System found") || fields.hasValue("Service found") {
            return .standard(try standard(fields))
        }
        let reason =
            "The file has the IDm and the PMm of a FeliCa tag, but neither the 28 blocks of a Lite or Lite-S nor the "
            + "systems of a Standard card: such a tag would have nothing to read."
        throw fields.error(.unsupported, "Device type", reason)
    }

    // MARK: Lite-S

    /// The blocks with a property of their own, by their position in a file.
    private static var ownBlocks: [(Int, WritableKeyPath<FeliCaLiteSContents, [UInt8]>)] {
        [(14, \.register), (19, \.serviceCode), (21, \.keyVersion), (22, \.cardKey), (23, \.memoryConfiguration)]
    }

    private static func liteS(
        _ fields: FlipperFields,
        _ remarks: inout [TagImageRemark]
    ) throws(TagImageError) -> FeliCaLiteSContents {
        var contents = FeliCaLiteSContents(
            idm: try fields.bytes("Manufacture id", count: 8),
            pmm: try fields.bytes("Manufacture parameter", count: 8)
        )
        var unread: [String] = []
        var damaged: [String] = []
        var blocks = [[UInt8]](repeating: [], count: 28)
        for index in [0..<15, 17..<20, 21..<25].joined() {
            // Each block is preceded by the two status flags of its read.
            let bytes = try fields.bytesOrUnknown("Block \(index)", count: 18, damaged: &damaged).map { $0 ?? 0 }
            if bytes[0] != 0 { unread.append("block \(index)") }
            blocks[index] = Array(bytes[2...])
        }
        remarks += .damaged(damaged)
        contents.userMemory = Array(blocks[..<14].joined())
        for (index, path) in ownBlocks { contents[keyPath: path] = blocks[index] }
        contents.identifierExtension = Array(blocks[17].suffix(8))
        if blocks[18] != contents.idm + contents.pmm { contents.deviceIdentifier = blocks[18] }
        contents.writeCounter = UInt32(blocks[24].littleEndian(at: 0, count: 3))
        if !unread.isEmpty {
            let text = "The tag did not allow reading \(TagImage.list(unread)); the file mostly has zeros there."
            remarks.append(TagImageRemark(.missing, text))
        }
        return contents
    }

    static func fields(of contents: FeliCaLiteSContents) -> [FlipperLine]? {
        var blocks = [[UInt8]](repeating: Array(repeating: 0, count: 16), count: 28)
        for index in 0..<14 { blocks[index] = Array(contents.userMemory[(index * 16)..<(index * 16 + 16)]) }
        for (index, path) in ownBlocks { blocks[index] = contents[keyPath: path] }
        blocks[17] = contents.idm + contents.identifierExtension
        blocks[18] = contents.deviceIdentifier ?? contents.idm + contents.pmm
        blocks[20] = [0x88, 0xB4] + Array(repeating: 0, count: 14)
        blocks[24] = [UInt8](littleEndian: Int(contents.writeCounter), count: 16)
        var lines = header(
            idm: contents.idm,
            pmm: contents.pmm,
            name: contents.pmm[1] == 0xF0 ? "FeliCa Lite" : "FeliCa Lite-S"
        )
        lines += [
            .comment("Felica Lite specific data"), .field("Blocks total", "28"), .field("Blocks read", "28"),
        ]
        // The first two bytes are the status flags of a successful read.
        for (index, block) in blocks.enumerated() {
            lines.append(.field("Block \(index)", bytes: [0x00, 0x00] + block))
        }
        return lines
    }

    private static func header(idm: [UInt8], pmm: [UInt8], name: String) -> [FlipperLine] {
        FlipperLine.header(deviceType: "FeliCa", uid: idm) + [
            .comment("FeliCa specific data"), .field("Data format version", "2"),
            .field("Manufacture id", bytes: idm), .field("Manufacture parameter", bytes: pmm),
            .field("IC Type", name), .empty,
        ]
    }

    // MARK: Standard

    // Later file versions also contain key versions, and keys that a user has added.

    private static func standard(_ fields: FlipperFields) throws(TagImageError) -> FeliCaStandardContents {
        let count = try fields.number("System found", in: 1...16, default: 1)
        var systems: [FeliCaSystem] = []
        for index in 0..<count {
            let name = "System \(index.hexText(digits: 2))"
            let section = fields.inSection(name)
            // A file without this line describes a single system of unknown code: the one that answered first.
            let isNameless = count == 1 && !section.hasValue(name)
            systems.append(try system(isNameless ? fields : section, name: isNameless ? nil : name))
        }
        return FeliCaStandardContents(
            idm: try fields.bytes("Manufacture id", count: 8),
            pmm: try fields.bytes("Manufacture parameter", count: 8),
            systems: systems
        )
    }

    private static func system(_ fields: FlipperFields, name: String?) throws(TagImageError) -> FeliCaSystem {
        var system = FeliCaSystem(code: 0xFFFF, files: [])
        if let name {
            // Older files contain only the code.
            let parts = FlipperParts(try fields.text(name))
            system.code = try fields.code(parts.first, in: name)
            if let version = parts["Key version"] { system.keyVersion = try fields.code(version, in: name) }
            if fields.hasValue("\(name) Key") { system.key = try fields.bytes("\(name) Key") }
        }
        let services = try nodes(fields, "Service", of: &system)
        system.files = files(services.map(\.code), try blocks(fields))
        for (code, key, parts) in try nodes(fields, "Area", of: &system) {
            let places = (parts["Services"] ?? "").split(separator: "-").map { Int($0.dropFirst(), radix: 16) ?? -1 }
            guard places.count == 2, places.allSatisfy({ (0...1024).contains($0) }) else {
                throw fields.malformed(key, "has no part \"Services\" such as #000-#00A")
            }
            var area = FeliCaArea(code: code, firstService: places[0], lastService: places[1])
            if let end = parts["End"] { area.end = try fields.code(end, in: key) }
            system.areas.append(area)
        }
        // Every system has this root area with all services, so it need not be stored.
        if system.areas == rootArea(of: system), system.nodeKeyVersions[0] == nil, system.nodeKeys[0] == nil {
            system.areas = []
        }
        return takingVersions(asNDEF(system))
    }

    /// Reads the lines of areas or services. The keys and their versions are stored in the system.
    private static func nodes(
        _ fields: FlipperFields,
        _ kind: String,
        of system: inout FeliCaSystem
    ) throws(TagImageError) -> [(code: UInt16, key: String, parts: FlipperParts)] {
        let count = try fields.number("\(kind) found", in: 0...1024, default: 0)
        var nodes: [(code: UInt16, key: String, parts: FlipperParts)] = []
        for index in 0..<count {
            let key = "\(kind) \(index.hexText(digits: 3))"
            let parts = FlipperParts(try fields.text(key))
            guard let text = parts["Code"] else { throw fields.malformed(key, "has no part \"Code\"") }
            let code = try fields.code(text, in: key)
            if let version = parts["Key version"] { system.nodeKeyVersions[code] = try fields.code(version, in: key) }
            if fields.hasValue("\(key) Key") { system.nodeKeys[code] = try fields.bytes("\(key) Key") }
            nodes.append((code, key, parts))
        }
        return nodes
    }

    /// Reads the public blocks of each service. For other services, the number of blocks is unknown.
    private static func blocks(_ fields: FlipperFields) throws(TagImageError) -> [UInt16: [UInt8]] {
        let count = try fields.number("Public blocks read", in: 0...0xFFFF, default: 0)
        var blocks: [UInt16: [UInt8]] = [:]
        for index in 0..<count {
            let key = "Block \(index.hexText(digits: 4))"
            let parts = FlipperParts(try fields.text(key))
            let service = try fields.code(parts["Service code"] ?? "", in: key)
            guard let place = [UInt8](hexadecimal: (parts["Block index"] ?? "").utf8), place.count == 1,
                let data = [UInt8](hexadecimal: (parts["Data:"] ?? "").utf8, separated: true), data.count == 16,
                Int(place[0]) * 16 == blocks[service, default: []].count
            else { throw fields.malformed(key, "is not the next block of its service, with 16 bytes") }
            blocks[service, default: []] += data
        }
        return blocks
    }

    /// Groups services into files. Services with the same number share their blocks, unless the dump's blocks differ.
    private static func files(_ services: [UInt16], _ blocks: [UInt16: [UInt8]]) -> [FeliCaFile] {
        var files: [FeliCaFile] = []
        for code in services {
            let memory = blocks[code] ?? []
            let shared = files.firstIndex { file in
                file.serviceCodes[0] >> 6 == code >> 6 && zip(file.memory, memory).allSatisfy { $0 == $1 }
            }
            guard let shared else {
                files.append(FeliCaFile(serviceCodes: [code], memory: memory))
                continue
            }
            files[shared].serviceCodes.append(code)
            if memory.count > files[shared].memory.count { files[shared].memory = memory }
        }
        return files
    }

    /// Applies the block limits from the attribute block of an NDEF system.
    private static func asNDEF(_ system: FeliCaSystem) -> FeliCaSystem {
        guard system.code == 0x12FC, system.files.map(\.serviceCodes) == [[0x0009, 0x000B]] else { return system }
        let limits = FeliCaSystem(ndef: system.files[0].memory)
        var system = system
        (system.maximumRead, system.maximumWrite) = (limits.maximumRead, limits.maximumWrite)
        return system
    }

    /// Returns the system with a common key version for each file whose services all have the same version.
    private static func takingVersions(_ system: FeliCaSystem) -> FeliCaSystem {
        var system = system
        for index in system.files.indices {
            let codes = system.files[index].serviceCodes
            guard let version = system.nodeKeyVersions[codes[0]], version != 0,
                codes.allSatisfy({ system.nodeKeyVersions[$0] == version })
            else { continue }
            system.files[index].keyVersion = version
            for code in codes { system.nodeKeyVersions[code] = nil }
        }
        return system
    }

    private static func rootArea(of system: FeliCaSystem) -> [FeliCaArea] {
        [FeliCaArea(code: 0, lastService: max(0, system.serviceCodes.count - 1))]
    }

    // MARK: Writing

    static func fields(of contents: FeliCaStandardContents) -> [FlipperLine]? {
        guard (1...16).contains(contents.systems.count) else { return nil }
        var lines = header(idm: contents.idm, pmm: contents.pmm, name: "FeliCa Standard")
        lines += [
            .comment("Felica Standard specific data"), .field("System found", String(contents.systems.count)),
        ]
        for (index, system) in contents.systems.enumerated() {
            lines += fields(of: system, name: "System \(index.hexText(digits: 2))")
        }
        return lines
    }

    private static func fields(of system: FeliCaSystem, name: String) -> [FlipperLine] {
        let version = system.keyVersion.map { " | Key version \($0.hexText(digits: 4)) |" }
        var lines: [FlipperLine] = [
            .empty, .empty, .field(name, system.code.hexText(digits: 4) + (version ?? "")),
        ]
        if let key = system.key { lines.append(.field("\(name) Key", bytes: key)) }
        let areas = system.areas.isEmpty ? rootArea(of: system) : system.areas
        lines += [.empty, .field("Area found", String(areas.count))]
        for (index, area) in areas.enumerated() {
            var text = "| Code \(area.code.hexText(digits: 4)) |"
            if let end = area.end { text += " End \(end.hexText(digits: 4)) |" }
            let places = [area.firstService, area.lastService].map { "#\($0.hexText(digits: 3))" }
            text += " Services \(places[0])-\(places[1]) |"
            lines += node(area.code, "Area \(index.hexText(digits: 3))", text, of: system, fileVersion: 0)
        }
        lines += [.empty, .field("Service found", String(system.serviceCodes.count))]
        var index = 0
        for file in system.files {
            for code in file.serviceCodes {
                let key = "Service \(index.hexText(digits: 3))"
                let head = "| Code \(code.hexText(digits: 4)) | Attrib. \((code & 0x3F).hexText(digits: 2))"
                let text = "\(head) | \(attributes(code)) |"
                lines += node(code, key, text, of: system, fileVersion: file.keyVersion)
                index += 1
            }
        }
        lines.append(.empty)
        return lines + blockFields(of: system)
    }

    private static func node(
        _ code: UInt16,
        _ key: String,
        _ text: String,
        of system: FeliCaSystem,
        fileVersion: UInt16
    ) -> [FlipperLine] {
        let version = system.nodeKeyVersions[code] ?? (fileVersion == 0 ? nil : fileVersion)
        let end = version.map { " Key version \($0.hexText(digits: 4)) |" } ?? ""
        return [.field(key, text + end)] + (system.nodeKeys[code].map { [.field("\(key) Key", bytes: $0)] } ?? [])
    }

    /// Describes a service's attribute in the firmware's words. The firmware calls cyclic blocks random.
    private static func attributes(_ code: UInt16) -> String {
        let attribute = code & 0x3F
        let access = attribute & 0x01 == 1 ? "Public " : "Private"
        guard attribute & 0x10 == 0 else {
            let purse = ["Direct    ", "Cashback  ", "Decrement ", "Read Only "][Int(attribute >> 1 & 0x03)]
            return "\(access) | Purse  | \(purse)"
        }
        return "\(access) | Random | \(attribute & 0x02 == 0 ? "Read/Write" : "Read Only ")"
    }

    private static func blockFields(of system: FeliCaSystem) -> [FlipperLine] {
        var texts: [String] = []
        for file in system.files {
            // Bit 0 of the attribute means that no key is needed.
            for code in file.serviceCodes where code & 0x01 == 1 {
                for index in 0..<file.blockCount {
                    let data = Array(file.memory[(index * 16)..<(index * 16 + 16)]).spacedHexadecimalText
                    let service = "Service code \(code.hexText(digits: 4))"
                    texts.append("| \(service) | Block index \(index.hexText(digits: 2)) | Data: \(data) |")
                }
            }
        }
        let lines = texts.enumerated().map { FlipperLine.field("Block \($0.hexText(digits: 4))", $1) }
        return [.field("Public blocks read", String(texts.count))] + lines
    }
}

private struct FlipperParts {
    private let parts: [Substring]

    init(_ text: String) {
        parts = text.split(separator: "|", omittingEmptySubsequences: false).map { part in
            let start = part.drop { $0 == " " }
            return start[..<(start.lastIndex { $0 != " " }.map { start.index(after: $0) } ?? start.startIndex)]
        }
    }

    var first: String { parts.first.map { String($0) } ?? "" }

    subscript(name: String) -> String? {
        guard let part = parts.first(where: { $0.hasPrefix(name) }) else { return nil }
        return String(part.dropFirst(name.count).drop { $0 == " " })
    }
}
