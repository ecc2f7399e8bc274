// SPDX-License-Identifier: Apache-2.0
import TagLink
import TextSafety
import VirtualTags

extension JSONImage {
    /// Reads a Type 4 tag: `files` by identifier in hexadecimal, and the activation. This is `ats`, `atqa` and `sak`;
    /// or, for a Type 4B tag, `application_data` and `protocol_info`, with the PUPI in `uid`.
    ///
    /// - MIFARE DESFire: the NDEF application in `files`, or all `applications`; and `get_version`, `free_memory`,
    ///   `keys` and `key_settings`.
    /// - NTAG 424 DNA: its three files, `read_counter`, `signature`, `keys`, `file_settings`, and `lrp` for LRP mode.
    /// - MIFARE Plus EV1: `memory_hex`, and the `keys` that are not those of a new card, by number in hexadecimal.
    /// - NTAG 4xx or MIFARE Plus known only by its version: `get_version`.
    /// - Travel document: `mrz`. It needs no `ats` and no `files`.
    /// - Card of ISO/IEC 7816: `applications` by name, each with its values by name, in hexadecimal.
    static func type4(_ fields: JSONFields) throws(TagImageError) -> Type4Contents {
        let name = try fields.text("product")
        let kind: Type4Contents.Kind
        switch name {
        case "generic Type 4": kind = .ndef(files: fields.hasValue("applications") ? [:] : try files(fields))
        case "DESFire EV1", "DESFire EV2", "DESFire EV3":
            let generation = DESFireContents.Generation.allCases.first { $0.name == name } ?? .ev1
            let files = fields.hasValue("applications") ? nil : try files(fields)
            kind = .desfire(try desfire(fields, generation, files: files))
        case "NTAG 424 DNA": kind = .ntag424(try ntag424(fields))
        case "eMRTD": kind = .emrtd(try emrtd(fields))
        case "EMV card": kind = .emv(try emv(fields))
        case "MIFARE Plus EV1": kind = .mifarePlus(try mifarePlus(fields))
        case "ISO 7816 card": kind = .applications(try applications(fields))
        case "generic ISO 14443-4": kind = .unspecified
        default: kind = .version(try version(fields))
        }
        return Type4Contents(frontEnd: try frontEnd(fields, needsATS: name != "eMRTD"), kind: kind)
    }

    static func members(of contents: Type4Contents) -> [(String, String)] {
        var members: [(String, String)] = []
        switch contents.frontEnd {
        case .nfcA(_, let atqa, let sak, let ats):
            members += [("ats", quoted(ats)), ("sak", quoted([sak])), ("atqa", quoted(atqa.bigEndianBytes))]
        case .nfcB(_, let data, let info):
            members += [("application_data", quoted(data)), ("protocol_info", quoted(info))]
        }
        var files: [UInt16: [UInt8]]?
        switch contents.kind {
        case .ndef(let all): files = all
        case .desfire(let desfire):
            let parts = Self.members(of: desfire)
            members += parts.members
            files = parts.files
        case .ntag424(let ntag424):
            files = Dictionary(uniqueKeysWithValues: ntag424.files.map { ($0.isoIdentifier, $0.data) })
            members += self.members(of: ntag424)
        case .emrtd(let emrtd):
            files = emrtd.files
            // No character of a zone needs an escape in JSON.
            members.append(("mrz", "\"\(emrtd.zone.lines.joined())\""))
            if let access = emrtd.cardAccess { members.append(("card_access", quoted(access))) }
            if let number = emrtd.accessNumber { members.append(("can", JSONText.quoted(number))) }
            if let key = emrtd.chipKey { members.append(("chip_key", quoted(key))) }
        case .emv(let emv): members += self.members(of: emv)
        case .mifarePlus(let plus):
            members.append(("memory_hex", quoted(plus.memory)))
            members += member(plus.keys.sorted { $0.key < $1.key }.map { ($0.key.bigEndianBytes.hexText(), $0.value) })
        case .version(let version): members += self.members(of: version)
        case .applications(let applications):
            let texts = applications.values.sorted { $0.key < $1.key }.map { name, values in
                (name, object(values.sorted { $0.key < $1.key }.map { ($0.key, quoted($0.value)) }))
            }
            members.append(("applications", object(texts)))
        case .unspecified: break
        }
        guard let files else { return members }
        let texts = files.sorted { $0.key < $1.key }.map { ($0.key.bigEndianBytes.hexText(), quoted($0.value)) }
        return members + [("files", object(texts))]
    }

    // MARK: Activation and files

