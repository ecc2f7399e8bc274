// SPDX-License-Identifier: Apache-2.0
import TagLink

extension DESFireCard {
    /// SELECT APPLICATION. This ends an authentication. The command itself is not protected.
    mutating func selectApplication(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 3)
        let identifier = UInt32(data.littleEndian(at: 0, count: 3))
        let index = contents.applications.firstIndex { $0.identifier == identifier }
        guard identifier == 0 || index != nil else { throw .applicationNotFound }
        select(index)
        return DESFireReply()
    }

    func listApplications(names: Bool, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 0)
        guard selected == nil else { throw .permissionDenied }
        guard contents.keySettings & 0x02 != 0 || authenticatedKey != nil else { throw .authenticationError }
        guard names else {
            return DESFireReply(
                data: contents.applications.flatMap { [UInt8](littleEndian: Int($0.identifier), count: 3) }
            )
        }
        return DESFireReply(
            parts: contents.applications.compactMap { application -> [UInt8]? in
                guard let name = application.name, let file = application.isoIdentifier else { return nil }
                return [UInt8](littleEndian: Int(application.identifier), count: 3)
                    + file.littleEndianBytes + name
            }
        )
    }

    /// CREATE APPLICATION: AID, settings, number and kind of keys; if bit 5 of that number is set, also an ISO
    /// identifier and a name. The keys are zero, or the default key of SET CONFIGURATION.
    mutating func createApplication(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard selected == nil else { throw .permissionDenied }
        guard data.count >= 5 else { throw .lengthError }
        guard contents.keySettings & 0x04 != 0 || authenticatedKey == 0 else { throw .authenticationError }
        let hasIdentifier = data[4] & 0x20 != 0 && data.count >= 7
        let name = hasIdentifier ? Array(data[7...]) : []
        guard hasIdentifier ? name.count <= 16 : data.count == 5 else { throw .lengthError }
        let identifier = UInt32(data.littleEndian(at: 0, count: 3))
        guard identifier != 0, (1...14).contains(data[4] & 0x0F), let kind = DESFireKey.Kind(code: data[4]) else {
            throw .parameterError
        }
        let isoIdentifier = hasIdentifier ? UInt16(data.littleEndian(at: 5, count: 2)) : nil
        let isTaken = contents.applications.contains {
            $0.identifier == identifier || isoIdentifier != nil && $0.isoIdentifier == isoIdentifier
                || !name.isEmpty && $0.name == name
        }
        guard !isTaken else { throw .duplicate }
        guard contents.applications.count < Self.applicationLimit else { throw .countError }
        contents.applications.append(
            DESFireApplication(
                identifier: identifier,
                keySettings: data[3],
                keyCount: data[4],
                keys: Array(repeating: contents.configuration.key(for: kind), count: Int(data[4] & 0x0F)),
                isoIdentifier: isoIdentifier,
                name: name.isEmpty ? nil : name
            )
        )
        return DESFireReply(programmed: Self.programmingUnit)
    }

    /// The maximum number of applications on a card (MF3ICD81 data sheet, 9.1).
    static let applicationLimit = 28

    /// DELETE APPLICATION. This needs the card's master key; or the application's own, if everybody may create
    /// applications. Unlike creating, deleting is never free (MF3ICD81 data sheet, PICC master key settings, bit 2).
    mutating func deleteApplication(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 3)
        let identifier = UInt32(data.littleEndian(at: 0, count: 3))
        let index = contents.applications.firstIndex { $0.identifier == identifier }
        guard let index else { throw .applicationNotFound }
        guard selected == nil || selected == index else { throw .permissionDenied }
        let takesOwnKey = contents.keySettings & 0x04 != 0
        guard authenticatedKey == 0, selected == nil || takesOwnKey else { throw .authenticationError }
        contents.applications.remove(at: index)
        if selected != nil { select(nil) }
        return DESFireReply(programmed: Self.programmingUnit)
    }

    /// FORMAT PICC: deletes all applications. The card keeps its master key.
    mutating func format(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 0)
        guard selected == nil, !contents.configuration.isFormatDisabled else { throw .permissionDenied }
        guard authenticatedKey == 0 else { throw .authenticationError }
        contents.applications = []
        return DESFireReply(programmed: Self.programmingUnit)
    }

    func selectedApplication() throws(DESFireStatus) -> DESFireApplication {
        guard let selected else { throw .permissionDenied }
        return contents.applications[selected]
    }
}

extension DESFireCard {
    func key(_ number: UInt8) -> DESFireKey? {
        guard let selected else { return number == 0 ? contents.masterKey : nil }
        return contents.applications[selected].key(number)
    }

    // MARK: Keys

