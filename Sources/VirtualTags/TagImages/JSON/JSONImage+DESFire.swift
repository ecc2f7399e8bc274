// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// All applications of a MIFARE DESFire: `key_settings`, the card's own key in `keys`, and `applications` by
/// identifier. Each has `key_settings`, `keys`, `iso_id`, `name`, and `files` by number.
extension JSONImage {
    static func desfire(_ fields: JSONFields) throws(TagImageError) -> DESFireContents {
        var contents = DESFireContents(uid: try desfireIdentifier(fields))
        contents.version = try fields.bytes("get_version", count: 28)
        if fields.hasValue("key_settings") { contents.keySettings = try fields.bytes("key_settings", count: 1)[0] }
        contents.configuration = try configuration(fields)
        for (name, key) in try keys(fields) where name == "master" { contents.masterKey = key }
        let applications = fields.object("applications")
        guard applications.keys.count <= 28 else {
            throw TagImageError(.inconsistent, "A card has at most 28 applications.", line: fields.line("applications"))
        }
        for key in applications.keys {
            guard let bytes = [UInt8](hexadecimal: key.utf8), bytes.count == 3 else {
                throw TagImageError(
                    .malformed,
                    "\"\(key)\" is not an identifier of six digits.",
                    line: applications.line(key)
                )
            }
            let identifier = UInt32(bytes: bytes)
            contents.applications.append(try application(applications.object(key), identifier))
        }
        try readFreeMemory(of: &contents, fields)
        return contents
    }

    // MARK: Configuration

    /// Reads the changes of SET CONFIGURATION: `random_uid`, `format_disabled`, `default_key` of 24 bytes, and its
    /// version in `default_key_version`. The ATS is that of the activation.
    static func configuration(_ fields: JSONFields) throws(TagImageError) -> DESFireConfiguration {
        var configuration = DESFireConfiguration()
        configuration.usesRandomUID = try fields.flag("random_uid") ?? false
        configuration.isFormatDisabled = try fields.flag("format_disabled") ?? false
        if fields.hasValue("default_key") {
            configuration.defaultKey = try fields.bytes("default_key", count: DESFireConfiguration.defaultKeyLength)
        }
        if fields.hasValue("default_key_version") {
            configuration.defaultKeyVersion = try fields.bytes("default_key_version", count: 1)[0]
        }
        return configuration
    }

    static func members(of configuration: DESFireConfiguration) -> [(String, String)] {
        var members: [(String, String)] = []
        if configuration.usesRandomUID { members.append(("random_uid", "true")) }
        if configuration.isFormatDisabled { members.append(("format_disabled", "true")) }
        if let key = configuration.defaultKey { members.append(("default_key", quoted(key))) }
        if configuration.defaultKeyVersion != 0 {
            members.append(("default_key_version", quoted([configuration.defaultKeyVersion])))
        }
        return members
    }

    // MARK: Applications

    private static func application(
        _ fields: JSONFields,
        _ identifier: UInt32
    ) throws(TagImageError) -> DESFireApplication {
        let settings = try fields.bytes("key_settings", count: 2)
        var application = DESFireApplication(
            identifier: identifier,
            keySettings: settings[0],
            keyCount: settings[1]
        )
        try readKeys(of: &application, fields)
        if fields.hasValue("iso_id") { application.isoIdentifier = try number(fields, "iso_id") }
        if fields.hasValue("name") { application.name = try fields.bytes("name", count: nil) }
        let files = fields.object("files")
        for key in files.keys {
            guard let bytes = [UInt8](hexadecimal: key.utf8), bytes.count == 1, bytes[0] < 32 else {
                throw TagImageError(
                    .malformed,
                    "\"\(key)\" is not a file's number of two digits.",
                    line: files.line(key)
                )
            }
            application.files.append(try file(files.object(key), bytes[0]))
        }
        return application
    }

