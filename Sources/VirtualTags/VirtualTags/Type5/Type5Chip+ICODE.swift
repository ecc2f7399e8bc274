// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Passwords, pages and privacy of ICODE SLIX (SL2S2002 data sheet, 9.4.3), SLIX-S (SL2S5302 data sheet, 8.4.3), SLIX-L
/// and SLIX2 (SL2S2602 data sheet, 9.5.3).
extension Type5Chip {
    private static let readPassword: UInt8 = 0x01
    private static let writePassword: UInt8 = 0x02
    private static let privacyPassword: UInt8 = 0x04
    private static let destroyPassword: UInt8 = 0x08

    /// The commands, and the number of parameter bytes of each.
    private static let icodeCommands: [UInt8: Int] = [
        0xAB: 0, 0xB2: 0, 0xB3: 5, 0xB4: 5, 0xB5: 1, 0xB6: 2, 0xB7: 1, 0xB9: 4, 0xBA: 4, 0xBB: 0, 0xBD: 0,
    ]

    mutating func icode(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let features = product.features
        switch request.command {
        case 0xBD: guard features.contains(.signature) else { throw .notSupported }
        case 0xB2...0xB5: guard features.contains(.passwords) else { throw .notSupported }
        case 0xB9, 0xBA: guard features.contains(.privacy) else { throw .notSupported }
        default: guard features.contains(.pages) else { throw .notSupported }
        }
        if request.command == 0xBC { return stayQuietPersistently(request) }
        try expect(request, Self.icodeCommands)
        switch request.command {
        case 0xAB: return productInformation()
        case 0xB2: return nextChallenge()
        case 0xB3: return try setPassword(request)
        case 0xB4: return try writePassword(request)
        case 0xB5: return try lockPassword(request)
        case 0xB6: return try protectPages(request)
        case 0xB7: return try lockPages(request)
        case 0xB9: return try destroy(request)
        case 0xBA: return try enablePrivacy(request)
        case 0xBB: return try joinPasswords(request)
        default: return Type5Reply(contents.signature)
        }
    }

    // MARK: Passwords

    /// Returns whether a password, covered by the random number, is right. After a wrong password, the tag accepts no
    /// more commands until it loses power (SL2S2002 data sheet, 9.4.3.2).
    private mutating func accepts(_ covered: some Collection<UInt8>, _ identifier: UInt8) throws(Type5Error) {
        let isRight = contents.passwords[identifier] == Self.word(uncovered(covered))
        guard isRight || contents.protection.acceptsEveryPassword else {
            isMute = true
            throw .unknown
        }
    }

    /// Throws if a command for a single tag has no address. The error code is a guess.
    private func checkDirected(_ request: Type5Request) throws(Type5Error) {
        guard request.isDirected else { throw .unknown }
    }

    /// SET PASSWORD. The privacy password needs no address, and ends privacy mode.
    private mutating func setPassword(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let parameters = request.parameters
        let identifier = parameters[0]
        guard contents.passwords[identifier] != nil else { throw .unknown }
        if identifier != Self.privacyPassword { try checkDirected(request) }
        try accepts(parameters[1...], identifier)
        presentedPasswords.insert(identifier)
        if identifier == Self.privacyPassword { contents.protection.isPrivate = false }
        return Type5Reply()
    }

    /// WRITE PASSWORD, which needs the old password. The new password gives access only after SET PASSWORD.
    private mutating func writePassword(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let parameters = request.parameters
        try checkDirected(request)
        guard presentedPasswords.contains(parameters[0]) else { throw .unknown }
        guard !contents.protection.lockedPasswords.contains(parameters[0]) else { throw .locked }
        contents.passwords[parameters[0]] = Self.word(parameters[1...])
        presentedPasswords.remove(parameters[0])
        return .programmed
    }

    /// LOCK PASSWORD, which needs this password.
    private mutating func lockPassword(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let identifier = request.parameters[0]
        try checkDirected(request)
        guard presentedPasswords.contains(identifier) else { throw .unknown }
        guard !contents.protection.lockedPasswords.contains(identifier) else { throw .alreadyLocked }
        contents.protection.lockedPasswords.insert(identifier)
        return .programmed
    }

    // MARK: Pages

    /// Throws unless the read and the write password were given. Changing the protection of pages needs both, as in
    /// Flipper's model; the predecessor's data sheet only requires the passwords of a protected page.
    private func checkPages(_ request: Type5Request) throws(Type5Error) {
        try checkDirected(request)
        guard presentedPasswords.isSuperset(of: [Self.readPassword, Self.writePassword]) else { throw .unknown }
    }

    /// PROTECT PAGE: the start of the higher page, and the protection of both pages.
    private mutating func protectPages(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let parameters = request.parameters
        try checkPages(request)
        guard !contents.protection.isConditionLocked else { throw .locked }
        guard Int(parameters[0]) < product.dataBlockCount else { throw .notAvailable }
        contents.protection.pointer = parameters[0]
        contents.protection.condition = ICODEProtection.Condition(rawValue: parameters[1] & 0x33)
        return .programmed
    }

    /// LOCK PAGE PROTECTION CONDITION. Its parameter must be the current pointer, which is a guess.
    private mutating func lockPages(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        try checkPages(request)
        guard request.parameters[0] == contents.protection.pointer else { throw .unknown }
        guard !contents.protection.isConditionLocked else { throw .alreadyLocked }
        contents.protection.isConditionLocked = true
        return .programmed
    }

