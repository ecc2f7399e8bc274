// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Files of MIFARE DESFire: applications, files with their settings, and data readable without a key.
///
/// These dumps contain no keys and no ISO/IEC 7816-4 names. Application 000001 gets the names of the NDEF mapping (NXP
/// AN11004) if its files 1 and 2 follow the mapping.
extension FlipperTagDump {
    static func desfire(_ fields: FlipperFields) throws(TagImageError) -> Type4Contents {
        let version = try fields.bytes("PICC Version", count: 28)
        // A card with a random UID stores its permanent UID, or zeros, in the version.
        let uid = try fields.nfcAIdentifier("UID")
        var contents = DESFireContents(uid: uid.count == 7 ? uid : Array(version[14..<21]))
        contents.version = version
        contents.keySettings = try keySettings(fields, "PICC").settings
        contents.masterKey = .zero(.des, version: try fields.byte("PICC Key 0 Version"))
        let count = try fields.number("Application Count", in: 0...255, default: 0)
        if count > 0 {
            let identifiers = try fields.bytes("Application IDs", count: count * 3)
            for index in 0..<count {
                let bytes = Array(identifiers[(index * 3)..<(index * 3 + 3)])
                contents.applications.append(try application(fields, bytes))
            }
        }
        if fields.hasValue("PICC Free Memory") {
            contents.freeMemory = try fields.number("PICC Free Memory", in: 0...0xFF_FFFF)
        }
        return try type4A(fields, .desfire(contents))
    }

    private static func keySettings(
        _ fields: FlipperFields,
        _ prefix: String
    ) throws(TagImageError) -> (settings: UInt8, count: UInt8) {
        var settings = try fields.byte("\(prefix) Change Key ID") << 4
        for (key, bit) in keyFlags where try fields.flag("\(prefix) \(key)") { settings |= bit }
        let keys = try fields.byte("\(prefix) Max Keys") & 0x0F
        return (settings, try fields.byte("\(prefix) Flags", default: 0) << 4 | keys)
    }

    private static let keyFlags: [(String, UInt8)] = [
        ("Config Changeable", 0x08), ("Free Create Delete", 0x04), ("Free Directory List", 0x02),
        ("Key Changeable", 0x01),
    ]

    private static func application(
        _ fields: FlipperFields,
        _ identifier: [UInt8]
    ) throws(TagImageError) -> DESFireApplication {
        // The file lists the bytes in transmission order, least significant first.
        let prefix = "Application \(identifier.hexText())"
        let settings = try keySettings(fields, prefix)
        var versions: [UInt8] = []
        for index in 0..<Int(settings.count & 0x0F) {
            versions.append(try fields.byte("\(prefix) Key \(index) Version"))
        }
        var application = DESFireApplication(
            identifier: UInt32(identifier.littleEndian(at: 0, count: 3)),
            keySettings: settings.settings,
            keyCount: settings.count,
            keyVersions: versions
        )
        let numbers = "\(prefix) File IDs"
        for number in fields.hasValue(numbers) ? try fields.bytes(numbers) : [] {
            guard number < 32, !application.files.contains(where: { $0.number == number }) else {
                throw fields.malformed(numbers, "has a number that is above 31 or exists twice")
            }
            application.files.append(try file(fields, "\(prefix) File \(number)", number))
        }
        return application.namedForNDEF
    }

    /// Reads a file of the card. Data missing in the dump become zeros.
    private static func file(
        _ fields: FlipperFields,
        _ key: String,
        _ number: UInt8
    ) throws(TagImageError) -> DESFireFile {
        let type = try fields.byte("\(key) Type")
        let rights = try fields.bytes("\(key) Access Rights", count: 2)
        let data = fields.hasValue(key) ? try fields.bytes(key) : nil
        let kind: DESFireFile.Kind
        switch type {
        case 0x00, 0x01:
            let size = try fields.number("\(key) Size", in: 0...0xFFFF)
            guard data == nil || data?.count == size else {
                throw fields.malformed(key, "does not have the \(size) bytes of its size")
            }
            let bytes = data ?? Array(repeating: 0, count: size)
            kind = type == 0x00 ? .standard(bytes) : .backup(bytes)
        case 0x02:
            guard data == nil || data?.count == 4 else { throw fields.malformed(key, "does not have 4 bytes") }
            let value = data.map { UInt32(truncatingIfNeeded: $0.littleEndian(at: 0, count: 4)) } ?? 0
            kind = .value(
                lower: Int32(bitPattern: UInt32(try fields.number("\(key) Lo Limit", in: 0...0xFFFF_FFFF))),
                upper: Int32(bitPattern: UInt32(try fields.number("\(key) Hi Limit", in: 0...0xFFFF_FFFF))),
                current: Int32(bitPattern: value),
                limitedCredit: try fields.flag("\(key) Limited Credit Enabled", default: false)
            )
        case 0x03, 0x04:
            let size = try fields.number("\(key) Size", in: 1...0xFFFF)
            let maximum = try fields.number("\(key) Max", in: 0...0xFFFF)
            let current = try fields.number("\(key) Cur", in: 0...maximum)
            guard size * maximum <= 0x1_0000, data == nil || data?.count == size * current else {
                throw fields.malformed(key, "does not have \(current) records of \(size) bytes")
            }
            let records = data ?? Array(repeating: 0, count: size * current)
            kind = .records(records, size: size, maximum: maximum, isCyclic: type == 0x04)
        default:
            let name = type == 0x05 ? "transaction MAC file (type 05)" : "file of type \([type].hexText())"
            throw fields.error(.unsupported, "\(key) Type", "A \(name) is not supported.")
        }
        var file = DESFireFile(
            number: number,
            communication: CommunicationSettings(rawValue: try fields.byte("\(key) Communication Settings")),
            accessRights: FileAccessRights(rawValue: UInt16(high: rights[1], low: rights[0])),
            kind: kind
        )
        file.isUnread = data == nil && !file.isEmpty
        return file
    }

