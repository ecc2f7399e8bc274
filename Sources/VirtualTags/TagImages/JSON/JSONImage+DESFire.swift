// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// MIFARE DESFire, and the keys of cards.
///
/// A card with only the NDEF application has its two `files`, and `keys` and `key_settings` of the application: the
/// settings, and the number of keys with their kind. Any other card has its own `key_settings` and `keys`, and
/// `applications` by identifier, each with `key_settings`, `keys`, `iso_id`, `name`, and `files` by number. A file
/// whose content could not be read has `unread`.
///
/// `keys` is an object: `"0"` to `"13"` are the keys of the application, and `"master"` is the key of the card itself.
/// A key is written as `aes:`, `des:` or `3k3des:` and its bytes. An AES key whose version is not 00 ends with a colon
/// and the version. Missing keys are zero, as on a new card.
extension JSONImage {
    /// The changes made by SET CONFIGURATION. The ATS is stored with the activation.
    private static var configurationMembers: [JSONMember<DESFireConfiguration>] {
        [
            .flag("random_uid", \.usesRandomUID), .flag("format_disabled", \.isFormatDisabled),
            .bytes("default_key", \.defaultKey, count: DESFireConfiguration.defaultKeyLength),
            .byte("default_key_version", \.defaultKeyVersion),
        ]
    }

    /// Reads a card. A card with only the NDEF application has a generation and `files`. `files` is nil if there are
    /// `applications`.
    static func desfire(
        _ fields: JSONFields,
        _ generation: DESFireContents.Generation,
        files: [UInt16: [UInt8]]?
    ) throws(TagImageError) -> DESFireContents {
        // A card with a random UID stores its permanent UID, or zeros, in the version.
        var uid = try fields.bytes("uid")
        if uid.count != 7 { uid = Array(try fields.bytes("get_version", count: 28)[14..<21]) }
        var contents: DESFireContents
        if let files {
            let container = try file(0xE103, of: files, fields)
            let ndef = try file(0xE104, of: files, fields)
            contents = ndefCard(uid: uid, generation: generation, container: container, ndef: ndef)
            if fields.hasValue("get_version") { contents.version = try fields.bytes("get_version", count: 28) }
            try readNDEFKeys(of: &contents, fields)
        } else {
            contents = DESFireContents(uid: uid)
            contents.version = try fields.bytes("get_version", count: 28)
            contents.keySettings = try fields.byte("key_settings", default: contents.keySettings)
            for (name, key) in try keys(fields) where name == "master" { contents.masterKey = key }
            contents.applications = try applications(fields)
        }
        try fields.read(configurationMembers, into: &contents.configuration)
        if fields.hasValue("free_memory") {
            contents.freeMemory = try fields.number("free_memory", in: 0...0xFF_FFFF)
        }
        return contents
    }

    /// Returns the members of a card, except those for its activation and its files.
    static func members(of contents: DESFireContents) -> (members: [(String, String)], files: [UInt16: [UInt8]]?) {
        var members = [("get_version", quoted(contents.version))]
        if contents.reservedMemory != 0 { members.append(("free_memory", String(contents.freeMemory))) }
        members += Self.members(configurationMembers, of: contents.configuration, unlike: DESFireConfiguration())
        let master = contents.masterKey == .zero(.des) ? [] : [(name: "master", key: contents.masterKey)]
        if let files = ndefFiles(of: contents), let application = contents.applications.first {
            let settings = [application.keySettings, application.keyCount]
            if settings != [0x0F, 0x21] { members.append(("key_settings", quoted(settings))) }
            return (members + member(master + changed(application.keys)), files)
        }
        let applications = contents.applications.map { application in
            ([UInt8](bigEndian: Int(application.identifier), count: 3).hexText(), object(Self.members(of: application)))
        }
        members += [("key_settings", quoted([contents.keySettings]))] + member(master)
        return (members + [("applications", object(applications))], nil)
    }

    // MARK: Card with the NDEF application

