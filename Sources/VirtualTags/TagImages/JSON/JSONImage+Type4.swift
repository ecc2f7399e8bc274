// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

extension JSONImage {
    /// Reads a Type 4 tag: `files` by identifier in hexadecimal, and the activation: `ats`, `atqa`, `sak`; or for a
    /// Type 4B tag `application_data` and `protocol_info`, with the PUPI in `uid`.
    ///
    /// - MIFARE DESFire: the NDEF application in `files`, or all `applications`; and `get_version`, `free_memory`,
    ///   `keys` and `key_settings`.
    /// - NTAG 424 DNA: its three files, `read_counter`, `signature`, `keys` and `file_settings`.
    /// - NTAG 4xx or MIFARE Plus of which only the version is known: `get_version`.
    /// - Travel document: `mrz`. It needs no `ats` and no `files`.
    static func type4(_ fields: JSONFields) throws(TagImageError) -> Type4Contents {
        let name = try fields.text("product")
        if name == "eMRTD" {
            return Type4Contents(
                frontEnd: try frontEnd(fields, otherwise: { Type4FrontEnd.emrtd(uid: $0) }),
                kind: .emrtd(try emrtd(fields))
            )
        }
        let family = VersionCardContents.Family(rawValue: name)
        let isWithoutFiles = name == "generic ISO 14443-4" || name == "EMV card" || family != nil
        let hasFiles = !isWithoutFiles && !fields.hasValue("applications")
        let files = hasFiles ? try files(fields) : [:]
        let kind: Type4Contents.Kind
        switch name {
        case "generic Type 4": kind = .ndef(files: files)
        case "DESFire EV1", "DESFire EV2", "DESFire EV3":
            kind = .desfire(hasFiles ? try desfire(name, fields, files) : try desfire(fields))
        case "generic ISO 14443-4": kind = .unspecified
        case "EMV card": kind = .emv(try emv(fields))
        case "NTAG 424 DNA": kind = .ntag424(try ntag424(fields, files))
        default:
            guard let family else {
                throw TagImageError(
                    .unsupported,
                    "A tag of product \(name) is not supported yet.",
                    line: fields.line("product")
                )
            }
            kind = .version(try version(fields, family))
        }
        return Type4Contents(frontEnd: try frontEnd(fields), kind: kind)
    }

    /// - Parameter otherwise: the front end for a UID without an `ats`; nil when an `ats` is required.
    private static func frontEnd(
        _ fields: JSONFields,
        otherwise: (([UInt8]) -> Type4FrontEnd)? = nil
    ) throws(TagImageError) -> Type4FrontEnd {
        let uid = try fields.bytes("uid", count: nil)
        if fields.hasValue("protocol_info") {
            guard uid.count == 4 else {
                throw TagImageError(.malformed, "A PUPI has 4 bytes, not \(uid.count).", line: fields.line("uid"))
            }
            return .nfcB(
                pupi: uid,
                applicationData: try fields.bytes("application_data", count: 4),
                protocolInfo: try fields.bytes("protocol_info", count: 3)
            )
        }
        guard [4, 7, 10].contains(uid.count) else {
            throw TagImageError(.malformed, "A UID has 4, 7 or 10 bytes, not \(uid.count).", line: fields.line("uid"))
        }
        if let otherwise, !fields.hasValue("ats") { return otherwise(uid) }
        let ats = try fields.bytes("ats", count: nil)
        guard let length = ats.first, Int(length) == ats.count, ats.count <= 254 else {
            throw TagImageError(.malformed, "\"ats\" does not begin with its length.", line: fields.line("ats"))
        }
        let atqa = fields.hasValue("atqa") ? try fields.bytes("atqa", count: 2) : [0x03, 0x44]
        let sak = fields.hasValue("sak") ? try fields.bytes("sak", count: 1)[0] : 0x20
        return .nfcA(uid: uid, atqa: UInt16(high: atqa[0], low: atqa[1]), sak: sak, ats: ats)
    }