    // MARK: Writing

    static func fields(of contents: DESFireContents) -> [FlipperLine] {
        var lines: [FlipperLine] = [
            .comment("Mifare DESFire specific data"), .field("PICC Version", bytes: contents.version),
            .field("PICC Free Memory", String(contents.freeMemory)),
        ]
        lines += keyFields("PICC", contents.keySettings, count: 0x01, versions: [contents.masterKey.version])
        lines.append(.field("Application Count", String(contents.applications.count)))
        guard !contents.applications.isEmpty else { return lines }
        let identifiers = contents.applications.map { [UInt8](littleEndian: Int($0.identifier), count: 3) }
        lines.append(.field("Application IDs", bytes: identifiers.flatMap { $0 }))
        for (application, identifier) in zip(contents.applications, identifiers) {
            let prefix = "Application \(identifier.hexText())"
            let (count, versions) = (application.keyCount, application.keyVersions)
            lines += keyFields(prefix, application.keySettings, count: count, versions: versions)
            if !application.files.isEmpty {
                lines.append(.field("\(prefix) File IDs", bytes: application.files.map(\.number)))
            }
            for file in application.files { lines += fields(of: file, "\(prefix) File \(file.number)") }
        }
        return lines
    }

    private static func keyFields(
        _ prefix: String,
        _ settings: UInt8,
        count: UInt8,
        versions: [UInt8]
    ) -> [FlipperLine] {
        [.field("\(prefix) Change Key ID", bytes: [settings >> 4])]
            + keyFlags.map { .field("\(prefix) \($0)", String(settings & $1 != 0)) }
            + [
                .field("\(prefix) Flags", bytes: [count >> 4]), .field("\(prefix) Max Keys", bytes: [count & 0x0F]),
            ]
            + versions.prefix(Int(count & 0x0F)).enumerated().map {
                .field("\(prefix) Key \($0.offset) Version", bytes: [$0.element])
            }
    }

    private static func fields(of file: DESFireFile, _ key: String) -> [FlipperLine] {
        let lines: [FlipperLine]
        let data: [UInt8]
        switch file.kind {
        case .standard(let bytes), .backup(let bytes):
            lines = [.field("\(key) Size", String(bytes.count))]
            data = bytes
        case .value(let lower, let upper, let current, let limitedCredit):
            lines = [
                .field("\(key) Hi Limit", String(UInt32(bitPattern: upper))),
                .field("\(key) Lo Limit", String(UInt32(bitPattern: lower))),
                .field("\(key) Limited Credit Value", "0"),
                .field("\(key) Limited Credit Enabled", String(limitedCredit)),
            ]
            data = [UInt8](littleEndian: Int(UInt32(bitPattern: current)), count: 4)
        case .linearRecords(let size, let maximum, let bytes), .cyclicRecords(let size, let maximum, let bytes):
            lines = [
                .field("\(key) Size", String(size)), .field("\(key) Max", String(maximum)),
                .field("\(key) Cur", String(bytes.count / max(1, size))),
            ]
            data = bytes
        }
        let head: [FlipperLine] = [
            .field("\(key) Type", bytes: [file.kind.code]),
            .field("\(key) Communication Settings", bytes: [file.communication.rawValue]),
            .field("\(key) Access Rights", bytes: file.accessRights.rawValue.littleEndianBytes),
        ]
        return head + lines + (data.isEmpty || file.isUnread ? [] : [.field(key, bytes: data)])
    }
}
