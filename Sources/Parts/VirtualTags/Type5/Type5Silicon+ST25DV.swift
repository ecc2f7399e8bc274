// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Configuration, passwords, areas and mailbox of ST25DV as a reader sees them (DS10925).
///
/// Codes, registers and parameters are those of ST's software development kit and drivers. Where those do not say which
/// error code a refusal has: 0F is a wrong password and a mailbox that is not ready, 12 what is locked or lacks its
/// session. Not modelled: what RF_MNGT switches off, and the pin that MANAGE GPO moves.
extension Type5Silicon {
    private static let configurationPassword: UInt8 = 0

    mutating func dynamicTag(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let parameters = request.parameters
        switch request.command {
        case 0xA0:
            guard parameters.count == 1 else { throw .notRecognised }
            return Type5Reply([try register(parameters[0])])
        case 0xA1:
            guard parameters.count == 2 else { throw .notRecognised }
            return try writeRegister(parameters[0], parameters[1])
        case 0xA9:
            guard parameters.count == 1 else { throw .notRecognised }
            return Type5Reply()
        case 0xAA, 0xCA: return try writeMessage(parameters)
        case 0xAB, 0xCB:
            guard parameters.isEmpty else { throw .notRecognised }
            guard mailbox.isEnabled, !mailbox.message.isEmpty else { throw .unknown }
            return Type5Reply([UInt8(truncatingIfNeeded: mailbox.message.count - 1)])
        case 0xAC, 0xCC: return try readMessage(parameters)
        case 0xAD, 0xCD:
            guard parameters.count == 1 else { throw .notRecognised }
            return Type5Reply([try dynamicRegister(parameters[0])])
        case 0xAE, 0xCE:
            guard parameters.count == 2 else { throw .notRecognised }
            return try writeDynamicRegister(parameters[0], parameters[1])
        case 0xB1, 0xB3: return try password(request)
        case 0xC0, 0xC3, 0xC4, 0xC5: return try fastRead(request)
        default: throw .notSupported
        }
    }

    /// FAST READ SINGLE BLOCK and FAST READ MULTIPLE BLOCKS, and the extended ones: the answer is twice as fast on
    /// silicon, and the same otherwise.
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

    /// READ CONFIGURATION. The lock of the capability container shows what LOCK BLOCK did.
    private func register(_ pointer: UInt8) throws(Type5Error) -> UInt8 {
        switch pointer {
        case 0x0C:
            return (contents.lockedBlocks.contains(0) ? 0x01 : 0x00) | (contents.lockedBlocks.contains(1) ? 0x02 : 0x00)
        case 0x0B, 0x10...0xFF: throw .notAvailable
        default: return contents.settings.registers[Int(pointer)]
        }
    }

    /// WRITE CONFIGURATION, in a session of the configuration password, until the configuration is locked.
    private mutating func writeRegister(_ pointer: UInt8, _ value: UInt8) throws(Type5Error) -> Type5Reply {
        guard pointer < 0x10, pointer != 0x0B, pointer != 0x0C else { throw .notAvailable }
        guard session == Self.configurationPassword, contents.settings.registers[0x0F] & 0x01 == 0 else {
            throw .locked
        }
        if [0x05, 0x07, 0x09].contains(pointer) { try checkEnd(pointer, value) }
        let masks: [UInt8] = [0xFF, 0x07, 0x01, 0x03, 0x0F, 0xFF, 0x0F, 0xFF, 0x0F, 0xFF, 0x0F, 0, 0, 0x01, 0x07, 0x01]
        if tear != .old { contents.settings.registers[Int(pointer)] = value & masks[Int(pointer)] }
        return Type5Reply(programmedBlocks: 1)
    }

    /// An area ends behind the one before it, and within the memory; it is changed while those after it end with the
    /// memory. The order is ST's advice to programmers; that the chip insists on it was not found in so many words.
    private func checkEnd(_ pointer: UInt8, _ value: UInt8) throws(Type5Error) {
        let registers = contents.settings.registers
        let last = UInt8(truncatingIfNeeded: product.blockCount * product.blockSize / 32 - 1)
        let index = Int(pointer)
        guard value <= last, index == 0x05 || value > registers[index - 2] || value == last,
            index == 0x09 || registers[index + 2] == last
        else { throw .unknown }
    }