    private static func file(_ fields: JSONFields, _ number: UInt8) throws(TagImageError) -> DESFireFile {
        let data = fields.hasValue("data") ? try fields.bytes("data", count: nil) : []
        func value(_ key: String) throws(TagImageError) -> Int {
            try fields.number(key, in: Int(Int32.min)...Int(Int32.max)) ?? 0
        }
        let size = try fields.number("size", in: 1...0xFFFF) ?? 1
        let maximum = try fields.number("maximum", in: 0...0xFFFF) ?? 0
        let kind: DESFireFile.Kind
        let type = try fields.text("type")
        switch type {
        case "standard": kind = .standard(data)
        case "backup": kind = .backup(data)
        case "value":
            kind = .value(
                lower: Int32(truncatingIfNeeded: try value("lower")),
                upper: Int32(truncatingIfNeeded: try value("upper")),
                current: Int32(truncatingIfNeeded: try value("current")),
                limitedCredit: try fields.flag("limited_credit") ?? false
            )
        case "linear", "cyclic":
            guard size * maximum <= 0x1_0000, data.count % size == 0, data.count <= size * maximum else {
                throw TagImageError(.inconsistent, "The records are not of their size.", line: fields.line("data"))
            }
            kind =
                type == "linear"
                ? .linearRecords(size: size, maximum: maximum, records: data)
                : .cyclicRecords(size: size, maximum: maximum, records: data)
        default:
            throw TagImageError(.unsupported, "A file of type \(type) is not supported.", line: fields.line("type"))
        }
        return DESFireFile(
            number: number,
            isoIdentifier: fields.hasValue("iso_id") ? try Self.number(fields, "iso_id") : nil,
            communication: CommunicationSettings(rawValue: try fields.bytes("communication", count: 1)[0]),
            accessRights: FileAccessRights(rawValue: try Self.number(fields, "access_rights")),
            kind: kind
        )
    }

    /// Returns a 16-bit number, most significant byte first.
    private static func number(_ fields: JSONFields, _ key: String) throws(TagImageError) -> UInt16 {
        let bytes = try fields.bytes(key, count: 2)
        return UInt16(high: bytes[0], low: bytes[1])
    }

    // MARK: Writing

    static func members(of contents: DESFireContents) -> [(String, String)] {
        let applications = contents.applications.map { application in
            let bytes = (0..<3).map { UInt8(truncatingIfNeeded: application.identifier >> (16 - 8 * $0)) }
            return (bytes.hexText(), object(members(of: application)))
        }
        let master = contents.masterKey == .zero(.des) ? [] : [(name: "master", key: contents.masterKey)]
        return [("key_settings", quoted([contents.keySettings]))] + member(master)
            + [("applications", object(applications))]
    }

    private static func members(of application: DESFireApplication) -> [(String, String)] {
        var members = [("key_settings", quoted([application.keySettings, application.keyCount]))]
        members += member(changed(application.keys))
        if let identifier = application.isoIdentifier { members.append(("iso_id", quoted(identifier))) }
        if let name = application.name { members.append(("name", quoted(name))) }
        let files = application.files.map { ([$0.number].hexText(), object(Self.members(of: $0))) }
        return members + [("files", object(files))]
    }

    private static func members(of file: DESFireFile) -> [(String, String)] {
        var members: [(String, String)] = []
        if let identifier = file.isoIdentifier { members.append(("iso_id", quoted(identifier))) }
        members.append(("communication", quoted([file.communication.rawValue])))
        members.append(("access_rights", quoted(file.accessRights.rawValue)))
        switch file.kind {
        case .standard(let data): members += [("type", "\"standard\""), ("data", quoted(data))]
        case .backup(let data): members += [("type", "\"backup\""), ("data", quoted(data))]
        case .value(let lower, let upper, let current, let limitedCredit):
            members += [
                ("type", "\"value\""), ("lower", String(lower)), ("upper", String(upper)), ("current", String(current)),
                ("limited_credit", String(limitedCredit)),
            ]
        case .linearRecords(let size, let maximum, let records), .cyclicRecords(let size, let maximum, let records):
            var type = "linear"
            if case .cyclicRecords = file.kind { type = "cyclic" }
            members += [
                ("type", "\"\(type)\""), ("size", String(size)), ("maximum", String(maximum)),
                ("data", quoted(records)),
            ]
        }
        return members
    }

    private static func quoted(_ number: UInt16) -> String {
        quoted(number.bigEndianBytes)
    }
}
