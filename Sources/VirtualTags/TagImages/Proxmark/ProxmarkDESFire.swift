// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// The MIFARE DESFire in a JSON file of the Proxmark3 client, `mfdes v1` (its `doc/mfdes_dump_format.md`).
///
/// `Card` has the activation and GET VERSION. `Applications` are keyed by identifier; 000000 is the card itself. A key
/// without `Key` is only known by its version, and a file with `Read` false was not read.
struct ProxmarkDESFire {
    private(set) var contents = Type4Contents(frontEnd: .nfcA(uid: [], atqa: 0, sak: 0, ats: []), kind: .unspecified)
    private(set) var remarks: [TagImageRemark] = []

    init(_ fields: JSONFields) throws(TagImageError) {
        let card = fields.object("Card")
        let identifier = try card.nfcAIdentifier("UID")
        var desfire = DESFireContents(uid: identifier)
        if card.hasValue("VersionHW") {
            desfire.version = try card.bytes("VersionHW", count: 7) + card.bytes("VersionSW", count: 7)
            desfire.version += try card.bytes("VersionProd", count: 14)
        } else {
            missing("the answer to GET VERSION", "that of a \(desfire.generation.name)")
        }
        // A card with a random UID stores its permanent UID, or zeros, in the version.
        if identifier.count != 7 { desfire.uid = Array(desfire.version[14..<21]) }
        if card.hasValue("Signature") { desfire.signature = try card.bytes("Signature", count: 56) }
        let applications = fields.object("Applications")
        guard applications.keys.count <= 29 else {
            throw fields.error(.inconsistent, "Applications", "A card has at most 255 applications.")
        }
        for key in applications.keys {
            guard let bytes = [UInt8](hexadecimal: key.utf8), bytes.count == 3 else {
                throw applications.malformed(key, "is not a six-digit identifier")
            }
            let application = try application(applications.object(key), UInt32(bytes: bytes), key)
            if application.identifier == 0 {
                desfire.keySettings = application.keySettings
                if let master = application.keys.first { desfire.masterKey = master }
            } else {
                desfire.applications.append(application)
            }
        }
        if card.hasValue("FreeMem") { desfire.freeMemory = try card.number("FreeMem", in: 0...0xFF_FFFF) }
        let frontEnd = Type4FrontEnd.nfcA(
            uid: identifier,
            // The file has ATQA in transmission order, low byte first.
            atqa: try card.word("ATQA").byteSwapped,
            sak: try card.byte("SAK"),
            ats: card.hasValue("ATS") ? try Self.answerToSelect(card) : [0x01]
        )
        contents = Type4Contents(frontEnd: frontEnd, kind: .desfire(desfire))
    }

    private mutating func missing(_ what: String, _ instead: String) {
        remarks.append(TagImageRemark(.missing, "The file does not have \(what); the virtual tag has \(instead)."))
    }

    /// Returns the ATS. The client stores it with its two check bytes.
    private static func answerToSelect(_ card: JSONFields) throws(TagImageError) -> [UInt8] {
        let bytes = try card.bytes("ATS")
        guard let length = bytes.first.map({ Int($0) }), (1...254).contains(length),
            bytes.count == length || bytes.count == length + 2
        else { throw card.malformed("ATS", "does not begin with its length") }
        return Array(bytes.prefix(length))
    }

    // MARK: Applications

    private mutating func application(
        _ fields: JSONFields,
        _ identifier: UInt32,
        _ name: String
    ) throws(TagImageError) -> DESFireApplication {
        let count = try fields.byte("NumKeysRaw")
        var application = DESFireApplication(
            identifier: identifier,
            keySettings: try fields.byte("KeySettings"),
            keyCount: count
        )
        let keys = fields.object("Keys")
        for key in keys.keys {
            guard let number = UInt8(key), number < 14 else { throw keys.malformed(key, "is not the number of a key") }
            try read(keys.object(key), number, of: &application, fields)
        }
        if fields.hasValue("ISOFileID") { application.isoIdentifier = try fields.word("ISOFileID") }
        if fields.hasValue("DFName") { application.name = try fields.bytes("DFName") }
        let files = fields.object("Files")
        for key in files.keys {
            guard let number = [UInt8](hexadecimal: key.utf8)?.first, key.utf8.count == 2, number < 32 else {
                throw files.malformed(key, "is not a two-digit file number")
            }
            let object = files.object(key)
            guard try object.byte("TypeRaw") != 0x05 else {
                missing("a model of application \(name) file \(number), a transaction MAC file", "no such file")
                continue
            }
            let file = try file(object, number)
            application.files.append(file)
            if let size = file.data?.count, object.hasValue("Data"), try object.bytes("Data").count < size {
                missing("all \(size) bytes of application \(name) file \(number)", "zeros for the others")
            }
        }
        return application
    }

