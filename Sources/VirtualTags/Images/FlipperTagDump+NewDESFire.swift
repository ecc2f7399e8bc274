// SPDX-License-Identifier: Apache-2.0

extension FlipperTagDump {
    static func fields(of contents: DESFireContents) -> [FlipperLine] {
        var lines: [FlipperLine] = [
            .comment("Mifare DESFire specific data"), .field("PICC Version", octets: contents.version),
            .field("PICC Free Memory", String(contents.freeMemory)),
        ]
        lines += keyFields("PICC", contents.keySettings, count: 0x01, versions: [contents.masterKey.version])
        lines.append(.field("Application Count", String(contents.applications.count)))
        guard !contents.applications.isEmpty else { return lines }
        let identifiers = contents.applications.map { [UInt8](littleEndian: Int($0.identifier), count: 3) }
        lines.append(.field("Application IDs", octets: identifiers.flatMap { $0 }))
        for (application, identifier) in zip(contents.applications, identifiers) {
            let prefix = "Application \(identifier.hexadecimalText)"
            lines += keyFields(
                prefix,
                application.keySettings,
                count: application.keyCount,
                versions: application.keyVersions
            )
            if !application.files.isEmpty {
                lines.append(.field("\(prefix) File IDs", octets: application.files.map(\.number)))
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
        [
            .field("\(prefix) Change Key ID", octets: [settings >> 4]),
            .field("\(prefix) Config Changeable", String(settings & 0x08 != 0)),
            .field("\(prefix) Free Create Delete", String(settings & 0x04 != 0)),
            .field("\(prefix) Free Directory List", String(settings & 0x02 != 0)),
            .field("\(prefix) Key Changeable", String(settings & 0x01 != 0)),
            .field("\(prefix) Flags", octets: [count >> 4]),
            .field("\(prefix) Max Keys", octets: [count & 0x0F]),
        ]
            + versions.prefix(Int(count & 0x0F)).enumerated().map {
                .field("\(prefix) Key \($0.offset) Version", octets: [$0.element])
            }
    }

    private static func fields(of file: DESFireFile, _ key: String) -> [FlipperLine] {
        var type: UInt8 = 0
        var lines: [FlipperLine] = []
        var data: [UInt8] = []
        func records(_ size: Int, _ maximum: Int, _ octets: [UInt8]) {
            lines = [
                .field("\(key) Size", String(size)), .field("\(key) Max", String(maximum)),
                .field("\(key) Cur", String(octets.count / max(1, size))),
            ]
            data = octets
        }
        switch file.kind {
        case .standard(let octets), .backup(let octets):
            if case .backup = file.kind { type = 1 }
            lines = [.field("\(key) Size", String(octets.count))]
            data = octets
        case .value(let lower, let upper, let current, let limitedCredit):
            type = 2
            lines = [
                .field("\(key) Hi Limit", String(UInt32(bitPattern: upper))),
                .field("\(key) Lo Limit", String(UInt32(bitPattern: lower))),
                .field("\(key) Limited Credit Value", "0"),
                .field("\(key) Limited Credit Enabled", String(limitedCredit)),
            ]
            data = [UInt8](littleEndian: Int(UInt32(bitPattern: current)), count: 4)
        case .linearRecords(let size, let maximum, let octets):
            type = 3
            records(size, maximum, octets)
        case .cyclicRecords(let size, let maximum, let octets):
            type = 4
            records(size, maximum, octets)
        }
        let head: [FlipperLine] = [
            .field("\(key) Type", octets: [type]),
            .field("\(key) Communication Settings", octets: [file.communication]),
            .field("\(key) Access Rights", octets: [UInt8(file.accessRights & 0xFF), UInt8(file.accessRights >> 8)]),
        ]
        return head + lines + (data.isEmpty ? [] : [.field(key, octets: data)])
    }
}
