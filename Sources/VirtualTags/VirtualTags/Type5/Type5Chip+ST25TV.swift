// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Configuration, passwords, surveillance, kill and untraceable mode of ST25TV02K and ST25TV512 (DS12074).
///
/// Codes, registers, passwords and parameters are those of ST's software development kit. Only excerpts of the data
/// sheet were available, and they do not say which error code a refusal has. Here 0F means a wrong password, and 12
/// means locked or without the required session. READ SIGNATURE (DB) is not modelled, because the format of its answer
/// is unknown.
extension Type5Chip {
    private static let killPassword: UInt8 = 0
    private static let configurationPassword: UInt8 = 3

    /// The commands with a fixed number of bytes.
    private static let plainCommands: [UInt8: Int] = [
        0xA0: 1, 0xA1: 2, 0xA2: 0, 0xA3: 0, 0xA4: 0, 0xA5: 0, 0xA7: 2, 0xA8: 1, 0xB1: 5, 0xB4: 0, 0xC2: 0, 0xD2: 0,
    ]

    mutating func plainTag(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let parameters = request.parameters
        switch request.command {
        case 0xA6: return try kill(request)
        case 0xB2: return try lockKill(parameters)
        case 0xB3: return try presentTagPassword(parameters)
        case 0xBA: return try becomeUntraceable(parameters)
        case 0xC0, 0xC3: return try fastRead(request)
        default: try expect(request, Self.plainCommands)
        }
        switch request.command {
        case 0xA0: return Type5Reply(try tagRegister(parameters[0]))
        case 0xA1: return try writeTagRegister(parameters[0], parameters[1])
        case 0xB1: return try writeTagPassword(parameters)
        case 0xB4: return nextChallenge()
        case 0xC2, 0xD2:
            isInitiated = true
            return Type5Reply([contents.dsfid] + address)
        default: return try tagSurveillance(request)
        }
    }

    // MARK: Registers

    private func tagRegister(_ pointer: UInt8) throws(Type5Error) -> [UInt8] {
        switch pointer {
        case 0x04: return contents.counter.littleEndianBytes
        case 0x05: return [contents.settings.isTamperLoopClosed ? 0x01 : 0x00]
        case 0x00...0x07: return [contents.settings.registers[Int(pointer)]]
        default: throw .notAvailable
        }
    }

    /// WRITE CONFIGURATION, in a session of the configuration password, unless the configuration is locked. Bit 1 of
    /// the counter's register resets the counter and switches it off.
    private mutating func writeTagRegister(_ pointer: UInt8, _ value: UInt8) throws(Type5Error) -> Type5Reply {
        guard [0x00, 0x01, 0x02, 0x03, 0x06].contains(pointer) else { throw .notAvailable }
        guard session == Self.configurationPassword, contents.settings.registers[6] & 0x01 == 0 else { throw .locked }
        if pointer == 0x03, value & 0x02 != 0 {
            contents.counter = 0
            contents.settings.registers[3] = 0
        } else {
            let mask: UInt8 = pointer == 0x00 ? 0x07 : pointer == 0x01 ? 0x03 : 0x01
            contents.settings.registers[Int(pointer)] = value & mask
        }
        return .programmed
    }

    /// Counts the first write to the memory since the tag was powered, if the counter is on. That it counts writes is a
    /// guess from ST's name for its register.
    mutating func countWrite() {
        guard product.features.contains(.tagConfiguration), contents.settings.registers[3] & 0x01 != 0, !hasCounted
        else { return }
        hasCounted = true
        contents.counter = min(contents.counter, 0xFFFE) + 1
    }

    // MARK: Passwords

    /// Returns the bytes of a password. That of area 1 has 8 bytes if it is the only area: those of areas 1 and 2.
    private func tagPassword(_ identifier: UInt8) -> [UInt8]? {
        let passwords = contents.settings.passwords
        guard identifier < passwords.count else { return nil }
        if identifier == 1, !hasTwoAreas { return passwords[1] + passwords[2] }
        return passwords[Int(identifier)]
    }

    private func matches(_ covered: some Collection<UInt8>, _ identifier: UInt8) -> Bool {
        tagPassword(identifier) == uncovered(covered)
    }