    static func files(_ fields: JSONFields) throws(TagImageError) -> [UInt16: [UInt8]] {
        var files: [UInt16: [UInt8]] = [:]
        for (key, text) in try fields.strings("files") {
            guard let bytes = [UInt8](hexadecimal: key.utf8), bytes.count == 2,
                let data = [UInt8](hexadecimal: text.utf8), data.count <= 0x1_0000
            else {
                throw TagImageError(
                    .malformed,
                    "File \"\(key)\" is not four digits with hexadecimal content.",
                    line: fields.line("files")
                )
            }
            files[UInt16(high: bytes[0], low: bytes[1])] = data
        }
        return files
    }

    private static func missing(_ identifier: UInt16, _ fields: JSONFields) -> TagImageError {
        let name = identifier.bigEndianBytes.hexText()
        return TagImageError(.missingField, "File \"\(name)\" is missing.", line: fields.line("files"))
    }

    private static func desfire(
        _ name: String,
        _ fields: JSONFields,
        _ files: [UInt16: [UInt8]]
    ) throws(TagImageError) -> DESFireContents {
        guard let container = files[0xE103] else { throw missing(0xE103, fields) }
        guard let ndef = files[0xE104] else { throw missing(0xE104, fields) }
        var contents = desfire(
            uid: try desfireIdentifier(fields),
            generation: DESFireContents.Generation.allCases.first { $0.name == name } ?? .ev1,
            container: container,
            ndef: ndef
        )
        if fields.hasValue("get_version") { contents.version = try fields.bytes("get_version", count: 28) }
        contents.configuration = try configuration(fields)
        try readKeys(of: &contents, fields)
        try readFreeMemory(of: &contents, fields)
        return contents
    }

    /// Returns the card's own UID. A card with a random UID has it in its version, or zeros.
    static func desfireIdentifier(_ fields: JSONFields) throws(TagImageError) -> [UInt8] {
        let uid = try fields.bytes("uid", count: nil)
        return uid.count == 7 ? uid : Array(try fields.bytes("get_version", count: 28)[14..<21])
    }

    /// Reads the memory that the card reports as free, if the image has it.
    static func readFreeMemory(of contents: inout DESFireContents, _ fields: JSONFields) throws(TagImageError) {
        if let free = try fields.number("free_memory", in: 0...0xFF_FFFF) { contents.freeMemory = free }
    }

    /// Returns a card with only the NDEF application, large enough for it.
    private static func desfire(
        uid: [UInt8],
        generation: DESFireContents.Generation = .ev1,
        container: [UInt8],
        ndef: [UInt8]
    ) -> DESFireContents {
        let size = DESFireContents.Size.allCases.first { $0.bytes >= ndef.count + container.count + 64 }
        return DESFireContents(
            uid: uid,
            generation: generation,
            size: size ?? .kilobytes8,
            applications: [.ndef(container: container, ndef: ndef)]
        )
    }

    /// Returns the two files of a card with only the NDEF application; nil when the card has more than them and its
    /// keys.
    private static func ndefFiles(of contents: DESFireContents) -> [UInt16: [UInt8]]? {
        guard let application = contents.applications.first, let container = application.files.first?.data,
            let ndef = application.files.last?.data
        else { return nil }
        var plain = desfire(uid: contents.uid, container: container, ndef: ndef)
        plain.version = contents.version
        plain.masterKey = contents.masterKey
        plain.reservedMemory = contents.reservedMemory
        plain.configuration = contents.configuration
        plain.applications[0].keySettings = application.keySettings
        plain.applications[0].keyCount = application.keyCount
        plain.applications[0].keys = application.keys
        return plain == contents ? [0xE103: container, 0xE104: ndef] : nil
    }