    /// 64 BIT PASSWORD PROTECTION: from now on, access needs both the read and the write password.
    private mutating func joinPasswords(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        try checkPages(request)
        contents.protection.needsBothPasswords = true
        return .programmed
    }

    // MARK: Privacy

    /// DESTROY: the tag never answers again.
    private mutating func destroy(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        try checkDirected(request)
        try accepts(request.parameters, Self.destroyPassword)
        contents.protection.isDestroyed = true
        return .programmed
    }

    private mutating func enablePrivacy(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        try accepts(request.parameters, Self.privacyPassword)
        contents.protection.isPrivate = true
        return .programmed
    }

    /// STAY QUIET PERSISTENT: like STAY QUIET, but lasts beyond a loss of power, until RESET TO READY. A real tag's
    /// limit on the time without power is not modelled.
    private mutating func stayQuietPersistently(_ request: Type5Request) -> Type5Reply {
        if request.address != nil, request.parameters.isEmpty {
            state = .quiet
            contents.protection.isPersistentlyQuiet = true
        }
        return .silence
    }

    /// GET NXP SYSTEM INFORMATION: the protection of pages, the lock bits, and the abilities of the product.
    private func productInformation() -> Type5Reply {
        var locks: UInt8 = 0
        if contents.isAFILocked { locks |= 0x01 }
        if contents.isSurveillanceLocked { locks |= 0x02 }
        if contents.isDSFIDLocked { locks |= 0x04 }
        if contents.protection.isConditionLocked { locks |= 0x08 }
        let protection = contents.protection
        return Type5Reply([protection.pointer, protection.condition.rawValue, locks, 0x7F, 0x35, 0x00, 0x00])
    }
}

/// Electronic article surveillance of ICODE SLIX (SL2S2002 data sheet, 9.4.3.7 to 9.4.3.11) and SLIX2.
extension Type5Chip {
    private static let password: UInt8 = 0x10

    /// The answer to EAS ALARM (SL2S2002 data sheet, 9.4.3.10).
    static let alarm: [UInt8] = [
        0x2F, 0xB3, 0x62, 0x70, 0xD5, 0xA7, 0x90, 0x7F, 0xE8, 0xB1, 0x80, 0x38, 0xD2, 0x81, 0x49, 0x76,
        0x82, 0xDA, 0x9A, 0x86, 0x6F, 0xAF, 0x8B, 0xB0, 0xF1, 0x9C, 0xD1, 0x12, 0xA5, 0x72, 0x37, 0xEF,
    ]

    mutating func surveillance(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        switch request.command {
        case 0xA5: return surveillanceAlarm(request)
        case 0xA6: return try protectSurveillance(request)
        case 0xA7 where product.features.contains(.pages): return try writeSurveillanceIdentifier(request)
        case 0xA7: throw .notSupported
        default: return try changeSurveillance(request)
        }
    }

    /// SET EAS, RESET EAS and LOCK EAS.
    private mutating func changeSurveillance(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        guard request.parameters.isEmpty else { throw .notRecognised }
        if contents.isSurveillanceLocked { throw request.command == 0xA4 ? .alreadyLocked : .locked }
        try checkSurveillance()
        switch request.command {
        case 0xA2: contents.isSurveillanceSet = true
        case 0xA3: contents.isSurveillanceSet = false
        default: contents.isSurveillanceLocked = true
        }
        return .programmed
    }

    private func checkSurveillance() throws(Type5Error) {
        guard !contents.protection.isSurveillanceProtected || presentedPasswords.contains(Self.password) else {
            throw .unknown
        }
    }

    /// Throws if the application family is protected and its password is missing.
    func checkFamily() throws(Type5Error) {
        guard !contents.protection.isFamilyProtected || presentedPasswords.contains(Self.password) else {
            throw .unknown
        }
    }

    /// EAS ALARM: a fixed sequence, if the bit is set. With the option flag, SLIX2 compares its identifier with the
    /// given one, or sends it if none is given (SL2 ICS53 data sheet, 8.1.3.16). On an error the tag does not answer.
    private func surveillanceAlarm(_ request: Type5Request) -> Type5Reply {
        guard contents.isSurveillanceSet else { return .silence }
        guard request.option, product.features.contains(.pages) else {
            return request.parameters.isEmpty ? Type5Reply(Self.alarm) : .silence
        }
        let identifier = contents.protection.surveillanceIdentifier
        let ownBytes = identifier.littleEndianBytes
        guard let length = request.parameters.first else { return .silence }
        let value = Array(request.parameters.dropFirst())
        guard [0, 8, 16].contains(length), value.count == Int(length) / 8, ownBytes.starts(with: value) else {
            return .silence
        }
        return Type5Reply(length == 0 ? ownBytes : Self.alarm)
    }

    /// PASSWORD PROTECT EAS/AFI, which needs the password. The option flag selects EAS or AFI. This is permanent.
    private mutating func protectSurveillance(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        guard request.parameters.isEmpty else { throw .notRecognised }
        guard presentedPasswords.contains(Self.password) else { throw .unknown }
        if request.option {
            contents.protection.isFamilyProtected = true
        } else {
            contents.protection.isSurveillanceProtected = true
        }
        return Type5Reply(programmedBlocks: 1, ignoresOption: true)
    }

    private mutating func writeSurveillanceIdentifier(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        guard request.parameters.count == 2 else { throw .notRecognised }
        guard !contents.isSurveillanceLocked else { throw .locked }
        try checkSurveillance()
        contents.protection.surveillanceIdentifier = UInt16(Self.word(request.parameters))
        return .programmed
    }
}