    /// PRESENT PASSWORD, covered by the random number. The password for kill and untraceable mode ends that mode.
    private mutating func presentTagPassword(_ parameters: [UInt8]) throws(Type5Error) -> Type5Reply {
        guard let identifier = parameters.first else { throw .notRecognised }
        guard let password = tagPassword(identifier) else { throw .notAvailable }
        guard parameters.count == 1 + password.count else { throw .notRecognised }
        session = nil
        guard matches(parameters[1...], identifier) else { throw .unknown }
        session = identifier
        if identifier == Self.killPassword { contents.settings.isUntraceable = false }
        return Type5Reply()
    }

    /// WRITE PASSWORD, in a session of the old one: four bytes, not covered.
    private mutating func writeTagPassword(_ parameters: [UInt8]) throws(Type5Error) -> Type5Reply {
        let identifier = parameters[0]
        guard identifier < 4 else { throw .notAvailable }
        // In an undivided memory, the session of area 1 is for both halves of its password.
        let owner = identifier == 2 && !hasTwoAreas ? 1 : identifier
        guard session == owner, identifier != Self.killPassword || !contents.settings.isKillLocked else {
            throw .locked
        }
        contents.settings.passwords[Int(identifier)] = Array(parameters[1...])
        return .programmed
    }

    // MARK: Kill and untraceable mode

    /// KILL: the tag never answers again. The option flag must be 0 (DS12074, compatibility with LRI2K).
    private mutating func kill(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let parameters = request.parameters
        guard !request.option else { throw .optionNotSupported }
        guard parameters.count == 5, parameters[0] == 0 else { throw .notRecognised }
        guard matches(parameters[1...], Self.killPassword) else { throw .unknown }
        contents.settings.isKilled = true
        return .programmed
    }

    /// LOCK KILL: the password can't be changed any more.
    private mutating func lockKill(_ parameters: [UInt8]) throws(Type5Error) -> Type5Reply {
        guard parameters == [0x00, 0x01] else { throw .notRecognised }
        guard !contents.settings.isKillLocked else { throw .alreadyLocked }
        contents.settings.isKillLocked = true
        return .programmed
    }

    private mutating func becomeUntraceable(_ parameters: [UInt8]) throws(Type5Error) -> Type5Reply {
        guard parameters.count == 5, parameters[0] == 0 else { throw .notRecognised }
        guard matches(parameters[1...], Self.killPassword) else { throw .unknown }
        contents.settings.isUntraceable = true
        return .programmed
    }

    // MARK: Surveillance

    /// SET, RESET, LOCK and ENABLE EAS, WRITE EAS ID and WRITE EAS CONFIGURATION.
    private mutating func tagSurveillance(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let parameters = request.parameters
        if request.command == 0xA5 { return tagAlarm(withIdentifier: request.option) }
        try checkTagSurveillance()
        switch request.command {
        case 0xA2: contents.settings.isSurveillanceSet = true
        case 0xA3: contents.settings.isSurveillanceSet = false
        case 0xA4: contents.settings.isSurveillanceLocked = true
        case 0xA7: contents.settings.surveillanceIdentifier = UInt16(Self.word(parameters))
        default: contents.settings.telegramLength = parameters[0] & 0x03
        }
        return .programmed
    }

    /// Returns the telegram or the identifier; no answer when the bit is not set.
    private func tagAlarm(withIdentifier: Bool) -> Type5Reply {
        let settings = contents.settings
        guard settings.isSurveillanceSet else { return .silence }
        let identifier = settings.surveillanceIdentifier
        if withIdentifier { return Type5Reply(identifier.littleEndianBytes) }
        return Type5Reply(Array(settings.telegram.prefix(32 >> Int(settings.telegramLength))))
    }

    private func checkTagSurveillance() throws(Type5Error) {
        let needsSession = contents.settings.registers[2] & 0x01 != 0
        guard !contents.settings.isSurveillanceLocked, !needsSession || session == Self.configurationPassword else {
            throw .locked
        }
    }

    /// The telegram is written as blocks F8 to FF. They can't be read.
    mutating func writeTelegram(_ block: Int, _ data: [UInt8]) throws(Type5Error) -> Type5Reply? {
        guard product.features.contains(.tagConfiguration), (0xF8...0xFF).contains(block), data.count == 4 else {
            return nil
        }
        try checkTagSurveillance()
        contents.settings.telegram.program(data, at: (block - 0xF8) * 4, tear: tear, unit: 4)
        return .programmed
    }
}
