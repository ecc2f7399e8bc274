// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Configuration, passwords, areas and mailbox of ST25DV, as a reader sees them (DS10925).
///
/// Codes, registers and parameters follow ST's software development kit and drivers, which do not always specify the
/// error code of a refusal. Here 0F means a wrong password or a mailbox that is not ready; 12 means locked or without
/// the required session. Not modelled: the effect of RF_MNGT, and the pin that MANAGE GPO controls.
extension Type5Chip {
    private static let dynamicConfigurationPassword: UInt8 = 0

    /// The commands with a fixed number of parameter bytes.
    private static let dynamicCommands: [UInt8: Int] = [
        0xA0: 1, 0xA1: 2, 0xA9: 1, 0xAB: 0, 0xCB: 0, 0xAC: 2, 0xCC: 2, 0xAD: 1, 0xCD: 1, 0xAE: 2, 0xCE: 2, 0xB1: 9,
        0xB3: 9,
    ]

    mutating func dynamicTag(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let parameters = request.parameters
        switch request.command {
        case 0xAA, 0xCA: return try writeMessage(parameters)
        case 0xC0, 0xC3, 0xC4, 0xC5: return try fastRead(request)
        default: try expect(request, Self.dynamicCommands)
        }
        switch request.command {
        case 0xA0: return Type5Reply([try register(parameters[0])])
        case 0xA1: return try writeRegister(parameters[0], parameters[1])
        // MANAGE GPO has no effect here.
        case 0xA9: return Type5Reply()
        case 0xAB, 0xCB:
            guard mailbox.isEnabled, !mailbox.message.isEmpty else { throw .unknown }
            return Type5Reply([UInt8(truncatingIfNeeded: mailbox.message.count - 1)])
        case 0xAC, 0xCC: return try readMessage(parameters)
        case 0xAD, 0xCD: return Type5Reply([try dynamicRegister(parameters[0])])
        case 0xAE, 0xCE: return try writeDynamicRegister(parameters[0], parameters[1])
        default: return try password(request)
        }
    }

    /// FAST READ SINGLE and MULTIPLE BLOCKS and their extended versions. A real chip answers the same, twice as fast.
    func fastRead(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let isExtended = request.command >= 0xC4
        let isSingle = request.command == 0xC0 || request.command == 0xC4
        let width = isExtended ? 2 : 1
        guard request.parameters.count == (isSingle ? width : 2 * width) else { throw .notRecognised }
        let first = Int(Self.word(request.parameters.prefix(width)))
        let count = isSingle ? 1 : Int(Self.word(request.parameters.suffix(width))) + 1
        return try readBlocks(first, count: count, withSecurity: request.option)
    }

    // MARK: Static registers

    /// READ CONFIGURATION. The register for the capability container's lock shows the result of LOCK BLOCK.
    private func register(_ pointer: UInt8) throws(Type5Error) -> UInt8 {
        switch pointer {
        case 0x0C:
            return (contents.lockedBlocks.contains(0) ? 0x01 : 0x00) | (contents.lockedBlocks.contains(1) ? 0x02 : 0x00)
        case 0x0B, 0x10...0xFF: throw .notAvailable
        default: return contents.settings.registers[Int(pointer)]
        }
    }

    /// WRITE CONFIGURATION needs a session of the configuration password and an unlocked configuration.
    private mutating func writeRegister(_ pointer: UInt8, _ value: UInt8) throws(Type5Error) -> Type5Reply {
        guard pointer < 0x10, pointer != 0x0B, pointer != 0x0C else { throw .notAvailable }
        guard session == Self.dynamicConfigurationPassword, contents.settings.registers[0x0F] & 0x01 == 0 else {
            throw .locked
        }
        if [0x05, 0x07, 0x09].contains(pointer) { try checkEnd(pointer, value) }
        let masks: [UInt8] = [0xFF, 0x07, 0x01, 0x03, 0x0F, 0xFF, 0x0F, 0xFF, 0x0F, 0xFF, 0x0F, 0, 0, 0x01, 0x07, 0x01]
        contents.settings.registers[Int(pointer)] = value & masks[Int(pointer)]
        return .programmed
    }