    /// Reads the activation. A travel document without `ats` gets the default activation.
    private static func frontEnd(_ fields: JSONFields, needsATS: Bool) throws(TagImageError) -> Type4FrontEnd {
        if fields.hasValue("protocol_info") {
            let pupi = try fields.bytes("uid")
            guard pupi.count == 4 else {
                throw fields.error(.malformed, "uid", "A PUPI has 4 bytes, not \(pupi.count).")
            }
            return .nfcB(
                pupi: pupi,
                applicationData: try fields.bytes("application_data", count: 4),
                protocolInfo: try fields.bytes("protocol_info", count: 3)
            )
        }
        let uid = try fields.nfcAIdentifier("uid")
        guard needsATS || fields.hasValue("ats") else { return .emrtd(uid: uid) }
        return .nfcA(
            uid: uid,
            atqa: fields.hasValue("atqa") ? try fields.word("atqa") : 0x0344,
            sak: try fields.byte("sak", default: 0x20),
            ats: try fields.answerToSelect("ats")
        )
    }

    private static func files(_ fields: JSONFields) throws(TagImageError) -> [UInt16: [UInt8]] {
        var files: [UInt16: [UInt8]] = [:]
        for (key, text) in try fields.strings("files") {
            guard let identifier = [UInt8](hexadecimal: key.utf8), identifier.count == 2,
                let data = [UInt8](hexadecimal: text.utf8), data.count <= 0x1_0000
            else {
                let reason = "File \"\(key)\" needs a four-digit identifier and hexadecimal content."
                throw fields.error(.malformed, "files", reason)
            }
            files[UInt16(bytes: identifier)] = data
        }
        return files
    }

    static func file(
        _ identifier: UInt16,
        of files: [UInt16: [UInt8]],
        _ fields: JSONFields
    ) throws(TagImageError) -> [UInt8] {
        guard let data = files[identifier] else {
            let name = identifier.bigEndianBytes.hexText()
            throw fields.error(.missingField, "files", "File \"\(name)\" is missing.")
        }
        return data
    }

    // MARK: NTAG 424 DNA and MIFARE Plus

    /// `file_settings` contains the data of CHANGE FILE SETTINGS by file identifier: FileOption, access rights, and the
    /// settings of secure dynamic messaging.
    private static func ntag424(_ fields: JSONFields) throws(TagImageError) -> NTAG424Contents {
        let files = try files(fields)
        var contents = NTAG424Contents(uid: try fields.bytes("uid", count: 7))
        for index in contents.files.indices {
            let data = try file(contents.files[index].isoIdentifier, of: files, fields)
            guard data.count == contents.files[index].data.count else {
                throw fields.error(.inconsistent, "files", "A file does not have the product's size.")
            }
            contents.files[index].data = data
        }
        if fields.hasValue("signature") { contents.signature = try fields.bytes("signature", count: 56) }
        contents.readCounter = UInt32(try fields.number("read_counter", in: 0...0xFF_FFFF, default: 0))
        for (name, key) in try keys(fields) {
            guard let number = Int(name), contents.keys.indices.contains(number), key.kind == .aes else {
                throw fields.error(.malformed, "keys", "The AES keys are \"0\" to \"4\", not \"\(name)\".")
            }
            contents.keys[number] = key
        }
        contents.usesLRP = try fields.flag("lrp", default: false)
        guard fields.hasValue("file_settings") else { return contents }
        for (name, text) in try fields.strings("file_settings") {
            let identifier = [UInt8](hexadecimal: name.utf8) ?? []
            guard identifier.count == 2, let settings = [UInt8](hexadecimal: text.utf8),
                let index = contents.files.firstIndex(where: { $0.isoIdentifier == UInt16(bytes: identifier) }),
                contents.files[index].change(settings, usesLRP: contents.usesLRP)
            else {
                let reason = "File \"\(name)\" can't have these settings."
                throw fields.error(.malformed, "file_settings", reason)
            }
        }
        return contents
    }

    private static func members(of contents: NTAG424Contents) -> [(String, String)] {
        var members: [(String, String)] = contents.usesLRP ? [("lrp", "true")] : []
        if contents.readCounter != 0 { members.append(("read_counter", String(contents.readCounter))) }
        if contents.signature.contains(where: { $0 != 0 }) {
            members.append(("signature", quoted(contents.signature)))
        }
        members += member(changed(contents.keys))
        let blank = NTAG424Contents(uid: contents.uid)
        let settings = zip(contents.files, blank.files).filter { $0.settings != $1.settings }.map { file, _ in
            (file.isoIdentifier.bigEndianBytes.hexText(), quoted(file.settings))
        }
        return settings.isEmpty ? members : members + [("file_settings", object(settings))]
    }