    // MARK: Passwords

    /// PRESENT PASSWORD and WRITE PASSWORD: a number and 8 octets. One session is open at a time; a wrong password ends
    /// it. A password is changed in its own session.
    private mutating func password(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let parameters = request.parameters
        guard parameters.count == 9 else { throw .notRecognised }
        let number = parameters[0]
        guard number < 4 else { throw .notAvailable }
        let octets = Array(parameters[1...])
        if request.command == 0xB3 {
            let isRight = contents.settings.passwords[Int(number)] == octets
            session = isRight ? number : nil
            guard isRight else { throw .unknown }
            return Type5Reply()
        }
        guard session == number else { throw .locked }
        if tear != .old { contents.settings.passwords[Int(number)] = octets }
        return Type5Reply(programmedBlocks: 1)
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

    /// WRITE DYNAMIC CONFIGURATION: energy harvesting, and the mailbox where MB_MODE lets it and the chip has a supply.
    private mutating func writeDynamicRegister(_ pointer: UInt8, _ value: UInt8) throws(Type5Error) -> Type5Reply {
        switch pointer {
        case 0x02:
            harvestsEnergy = value & 0x01 != 0
        case 0x0D:
            let isAllowed = contents.settings.registers[0x0D] & 0x01 != 0 && contents.settings.isSupplied
            guard value & 0x01 == 0 || isAllowed else { throw .unknown }
            mailbox.enable(value & 0x01 != 0)
        default: throw .notAvailable
        }
        return Type5Reply()
    }

    /// WRITE MESSAGE: the length less one, and the octets.
    private mutating func writeMessage(_ parameters: [UInt8]) throws(Type5Error) -> Type5Reply {
        guard let length = parameters.first, parameters.count == Int(length) + 2 else { throw .notRecognised }
        guard mailbox.put(Array(parameters.dropFirst()), from: .reader) else { throw .unknown }
        return Type5Reply()
    }

    /// READ MESSAGE: where to begin, and how many octets less one.
    private mutating func readMessage(_ parameters: [UInt8]) throws(Type5Error) -> Type5Reply {
        guard parameters.count == 2 else { throw .notRecognised }
        let first = Int(parameters[0])
        guard let octets = mailbox.read(first..<(first + Int(parameters[1]) + 1), by: .reader) else { throw .unknown }
        return Type5Reply(octets)
    }
}

/// The mailbox of ST25DV: one message of up to 256 octets, from the reader to the host or the other way (DS10925, fast
/// transfer mode). Its watchdog, which forgets messages that nobody reads, needs a clock and is not modelled.
struct ST25Mailbox: Sendable {
    /// Who put the message that is there.
    enum Sender: Sendable {
        case host
        case reader
    }

    private(set) var isEnabled = false
    private(set) var message: [UInt8] = []
    /// Who put the present message.
    private var sender: Sender?
    /// Whether it waits to be read.
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

    /// Switches the mailbox on or off. Either way it is empty afterwards.
    mutating func enable(_ isEnabled: Bool) {
        guard isEnabled != self.isEnabled else { return }
        self = ST25Mailbox()
        self.isEnabled = isEnabled
    }

    /// Puts a message. It is not taken while another one waits to be read.
    ///
    /// - Returns: whether it was taken.
    mutating func put(_ message: [UInt8], from sender: Sender) -> Bool {
        guard isEnabled, !isWaiting, (1...256).contains(message.count) else { return false }
        self.message = message
        self.sender = sender
        isWaiting = true
        return true
    }

    /// Reads a part of the message, whoever put it. When its last octet is read by the one whom it is for, it no longer
    /// waits.
    ///
    /// - Returns: the octets, or nil when there is no such part.
    mutating func read(_ range: Range<Int>, by reader: Sender) -> [UInt8]? {
        guard isEnabled, sender != nil, !range.isEmpty, range.upperBound <= message.count else { return nil }
        if range.upperBound == message.count, sender != reader { isWaiting = false }
        return Array(message[range])
    }

    /// Whether a message waits for the host.
    var holdsMessageForHost: Bool { isWaiting && sender == .reader }
}