    /// Checks the end of an area. It must be after the previous end and within the memory, and can only change while
    /// the later areas end with the memory. ST recommends this order; that the chip enforces it is a guess.
    private func checkEnd(_ pointer: UInt8, _ value: UInt8) throws(Type5Error) {
        let registers = contents.settings.registers
        let last = UInt8(truncatingIfNeeded: product.blockCount * product.blockSize / 32 - 1)
        let index = Int(pointer)
        guard value <= last, index == 0x05 || value > registers[index - 2] || value == last,
            index == 0x09 || registers[index + 2] == last
        else { throw .unknown }
    }

    // MARK: Passwords

    /// PRESENT PASSWORD and WRITE PASSWORD: a number and 8 bytes. Only one session is open at a time, and a wrong
    /// password ends it. Changing a password needs that password's session.
    private mutating func password(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let parameters = request.parameters
        let number = parameters[0]
        guard number < 4 else { throw .notAvailable }
        let bytes = Array(parameters[1...])
        if request.command == 0xB3 {
            let isRight = contents.settings.passwords[Int(number)] == bytes
            session = isRight ? number : nil
            guard isRight else { throw .unknown }
            return Type5Reply()
        }
        guard session == number else { throw .locked }
        contents.settings.passwords[Int(number)] = bytes
        return .programmed
    }

    // MARK: Dynamic registers and mailbox

    /// READ DYNAMIC CONFIGURATION: GPO_CTRL_Dyn, EH_CTRL_Dyn (with the field and the supply) and MB_CTRL_Dyn.
    private func dynamicRegister(_ pointer: UInt8) throws(Type5Error) -> UInt8 {
        switch pointer {
        case 0x00: return contents.settings.registers[0]
        case 0x02: return (harvestsEnergy ? 0x01 : 0x00) | 0x04 | (contents.settings.isSupplied ? 0x08 : 0x00)
        case 0x0D: return mailbox.register
        default: throw .notAvailable
        }
    }

    /// WRITE DYNAMIC CONFIGURATION: energy harvesting; and the mailbox, if MB_MODE allows it and the chip has a supply.
    private mutating func writeDynamicRegister(_ pointer: UInt8, _ value: UInt8) throws(Type5Error) -> Type5Reply {
        switch pointer {
        case 0x02: harvestsEnergy = value & 0x01 != 0
        case 0x0D:
            let isAllowed = contents.settings.registers[0x0D] & 0x01 != 0 && contents.settings.isSupplied
            guard value & 0x01 == 0 || isAllowed else { throw .unknown }
            mailbox.enable(value & 0x01 != 0)
        default: throw .notAvailable
        }
        return Type5Reply()
    }

    /// WRITE MESSAGE: the length minus one, and the bytes.
    private mutating func writeMessage(_ parameters: [UInt8]) throws(Type5Error) -> Type5Reply {
        guard let length = parameters.first, parameters.count == Int(length) + 2 else { throw .notRecognised }
        guard mailbox.put(Array(parameters.dropFirst()), from: .reader) else { throw .unknown }
        return Type5Reply()
    }

    /// READ MESSAGE: the start, and the number of bytes minus one.
    private mutating func readMessage(_ parameters: [UInt8]) throws(Type5Error) -> Type5Reply {
        let first = Int(parameters[0])
        guard let bytes = mailbox.read(first..<(first + Int(parameters[1]) + 1), by: .reader) else { throw .unknown }
        return Type5Reply(bytes)
    }
}

/// The mailbox of ST25DV: one message of up to 256 bytes, from the reader to the host or back (DS10925, fast
/// transfer mode). The watchdog, which deletes messages that nobody reads, needs a clock and is not modelled.
struct ST25Mailbox: Sendable {
    enum Sender: Sendable {
        case host
        case reader
    }

    private(set) var isEnabled = false
    private(set) var message: [UInt8] = []
    private var sender: Sender?
    private var isWaiting = false