    /// CHANGE KEY. Only the card's master key may change its kind, which the upper bits of the key number give.
    mutating func changeKey(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard let authenticatedKey, session != nil else { throw .authenticationError }
        guard let first = data.first else { throw .lengthError }
        let number = selected == nil ? first & 0x3F : first
        guard let old = key(number) else { throw .noSuchKey }
        guard mayChangeKey(number) else { throw .permissionDenied }
        guard let kind = selected == nil ? DESFireKey.Kind(code: first) : old.kind else { throw .parameterError }
        let isOwn = number == authenticatedKey
        let key = try session?.openKey(first, Array(data.dropFirst()), kind, replacing: isOwn ? nil : old)
        if let key {
            if let selected {
                contents.applications[selected].setKey(number, key)
            } else {
                contents.masterKey = key
            }
        }
        return try endKeyChange(ofSession: isOwn)
    }

    /// Returns whether the key settings let the authenticated key change a key (MF3ICD81 data sheet, 9.4.3).
    private func mayChangeKey(_ number: UInt8) -> Bool {
        guard let selected else { return authenticatedKey == 0 && contents.keySettings & 0x01 != 0 }
        let settings = contents.applications[selected].keySettings
        guard number != 0 else { return authenticatedKey == 0 && settings & 0x01 != 0 }
        switch settings >> 4 {
        case 0x0F: return false
        case 0x0E: return authenticatedKey == number
        case number: return authenticatedKey == 0
        case let changer: return authenticatedKey == changer
        }
    }

    // MARK: Key settings

    func keySettings(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 0)
        guard let selected else {
            guard contents.keySettings & 0x02 != 0 || authenticatedKey == 0 else { throw .authenticationError }
            return DESFireReply(data: [contents.keySettings, 0x01 | contents.masterKey.kind.code])
        }
        let application = contents.applications[selected]
        guard mayList(application) else { throw .authenticationError }
        // The answer does not contain the bit for ISO identifiers.
        return DESFireReply(data: [application.keySettings, application.keyCount & ~0x20])
    }

    /// CHANGE KEY SETTINGS. This needs the master key, and settings that allow changes.
    mutating func changeKeySettings(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard authenticatedKey == 0 else { throw .authenticationError }
        let settings = selected.map { contents.applications[$0].keySettings } ?? contents.keySettings
        guard settings & 0x08 != 0 else { throw .permissionDenied }
        try expect(data, 1)
        if let selected {
            contents.applications[selected].keySettings = data[0]
        } else {
            contents.keySettings = data[0]
        }
        return DESFireReply(programmed: 1)
    }
}

/// SET CONFIGURATION (5C), which needs the card's master key (MF3ICD81 data sheet, 9.4; format as in libfreefare).
extension DESFireCard {
    /// The options of SET CONFIGURATION. Options of later products are refused.
    private enum Option: UInt8 {
        case card = 0x00, defaultKey, answerToSelect
    }

    /// Returns the protection of the data after the option. An ATS has a variable length, so its end is marked.
    func configurationProtection(_ data: [UInt8]) throws(DESFireStatus) -> Protection {
        guard selected == nil else { throw .permissionDenied }
        guard authenticatedKey == 0 else { throw .authenticationError }
        guard let code = data.first else { throw .lengthError }
        switch Option(rawValue: code) {
        case .card: return .command(.enciphered, header: 1, length: 1)
        case .defaultKey:
            return .command(.enciphered, header: 1, length: DESFireConfiguration.defaultKeyLength + 1)
        case .answerToSelect: return .markedCommand(header: 1)
        case nil: throw .parameterError
        }
    }

    /// Executes SET CONFIGURATION. The options for the whole card can't be switched off again.
    mutating func setConfiguration(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard let code = data.first, let option = Option(rawValue: code) else { throw .parameterError }
        let value = Array(data.dropFirst())
        var configuration = contents.configuration
        switch option {
        case .card:
            guard value.count == 1 else { throw .lengthError }
            guard value[0] & ~0x03 == 0 else { throw .parameterError }
            if value[0] & 0x01 != 0 { configuration.isFormatDisabled = true }
            if value[0] & 0x02 != 0 { configuration.usesRandomUID = true }
        case .defaultKey:
            guard value.count == DESFireConfiguration.defaultKeyLength + 1 else { throw .lengthError }
            let isZero = value.allSatisfy { $0 == 0 }
            configuration.defaultKey = isZero ? nil : Array(value.dropLast())
            configuration.defaultKeyVersion = value[DESFireConfiguration.defaultKeyLength]
        case .answerToSelect:
            guard (1...DESFireConfiguration.maximumAnswerToSelect).contains(value.count),
                Int(value[0]) == value.count
            else { throw .parameterError }
            configuration.answerToSelect = value
        }
        contents.configuration = configuration
        return DESFireReply(programmed: Self.programmingUnit)
    }
}