    private static func mifarePlus(_ fields: JSONFields) throws(TagImageError) -> MIFAREPlusContents {
        let memory = try fields.bytes("memory_hex")
        guard let size = ClassicProduct(memorySize: memory.count), size == .plus2K || size == .classic4K else {
            throw fields.malformed("memory_hex", "is not 2048 or 4096 bytes")
        }
        try checkUID(fields, against: memory)
        var contents = MIFAREPlusContents(blank: size, uid: Array(memory.prefix(7)))
        contents.memory = memory
        for (name, key) in try keys(fields) {
            guard let number = UInt16(name, radix: 16), contents.key(number) != nil, key.kind == .aes else {
                throw fields.error(.malformed, "keys", "The card has no AES key \"\(name)\".")
            }
            contents.keys[number] = key
        }
        return contents
    }

    // MARK: Travel documents

    /// Reads a travel document: `mrz`, the machine readable zone, with or without `\n` between lines; `files` by
    /// identifier, by default those that `EMRTDContents` creates from the zone; `card_access` if EF.CardAccess exists;
    /// `can`, the card access number; and `chip_key`, the chip's private key.
    private static func emrtd(_ fields: JSONFields) throws(TagImageError) -> EMRTDContents {
        let text = try fields.text("mrz")
        let zone: MachineReadableZone
        var contents: EMRTDContents
        do {
            zone = try MachineReadableZone(text)
        } catch {
            throw fields.error(.malformed, "mrz", error.reason)
        }
        if fields.hasValue("files") {
            contents = EMRTDContents(zone, files: try files(fields))
        } else {
            do {
                contents = try EMRTDContents(zone, signer: .test)
            } catch {
                throw fields.error(.unsupported, "mrz", error.reason)
            }
        }
        if fields.hasValue("card_access") { contents.cardAccess = try fields.bytes("card_access") }
        if fields.hasValue("can") {
            let number = try fields.text("can")
            guard EMRTDContents.isAccessNumber(number) else { throw fields.malformed("can", "is not 4 to 20 digits") }
            contents.accessNumber = number
        }
        if fields.hasValue("chip_key") { contents.chipKey = try fields.bytes("chip_key", count: 32) }
        return contents
    }

    // MARK: Payment cards

    /// The values of a payment card except `aid` and `pan`. Dates are the digits of year, month and day.
    private static var emvMembers: [JSONMember<EMVContents>] {
        [
            .cardText("label", \.label), .cardText("name", \.name), .cardText("cardholder", \.cardholder),
            .bytes("aip", \.interchangeProfile, count: 2), .word("country", \.country),
            .word("currency", \.currency), .bytes("expires", \.expiration.digits, count: 3),
            .bytes("effective", \.effective.digits, count: 3),
            JSONMember("pin_tries") { (fields, contents) throws(TagImageError) in
                contents.pinTries = UInt8(try fields.number("pin_tries", in: 0...255))
            } write: {
                $0.pinTries.map { .number(Int($0)) } ?? .null
            },
        ]
    }

    private static func emv(_ fields: JSONFields) throws(TagImageError) -> EMVContents {
        var contents = try fields.paymentCard("aid", "pan")
        try fields.read(emvMembers, into: &contents)
        return contents
    }

    private static func members(of contents: EMVContents) -> [(String, String)] {
        let identifier = contents.applicationIdentifier
        let blank = EMVContents(applicationIdentifier: identifier, accountNumber: contents.accountNumber)
        return [("aid", quoted(identifier)), ("pan", quoted(contents.accountNumber))]
            + members(emvMembers, of: contents, unlike: blank)
    }

    // MARK: Applications

    private static func applications(_ fields: JSONFields) throws(TagImageError) -> StoredApplications {
        let object = fields.object("applications")
        var values: [String: [String: [UInt8]]] = [:]
        for name in object.keys {
            values[name] = [:]
            for key in object.object(name).keys {
                values[name]?[key] = try object.object(name).bytes(key)
            }
        }
        if let problem = StoredApplications.problem(in: values) {
            throw fields.error(.malformed, "applications", problem)
        }
        return StoredApplications(values)
    }

    // MARK: Cards of which only the version is known

    /// The values of a MIFARE Plus except `get_version`.
    private static var versionMembers: [JSONMember<VersionCardContents>] {
        [
            .text("card_type", \.cardType), .text("memory_size", \.memorySize),
            .text("security_level", \.securityLevel),
        ]
    }

    private static func version(_ fields: JSONFields) throws(TagImageError) -> VersionCardContents {
        let family = try fields.product { VersionCardContents.Family(rawValue: $0) }
        var contents = VersionCardContents(family, version: try fields.cardVersion("get_version"))
        try fields.read(versionMembers, into: &contents)
        return contents
    }

    private static func members(of contents: VersionCardContents) -> [(String, String)] {
        let blank = VersionCardContents(contents.family, version: contents.version)
        return [("get_version", quoted(contents.version))] + members(versionMembers, of: contents, unlike: blank)
    }
}
