// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// A PN532, controlled by its host's commands: registers, settings and up to two targets (PN532 user manual, 7).
///
/// The chip is used on a serial line, where the commands are in frames, and in readers such as the ACR122U, where they
/// are in escape commands.
package struct PN53xChip: Sendable {
    package enum Outcome: Sendable, Equatable {
        /// The bytes of the answer after D5 and the command's code plus one.
        case answer([UInt8])
        /// The command is unknown, or its parameters are wrong. The chip reports a syntax error.
        case syntaxError
        /// The chip waits without limit for a target, or in card mode for a reader. Repeat the command when a target or
        /// reader may have arrived.
        case waiting

        static func status(_ status: PN53xStatus) -> Outcome { .answer([status.byte]) }
    }

    let field: any FieldDriver
    let finder: CardFinder
    /// The field in which the chip can be a card for another reader; nil without such a field.
    let place: (any CardSlot)?
    /// Called on any thread when a reader uses or leaves the chip's card.
    let onTargetChange: @Sendable () -> Void
    var target: Target?

    /// The targets that the host listed. Their numbers start at 1. Nil for a released target.
    var targets: [FieldCard?] = []
    var selected: Int?
    /// The registers of the contactless unit, with the values that the host wrote.
    var registers = PN53xRegisters()
    /// The byte set by SetParameters. By default, ATR_RES and RATS are automatic (7.2.9).
    var parameters: UInt8 = 0x14
    /// MxRtyPassiveActivation of RFConfiguration. FF means polling without limit (7.3.1).
    var passiveActivationRetries: UInt8 = 0xFF
    /// The response timeout of InCommunicateThru. 0A means 51.2 ms.
    var retryTimeout: UInt8 = 0x0A
    var isFieldOn = true
    /// The parts so far of a command that the host sends with several InDataExchange.
    var commandParts: [UInt8] = []
    var answerRest: [UInt8] = []

    package init(
        field: any FieldDriver,
        place: (any CardSlot)? = nil,
        onTargetChange: @escaping @Sendable () -> Void = {}
    ) {
        self.field = field
        self.place = place
        self.onTargetChange = onTargetChange
        finder = CardFinder(field: field)
    }

    /// The maximum number of data bytes in an answer to InDataExchange and InCommunicateThru.
    static let maximumData = 262

    /// Handles a command. It consists of the bytes after D4.
    package mutating func receive(_ command: [UInt8]) async -> Outcome {
        guard let first = command.first, let code = PN53xCommand(rawValue: first) else { return .syntaxError }
        let data = Array(command.dropFirst())
        if code.endsTargetMode { leaveTargetMode() }
        switch code {
        case .diagnose: return await diagnose(data)
        // IC PN532, version 1.6, with support for ISO/IEC 14443 A and B and ISO/IEC 18092.
        case .getFirmwareVersion: return .answer([0x32, 0x01, 0x06, 0x07])
        case .getGeneralStatus: return .answer(generalStatus)
        case .readRegister: return registers.read(data)
        case .writeRegister: return await writeRegisters(data)
        case .readGPIO: return .answer([0x3F, 0x07, 0x07])
        case .writeGPIO: return data.count == 2 ? .answer([]) : .syntaxError
        case .setSerialBaudRate: return data.count == 1 && data[0] <= 8 ? .answer([]) : .syntaxError
        case .setParameters:
            guard data.count == 1 else { return .syntaxError }
            parameters = data[0]
            return .answer([])
        case .samConfiguration: return data.isEmpty ? .syntaxError : .answer([])
        case .powerDown: return data.isEmpty ? .syntaxError : .answer([0])
        case .rfConfiguration: return await configure(data)
        case .inListPassiveTarget: return await listPassiveTarget(data)
        case .inAutoPoll: return await autoPoll(data)
        case .inDataExchange: return await dataExchange(data)
        case .inCommunicateThru: return await communicateThru(data)
        case .inDeselect, .inRelease: return await release(data, forgets: code == .inRelease)
        case .inSelect: return await select(data)
        // A field of tags has no NFC-DEP peer.
        case .inJumpForDEP, .inJumpForPSL: return .status(.timeout)
        case .inATR, .inPSL: return .status(.context)
        case .tgInitAsTarget: return await becomeTarget(data)
        case .tgGetData: return targetData()
        case .tgSetData: return setTargetData(data, isWhole: true)
        case .tgSetMetaData: return setTargetData(data, isWhole: false)
        case .tgGetTargetStatus: return targetStatus()
        }
    }

    /// Stops waiting for a target or a reader, because the host has aborted its command.
    package mutating func stopWaiting() {
        if target?.card.isActivated == false { leaveTargetMode() }
    }

    /// Resets all settings, as after a power cycle.
    package mutating func reset() async {
        leaveTargetMode()
        // Turns the field off, so that the tags are reset too, then on, as at the start of a chip.
        await switchField(false)
        await switchField(true)
        self = PN53xChip(field: field, place: place, onTargetChange: onTargetChange)
    }

    private func diagnose(_ data: [UInt8]) async -> Outcome {
        switch data.first {
        // Test of the communication line: returns all data.
        case 0x00: return .answer(data)
        // Tests of the ROM, the RAM and the antenna: no errors.
        case 0x01, 0x02, 0x07: return .answer([0])
        // Attention request: checks whether the card is still present.
        case 0x06:
            guard let card = targets.compactMap({ $0 }).first else { return .status(.context) }
            return await card.isPresent() ? .answer([0]) : .status(.timeout)
        default: return .syntaxError
        }
    }

    /// The error, the external field, the targets with their rates and types, and the SAM (7.2.3).
    private var generalStatus: [UInt8] {
        var status: [UInt8] = [0, 0, UInt8(targets.count { $0 != nil })]
        for (index, card) in targets.enumerated() {
            guard let card else { continue }
            let type: UInt8 =
                switch card.kind {
                case .nfcF: 0x10
                case .type1: 0x02
                default: 0x00
                }
            let rate: UInt8 = type == 0x10 ? 1 : 0
            status += [UInt8(index + 1), rate, rate, type]
        }
        return status + [0]
    }

    /// RFConfiguration: sets the carrier, timeouts and retries. Analogue settings have no effect here.
    private mutating func configure(_ data: [UInt8]) async -> Outcome {
        guard let item = data.first else { return .syntaxError }
        switch item {
        case 0x01:
            guard data.count == 2 else { return .syntaxError }
            await switchField(data[1] & 0x01 != 0)
        case 0x02:
            guard data.count == 4 else { return .syntaxError }
            retryTimeout = min(data[3], 0x10)
        case 0x05:
            guard data.count == 4 else { return .syntaxError }
            passiveActivationRetries = data[3]
        case 0x04, 0x0A, 0x0B, 0x0C, 0x0D: break
        default: return .syntaxError
        }
        return .answer([])
    }

    /// Switches the carrier on or off. Without a carrier, the targets lose their power and must be listed again.
    mutating func switchField(_ isOn: Bool) async {
        guard isOn != isFieldOn else { return }
        isFieldOn = isOn
        try? await field.setCarrier(isOn)
        if !isOn {
            selected = nil
            forgetParts()
        }
    }

    /// Drops the parts of a command and the rest of an answer, because their exchange has ended.
    mutating func forgetParts() {
        commandParts = []
        answerRest = []
    }

    /// The chip's response timeout: 100 us times 2^(n-1). 0 means no limit in the chip, but 3.28 s here.
    var timeout: Airtime {
        let exponent = retryTimeout == 0 ? 0x10 : retryTimeout
        return .microseconds(100 << Int64(exponent - 1))
    }
}

extension PN53xCommand {
    /// Whether the command ends card mode, because the host wants a reader or turns the chip off.
    var endsTargetMode: Bool {
        switch self {
        case .inDataExchange, .inCommunicateThru, .inDeselect, .inJumpForPSL, .inListPassiveTarget, .inPSL, .inATR,
            .inRelease, .inSelect, .inJumpForDEP, .inAutoPoll, .powerDown, .rfConfiguration:
            true
        default: false
        }
    }

    /// The command's name in the manual: the name of the case with its capitals.
    var name: String {
        let name = String(describing: self)
        let acronym = ["sam", "rf"].first { name.hasPrefix($0) }
        return name.prefix(acronym?.count ?? 1).uppercased() + name.dropFirst(acronym?.count ?? 1)
    }
}

extension PN53xStatus {
    /// Creates the status for a failed exchange.
    init(_ error: LinkError) {
        self =
            switch error.code {
            case .timeout, .tagRemoved: .timeout
            case .transmission: .checksum
            case .collision: .collision
            case .frameTooLong: .bufferOverflow
            case .protocolViolation: .protocolError
            default: .context
            }
    }
}