    /// Returns the smallest card that has room for only the NDEF application.
    private static func ndefCard(
        uid: [UInt8],
        generation: DESFireContents.Generation,
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

    /// Returns the two files of a card with only the NDEF application and its keys; nil for any other card.
    private static func ndefFiles(of contents: DESFireContents) -> [UInt16: [UInt8]]? {
        guard let application = contents.applications.first, let container = application.files.first?.data,
            let ndef = application.files.last?.data
        else { return nil }
        var plain = ndefCard(uid: contents.uid, generation: .ev1, container: container, ndef: ndef)
        plain.version = contents.version
        plain.masterKey = contents.masterKey
        plain.reservedMemory = contents.reservedMemory
        plain.configuration = contents.configuration
        plain.applications[0].keySettings = application.keySettings
        plain.applications[0].keyCount = application.keyCount
        plain.applications[0].keys = application.keys
        return plain == contents ? [0xE103: container, 0xE104: ndef] : nil
    }

    private static func readNDEFKeys(of contents: inout DESFireContents, _ fields: JSONFields) throws(TagImageError) {
        var application = contents.applications[0]
        if fields.hasValue("key_settings") {
            let settings = try fields.bytes("key_settings", count: 2)
            guard (1...14).contains(settings[1] & 0x0F), let kind = DESFireKey.Kind(code: settings[1]) else {
                throw fields.malformed("key_settings", "does not specify 1 to 14 keys of one kind")
            }
            application.keySettings = settings[0]
            application.keyCount = settings[1]
            application.keys = Array(repeating: .zero(kind), count: Int(settings[1] & 0x0F))
        }
        for (name, key) in try keys(fields) {
            if name == "master" {
                contents.masterKey = key
            } else {
                try set(name, key, of: &application, fields)
            }
        }
        contents.applications[0] = application
    }

    // MARK: Applications

    private static func applications(_ fields: JSONFields) throws(TagImageError) -> [DESFireApplication] {
        let objects = fields.object("applications")
        guard objects.keys.count <= 255 else {
            throw fields.error(.inconsistent, "applications", "A card has at most 255 applications.")
        }
        return try objects.keys.map { key throws(TagImageError) in
            guard let identifier = [UInt8](hexadecimal: key.utf8), identifier.count == 3 else {
                throw objects.malformed(key, "is not a six-digit identifier")
            }
            return try application(objects.object(key), UInt32(bytes: identifier))
        }
    }

    private static func application(
        _ fields: JSONFields,
        _ identifier: UInt32
    ) throws(TagImageError) -> DESFireApplication {
        let settings = try fields.bytes("key_settings", count: 2)
        var application = DESFireApplication(identifier: identifier, keySettings: settings[0], keyCount: settings[1])
        for (name, key) in try keys(fields) { try set(name, key, of: &application, fields) }
        if fields.hasValue("iso_id") { application.isoIdentifier = try fields.word("iso_id") }
        if fields.hasValue("name") { application.name = try fields.bytes("name") }
        let files = fields.object("files")
        for key in files.keys {
            guard let number = [UInt8](hexadecimal: key.utf8), number.count == 1, number[0] < 32 else {
                throw files.malformed(key, "is not a two-digit file number")
            }
            application.files.append(try file(files.object(key), number[0]))
        }
        return application
    }

    private static func members(of application: DESFireApplication) -> [(String, String)] {
        var members = [("key_settings", quoted([application.keySettings, application.keyCount]))]
        members += member(changed(application.keys))
        if let identifier = application.isoIdentifier { members.append(("iso_id", quoted(identifier.bigEndianBytes))) }
        if let name = application.name { members.append(("name", quoted(name))) }
        let files = application.files.map { ([$0.number].hexText(), object(Self.members(of: $0))) }
        return members + [("files", object(files))]
    }

    private static func file(_ fields: JSONFields, _ number: UInt8) throws(TagImageError) -> DESFireFile {
        let data = fields.hasValue("data") ? try fields.bytes("data") : []
        func value(_ key: String) throws(TagImageError) -> Int32 {
            Int32(try fields.number(key, in: Int(Int32.min)...Int(Int32.max), default: 0))
        }
        let size = try fields.number("size", in: 1...0xFFFF, default: 1)
        let maximum = try fields.number("maximum", in: 0...0xFFFF, default: 0)
        let kind: DESFireFile.Kind
        let type = try fields.text("type")
        switch type {
        case "standard": kind = .standard(data)
        case "backup": kind = .backup(data)
        case "value":
            kind = .value(
                lower: try value("lower"),
                upper: try value("upper"),
                current: try value("current"),
                limitedCredit: try fields.flag("limited_credit", default: false)
            )
        case "linear", "cyclic":
            guard size * maximum <= 0x1_0000, data.count % size == 0, data.count <= size * maximum else {
                throw fields.error(.inconsistent, "data", "The records have the wrong size.")
            }
            kind = .records(data, size: size, maximum: maximum, isCyclic: type == "cyclic")
        default: throw fields.error(.unsupported, "type", "A file of type \(type) is not supported.")
        }
        var file = DESFireFile(
            number: number,
            isoIdentifier: fields.hasValue("iso_id") ? try fields.word("iso_id") : nil,
            communication: CommunicationSettings(rawValue: try fields.byte("communication")),
            accessRights: FileAccessRights(rawValue: try fields.word("access_rights")),
            kind: kind
        )
        file.isUnread = try fields.flag("unread", default: false)
        return file
    }

    private static func members(of file: DESFireFile) -> [(String, String)] {
        var members: [(String, String)] = []
        if let identifier = file.isoIdentifier { members.append(("iso_id", quoted(identifier.bigEndianBytes))) }
        members.append(("communication", quoted([file.communication.rawValue])))
        members.append(("access_rights", quoted(file.accessRights.rawValue.bigEndianBytes)))
        let types = ["standard", "backup", "value", "linear", "cyclic"]
        members.append(("type", "\"\(types[Int(file.kind.code)])\""))
        switch file.kind {
        case .standard(let data), .backup(let data): members.append(("data", quoted(data)))
        case .value(let lower, let upper, let current, let limitedCredit):
            members += [
                ("lower", String(lower)), ("upper", String(upper)), ("current", String(current)),
                ("limited_credit", String(limitedCredit)),
            ]
        case .linearRecords(let size, let maximum, let records), .cyclicRecords(let size, let maximum, let records):
            members += [("size", String(size)), ("maximum", String(maximum)), ("data", quoted(records))]
        }
        if file.isUnread { members.append(("unread", "true")) }
        return members
    }

    // MARK: Keys

    private static let kindNames: [(DESFireKey.Kind, String)] = [(.aes, "aes"), (.des, "des"), (.tripleDES, "3k3des")]

    private static func key(_ text: String) -> DESFireKey? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let kind = kindNames.first(where: { $0.1 == parts[0] })?.0,
            let bytes = [UInt8](hexadecimal: parts[1].utf8)
        else { return nil }
        guard parts.count == 3 else { return DESFireKey(kind, bytes) }
        guard let version = [UInt8](hexadecimal: parts[2].utf8), version.count == 1, kind == .aes else { return nil }
        return DESFireKey(kind, bytes, version: version[0])
    }