    /// Reads a key. An application names the cipher of its keys once.
    private func read(
        _ fields: JSONFields,
        _ number: UInt8,
        of application: inout DESFireApplication,
        _ owner: JSONFields
    ) throws(TagImageError) {
        let version = try fields.byte("Version", default: 0)
        let names: [String: DESFireKey.Kind] = ["des": .des, "2tdea": .des, "3tdea": .tripleDES, "aes": .aes]
        let kind = owner.hasValue("KeyType") ? names[try owner.text("KeyType")] : application.keyKind
        guard let kind else { throw owner.malformed("KeyType", "is not des, 2tdea, 3tdea or aes") }
        guard fields.hasValue("Key") else {
            application.setKey(number, .zero(kind, version: version))
            return
        }
        guard let key = DESFireKey(kind, try fields.bytes("Key"), version: version) else {
            throw fields.malformed("Key", "does not have the length of such a key")
        }
        application.setKey(number, key)
    }

    private func file(_ fields: JSONFields, _ number: UInt8) throws(TagImageError) -> DESFireFile {
        let isRead = try fields.flag("Read", default: false)
        let kind = try Self.kind(fields)
        let modes = ["plain": 0x00, "mac": 0x01, "plain_rfu": 0x02, "encrypt": 0x03] as [String: UInt8]
        guard let mode = modes[try fields.text("CommMode")] else {
            throw fields.malformed("CommMode", "is not plain, mac, plain_rfu or encrypt")
        }
        var file = DESFireFile(
            number: number,
            isoIdentifier: fields.hasValue("ISOFileID") ? try fields.word("ISOFileID") : nil,
            communication: CommunicationSettings(rawValue: mode),
            accessRights: FileAccessRights(rawValue: try fields.word("AccessRights")),
            kind: kind
        )
        file.isUnread = !isRead && !file.isEmpty
        return file
    }

    private static func kind(_ fields: JSONFields) throws(TagImageError) -> DESFireFile.Kind {
        let data = fields.hasValue("Data") ? try fields.bytes("Data") : []
        let type = try fields.byte("TypeRaw")
        switch type {
        case 0x00, 0x01:
            let size = try fields.number("FileSize", in: 0...0xFFFF)
            guard data.count <= size else {
                throw fields.malformed("Data", "has more than the \(size) bytes of the file")
            }
            let bytes = data + Array(repeating: 0, count: size - data.count)
            return type == 0x00 ? .standard(bytes) : .backup(bytes)
        case 0x02:
            let range = Int(Int32.min)...Int(Int32.max)
            return .value(
                lower: Int32(try fields.number("LowerLimit", in: range)),
                upper: Int32(try fields.number("UpperLimit", in: range)),
                current: Int32(try fields.number("Value", in: range, default: 0)),
                limitedCredit: try fields.byte("LimitedCredit", default: 0) & 0x01 != 0
            )
        case 0x03, 0x04:
            let size = try fields.number("RecordSize", in: 1...0xFFFF)
            let maximum = try fields.number("MaxRecords", in: 0...0xFFFF)
            let objects = fields.object("Records")
            var records = data
            for index in objects.keys.indices { records += try objects.bytes(String(index), count: size) }
            let isRead = try fields.flag("Read", default: false)
            let current = isRead ? 0 : try fields.number("CurRecords", in: 0...maximum, default: 0)
            // Records that were not read are zeros.
            if records.isEmpty, size * current <= 0x1_0000 { records = Array(repeating: 0, count: size * current) }
            guard size * maximum <= 0x1_0000, records.count % size == 0, records.count <= size * maximum else {
                throw fields.error(.inconsistent, "RecordSize", "The records have the wrong size.")
            }
            return .records(records, size: size, maximum: maximum, isCyclic: type == 0x04)
        default: throw fields.error(.unsupported, "TypeRaw", "A file of type \([type].hexText()) is not supported.")
        }
    }
}

extension DESFireFile {
    /// Whether the file has no content.
    var isEmpty: Bool {
        switch kind {
        case .standard(let data), .backup(let data): data.isEmpty
        case .value: false
        case .linearRecords(_, _, let records), .cyclicRecords(_, _, let records): records.isEmpty
        }
    }
}