    private static func ntag424(
        _ fields: JSONFields,
        _ files: [UInt16: [UInt8]]
    ) throws(TagImageError) -> NTAG424Contents {
        var contents = NTAG424Contents(uid: try fields.bytes("uid", count: 7))
        for index in contents.files.indices {
            let identifier = contents.files[index].isoIdentifier
            guard let data = files[identifier] else { throw missing(identifier, fields) }
            guard data.count == contents.files[index].data.count else {
                throw TagImageError(.inconsistent, "A file is not of the product's size.", line: fields.line("files"))
            }
            contents.files[index].data = data
        }
        if fields.hasValue("signature") { contents.signature = try fields.bytes("signature", count: 56) }
        contents.readCounter = UInt32(try fields.number("read_counter", in: 0...0xFF_FFFF) ?? 0)
        try readKeys(of: &contents, fields)
        return contents
    }

    // MARK: Writing

    static func members(of contents: Type4Contents) -> [(String, String)] {
        var members: [(String, String)] = []
        switch contents.frontEnd {
        case .nfcA(_, let atqa, let sak, let ats):
            members.append(("ats", quoted(ats)))
            members.append(("sak", quoted([sak])))
            members.append(("atqa", quoted(atqa.bigEndianBytes)))
        case .nfcB(_, let data, let info):
            members.append(("application_data", quoted(data)))
            members.append(("protocol_info", quoted(info)))
        }
        var files: [UInt16: [UInt8]] = [:]
        switch contents.kind {
        case .ndef(let all): files = all
        case .desfire(let desfire):
            members.append(("get_version", quoted(desfire.version)))
            if desfire.reservedMemory != 0 { members.append(("free_memory", String(desfire.freeMemory))) }
            members += Self.members(of: desfire.configuration)
            guard let plain = ndefFiles(of: desfire) else { return members + Self.members(of: desfire) }
            files = plain
            members += keyMembers(of: desfire)
        case .ntag424(let ntag424):
            for file in ntag424.files { files[file.isoIdentifier] = file.data }
            if ntag424.readCounter != 0 { members.append(("read_counter", String(ntag424.readCounter))) }
            if ntag424.signature.contains(where: { $0 != 0 }) {
                members.append(("signature", quoted(ntag424.signature)))
            }
            members += keyMembers(of: ntag424)
        case .emrtd(let emrtd):
            files = emrtd.files
            members += self.members(of: emrtd)
        case .emv(let emv): return members + self.members(of: emv)
        case .version(let version): return members + self.members(of: version)
        case .unspecified: return members
        }
        let texts = files.sorted { $0.key < $1.key }.map { identifier, data in
            "\(quoted(identifier.bigEndianBytes)): \(quoted(data))"
        }
        return members + [("files", "{\(texts.joined(separator: ", "))}")]
    }

    // MARK: EMRTD

    /// Reads a travel document: `mrz`, the machine readable zone, with or without `\n` between lines; `files` by
    /// identifier, by default the files that `EMRTDContents` creates from the zone; and `card_access` if it has
    /// EF.CardAccess.
    static func emrtd(_ fields: JSONFields) throws(TagImageError) -> EMRTDContents {
        let text = try fields.text("mrz")
        let zone: MachineReadableZone
        var contents: EMRTDContents
        do {
            zone = try MachineReadableZone(text)
        } catch {
            throw TagImageError(.malformed, error.reason, line: fields.line("mrz"))
        }
        if fields.hasValue("files") {
            contents = EMRTDContents(zone, files: try files(fields))
        } else {
            do {
                contents = try EMRTDContents(zone, signer: .test)
            } catch {
                throw TagImageError(.unsupported, error.reason, line: fields.line("mrz"))
            }
        }
        if fields.hasValue("card_access") { contents.cardAccess = try fields.bytes("card_access", count: nil) }
        return contents
    }

    /// Returns the members of a document, without its files.
    static func members(of contents: EMRTDContents) -> [(String, String)] {
        // A zone has no characters that need an escape in JSON.
        [("mrz", "\"\(contents.zone.lines.joined())\"")]
            + (contents.cardAccess.map { [("card_access", quoted($0))] } ?? [])
    }
}