    static func keys(_ fields: JSONFields) throws(TagImageError) -> [(name: String, key: DESFireKey)] {
        guard fields.hasValue("keys") else { return [] }
        return try fields.strings("keys").map { name, text throws(TagImageError) in
            guard let key = key(text) else {
                let reason = "Key \"\(name)\" must be a kind, a colon and digits, such as \"aes:\" and 32 digits."
                throw fields.error(.malformed, "keys", reason)
            }
            return (name, key)
        }
    }

    private static func set(
        _ name: String,
        _ key: DESFireKey,
        of application: inout DESFireApplication,
        _ fields: JSONFields
    ) throws(TagImageError) {
        guard let number = UInt8(name), number < application.keyCount & 0x0F, key.kind == application.keyKind
        else { throw fields.error(.malformed, "keys", "The application has no key \"\(name)\".") }
        application.setKey(number, key)
    }

    static func member(_ keys: [(name: String, key: DESFireKey)]) -> [(String, String)] {
        let texts = keys.map { name, key in
            let kind = kindNames.first { $0.0 == key.kind }?.1 ?? ""
            let version = key.kind == .aes && key.version != 0 ? ":\([key.version].hexText())" : ""
            return (name, "\"\(kind):\(key.bytes.hexText())\(version)\"")
        }
        return texts.isEmpty ? [] : [("keys", object(texts))]
    }

    /// Returns the keys that are not zero, with their numbers.
    static func changed(_ keys: [DESFireKey]) -> [(name: String, key: DESFireKey)] {
        keys.enumerated().filter { $0.element != .zero($0.element.kind) }.map { (String($0.offset), $0.element) }
    }
}
