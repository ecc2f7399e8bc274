// SPDX-License-Identifier: Apache-2.0

/// SET CONFIGURATION (5C), with the card's master key (MF3ICD81 data sheet, 9.4; the format of its data as in
/// libfreefare).
extension DESFireCard {
    /// The options of SET CONFIGURATION. Those of later products are refused.
    private enum Option: UInt8 {
        case card = 0x00, defaultKey, answerToSelect
    }

    /// Returns how the data after the option are protected. An ATS has no fixed length, so its end is marked.
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

    /// Executes SET CONFIGURATION. An option that is switched on for the whole card stays on.
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
        if tear != .old { contents.configuration = configuration }
        return DESFireReply(programmed: Self.programmingUnit)
    }
}

extension DESFireCard: SelfPresentingCard {
    package var presentation: CardPresentation {
        CardPresentation(
            usesRandomUID: contents.configuration.usesRandomUID,
            answerToSelect: contents.configuration.answerToSelect
        )
    }
}
