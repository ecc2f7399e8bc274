// SPDX-License-Identifier: Apache-2.0

extension DESFireCard {
    // MARK: Authentication

    /// The first part of an authentication: an encrypted challenge (MF3ICD81 data sheet, 9.4; NT4H2421Gx data sheet,
    /// 10.4, for the commands from EV2 on).
    mutating func authenticate(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        let previous = session as? EV2Messaging
        forgetAuthentication()
        guard let scheme = CardAuthentication.Scheme(rawValue: command) else { throw .illegalCommand }
        guard let number = data.first, data.count == scheme.length(of: data) else { throw .lengthError }
        guard let key = key(number) else { throw .noSuchKey }
        guard scheme.takes(key.kind) else { throw .authenticationError }
        guard scheme != .ev2NonFirst || previous != nil else { throw .permissionDenied }
        let authentication = CardAuthentication(
            scheme,
            number: number,
            key: key,
            challenge: random.bytes(16),
            capabilities: Array(data.dropFirst(2))
        )
        pending = .proof(authentication, after: previous)
        return DESFireReply(data: authentication.sent, status: .additionalFrame)
    }

    /// The second part: the reader's proof and the card's.
    mutating func prove(
        _ authentication: CardAuthentication,
        _ proof: [UInt8],
        after previous: EV2Messaging?
    ) throws(DESFireStatus) -> DESFireReply {
        let transaction = random.bytes(4)
        let (answer, session) = try authentication.finish(proof, transaction: transaction, session: previous)
        self.session = session
        authenticatedKey = authentication.number
        return DESFireReply(data: answer)
    }

    /// Returns a key of the selected application or of the card.
    private func key(_ number: UInt8) -> DESFireKey? {
        guard let selected else { return number == 0 ? contents.masterKey : nil }
        return contents.applications[selected].key(number)
    }

    // MARK: Keys

    /// GET KEY VERSION.
    func keyVersion(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        guard let key = key(data[0]) else { throw .noSuchKey }
        return DESFireReply(data: [key.version])
    }

    /// CHANGE KEY. The kind of the card's master key may change; the upper bits of its number give the new kind.
    mutating func changeKey(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard let authenticatedKey, session != nil else { throw .authenticationError }
        guard let first = data.first else { throw .lengthError }
        let number = selected == nil ? first & 0x3F : first
        guard let old = key(number) else { throw .noSuchKey }
        guard mayChangeKey(number) else { throw .permissionDenied }
        guard let kind = selected == nil ? DESFireKey.Kind(code: first) : old.kind else { throw .parameterError }
        let isOwn = number == authenticatedKey
        let key = try session?.openKey(first, Array(data.dropFirst()), kind, replacing: isOwn ? nil : old)
        if let key, tear != .old {
            if let selected {
                contents.applications[selected].setKey(number, key)
            } else {
                contents.masterKey = key
            }
        }
        guard !isOwn else {
            forgetAuthentication()
            return DESFireReply(programmed: Self.programmingUnit)
        }
        let code = try session?.seal([], .standard, status: 0x00) ?? []
        return DESFireReply(data: code, programmed: Self.programmingUnit)
    }

    /// Returns whether the authenticated key may change a key, by the key settings (MF3ICD81 data sheet, 9.4.3).
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

    /// GET KEY SETTINGS.
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

    /// CHANGE KEY SETTINGS, with the master key, while the settings allow changes.
    mutating func changeKeySettings(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        guard authenticatedKey == 0 else { throw .authenticationError }
        let settings = selected.map { contents.applications[$0].keySettings } ?? contents.keySettings
        guard settings & 0x08 != 0 else { throw .permissionDenied }
        try expect(data, 1)
        if tear != .old {
            if let selected {
                contents.applications[selected].keySettings = data[0]
            } else {
                contents.keySettings = data[0]
            }
        }
        return DESFireReply(programmed: 1)
    }
}