    /// The control register MB_CTRL_Dyn.
    var register: UInt8 {
        var register: UInt8 = isEnabled ? 0x01 : 0x00
        switch sender {
        case .host: register |= (isWaiting ? 0x02 : 0x00) | 0x40
        case .reader: register |= (isWaiting ? 0x04 : 0x00) | 0x80
        case nil: break
        }
        return register
    }

    mutating func enable(_ isEnabled: Bool) {
        guard isEnabled != self.isEnabled else { return }
        self = ST25Mailbox()
        self.isEnabled = isEnabled
    }

    /// Stores a message, unless an earlier message is still unread. Returns whether it was stored.
    mutating func put(_ message: [UInt8], from sender: Sender) -> Bool {
        guard isEnabled, !isWaiting, (1...256).contains(message.count) else { return false }
        self.message = message
        self.sender = sender
        isWaiting = true
        return true
    }

    /// Returns a range of the message, which either side may read; nil if the range is invalid. The message counts as
    /// read when the receiver reads its last byte.
    mutating func read(_ range: Range<Int>, by reader: Sender) -> [UInt8]? {
        guard isEnabled, sender != nil, !range.isEmpty, range.upperBound <= message.count else { return nil }
        if range.upperBound == message.count, sender != reader { isWaiting = false }
        return Array(message[range])
    }

    var holdsMessageForHost: Bool { isWaiting && sender == .reader }
}

/// Configuration, passwords, surveillance, kill and untraceable mode of ST25TV02K and ST25TV512 (DS12074).
///
/// Codes, registers, passwords and parameters follow ST's software development kit. The available excerpts of the data
/// sheet do not specify the error code of a refusal. Here 0F means a wrong password; 12 means locked or without the
/// required session. READ SIGNATURE (DB) is not modelled, because its answer is unknown.
extension Type5Chip {
    private static let killPassword: UInt8 = 0
    private static let configurationPassword: UInt8 = 3

    /// The commands with a fixed number of parameter bytes.
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

    /// WRITE CONFIGURATION needs a session of the configuration password and an unlocked configuration. Bit 1 of the
    /// counter's register resets the counter and switches it off.
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

    /// Counts the first write to the memory since power-up, if the counter is on. Counting writes is a guess, based on
    /// ST's name for the register.
    mutating func countWrite() {
        guard product.features.contains(.tagConfiguration), contents.settings.registers[3] & 0x01 != 0, !hasCounted
        else { return }
        hasCounted = true
        contents.counter = min(contents.counter, 0xFFFE) + 1
    }

    // MARK: Passwords

    /// Returns a password. If area 1 is the only area, its password joins those of areas 1 and 2 (8 bytes).
    private func tagPassword(_ identifier: UInt8) -> [UInt8]? {
        let passwords = contents.settings.passwords
        guard identifier < passwords.count else { return nil }
        if identifier == 1, !hasTwoAreas { return passwords[1] + passwords[2] }
        return passwords[Int(identifier)]
    }

    private func matches(_ covered: some Collection<UInt8>, _ identifier: UInt8) -> Bool {
        tagPassword(identifier) == uncovered(covered)
    }

    /// PRESENT PASSWORD, covered by the random number. The kill password also ends untraceable mode.
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

    /// WRITE PASSWORD, which needs a session of the old password: four bytes, not covered.
    private mutating func writeTagPassword(_ parameters: [UInt8]) throws(Type5Error) -> Type5Reply {
        let identifier = parameters[0]
        guard identifier < 4 else { throw .notAvailable }
        // In an undivided memory, the session of area 1 allows changing both halves of its password.
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

    /// LOCK KILL makes the kill password permanent.
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

    /// Returns the telegram or the identifier; no answer unless the surveillance bit is set.
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

    /// Writes the telegram, in blocks F8 to FF, which can't be read; nil for other blocks.
    mutating func writeTelegram(_ block: Int, _ data: [UInt8]) throws(Type5Error) -> Type5Reply? {
        guard product.features.contains(.tagConfiguration), (0xF8...0xFF).contains(block), data.count == 4 else {
            return nil
        }
        try checkTagSurveillance()
        contents.settings.telegram.program(data, at: (block - 0xF8) * 4, tear: tear, unit: 4)
        return .programmed
    }
}
