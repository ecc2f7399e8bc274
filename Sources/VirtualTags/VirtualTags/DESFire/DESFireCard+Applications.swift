// SPDX-License-Identifier: Apache-2.0
import TagLink

extension DESFireCard {
    /// SELECT APPLICATION. It ends an authentication, and is not protected.
    mutating func selectApplication(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 3)
        let identifier = UInt32(data.littleEndian(at: 0, count: 3))
        let index = contents.applications.firstIndex { $0.identifier == identifier }
        guard identifier == 0 || index != nil else { throw .applicationNotFound }
        select(index)
        return DESFireReply()
    }

    /// GET APPLICATION IDS and GET DF NAMES.
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

    /// CREATE APPLICATION: AID, settings, number and kind of keys; with bit 5 of that number also an ISO identifier and
    /// a name. The keys are zero, or the default key of SET CONFIGURATION.
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
        if tear != .old {
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
        }
        return DESFireReply(programmed: Self.programmingUnit)
    }

    /// The maximum number of applications on a card (MF3ICD81 data sheet, 9.1).
    static let applicationLimit = 28

    /// DELETE APPLICATION, with the card's master key; or with the application's own, if everybody may create
    /// applications. Unlike creating one, this is never free (MF3ICD81 data sheet, PICC master key settings, bit 2).
    mutating func deleteApplication(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 3)
        let identifier = UInt32(data.littleEndian(at: 0, count: 3))
        let index = contents.applications.firstIndex { $0.identifier == identifier }
        guard let index else { throw .applicationNotFound }
        guard selected == nil || selected == index else { throw .permissionDenied }
        let takesOwnKey = contents.keySettings & 0x04 != 0
        guard authenticatedKey == 0, selected == nil || takesOwnKey else { throw .authenticationError }
        if tear != .old {
            contents.applications.remove(at: index)
            if selected != nil { select(nil) }
        }
        return DESFireReply(programmed: Self.programmingUnit)
    }

    /// FORMAT PICC: deletes all applications. The card's master key stays.
    mutating func format(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 0)
        guard selected == nil, !contents.configuration.isFormatDisabled else { throw .permissionDenied }
        guard authenticatedKey == 0 else { throw .authenticationError }
        if tear != .old { contents.applications = [] }
        return DESFireReply(programmed: Self.programmingUnit)
    }

    func selectedApplication() throws(DESFireStatus) -> DESFireApplication {
        guard let selected else { throw .permissionDenied }
        return contents.applications[selected]
    }
}
