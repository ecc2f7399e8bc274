// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// A PN532 as its host's commands see it: registers, settings and up to two targets in a field (PN532 user manual, 7).
///
/// The same chip is used on a serial line, where its commands are in frames, and in readers such as the ACR122U, where
/// they are in an escape command.
package struct PN53xChip: Sendable {
    /// The result of a command.
    package enum Outcome: Sendable, Equatable {
        /// The answer's bytes after D5 and the command's code plus one.
        case answer([UInt8])
        /// The command is unknown, or its parameters are wrong: the chip answers with a syntax error.
        case syntaxError
        /// The chip waits without limit for a target, or in card mode for a reader. Ask again when one may have
        /// arrived.
        case waiting

        /// An answer that has only a status byte.
        static func status(_ status: PN53xStatus) -> Outcome { .answer([status.byte]) }
    }

    let field: any FieldDriver
    let finder: CardFinder
    /// The field in which the chip is a card for another reader; nil for none.
    let place: (any CardSlot)?
    /// Called on any thread when the card mode has an event.
    let onTargetChange: @Sendable () -> Void
    /// Non-nil while the chip is a card.
    var target: Target?

    /// The targets that the host listed, by their numbers from 1; nil for a released target.
    var targets: [FieldCard?] = []
    /// The number of the selected target.
    var selected: Int?
    /// The registers of the contactless unit, which hold the values that the host wrote.
    var registers = PN53xRegisters()
    /// The byte of SetParameters: automatic ATR_RES and RATS after a reset (7.2.9).
    var parameters: UInt8 = 0x14
    /// MxRtyPassiveActivation of RFConfiguration: FF polls without limit (7.3.1).
    var passiveActivationRetries: UInt8 = 0xFF
    /// The response timeout of InCommunicateThru: 0A is 51.2 ms.
    var retryTimeout: UInt8 = 0x0A
    var isFieldOn = true
    /// The parts of a command that the host sends in several InDataExchange with more information.
    var commandParts: [UInt8] = []
    var answerRest: [UInt8] = []

    /// Creates a chip that has just been powered on. Its parameters are those of the properties.
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

    /// Handles a command: the bytes after D4.
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
        // A field of tags has no peer for NFC-DEP.
        case .inJumpForDEP, .inJumpForPSL: return .status(.timeout)
        case .inATR, .inPSL: return .status(.context)
        case .tgInitAsTarget: return await becomeTarget(data)
        case .tgGetData: return targetData()
        case .tgSetData: return setTargetData(data, isWhole: true)
        case .tgSetMetaData: return setTargetData(data, isWhole: false)
        case .tgGetTargetStatus: return targetStatus()
        }
    }

    /// The host no longer waits for its command.
    package mutating func stopWaiting() {
        if target?.card.isActivated == false { leaveTargetMode() }
    }

    /// Loses all settings of the host, as after a reset.
    package mutating func reset() async {
        leaveTargetMode()
        // Without power there is no field, so the tags forget their state; with power a chip begins with one.
        await switchField(false)
        await switchField(true)
        self = PN53xChip(field: field, place: place, onTargetChange: onTargetChange)
    }

    private func diagnose(_ data: [UInt8]) async -> Outcome {
        switch data.first {
        // The communication line: returns all data.
        case 0x00: return .answer(data)
        // ROM, RAM, and the antenna: no errors.
        case 0x01, 0x02, 0x07: return .answer([0])
        // Attention request: checks whether the card is still present.
        case 0x06:
            guard let card = targets.compactMap({ $0 }).first else { return .status(.context) }
            return await card.isPresent() ? .answer([0]) : .status(.timeout)
        default: return .syntaxError
        }
    }

    /// Error, external field, targets with their rates and types, and the SAM (7.2.3).
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

    /// RFConfiguration: the carrier, timeouts and retries. Analogue settings have no effect here.
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

    /// Switches the carrier on or off. Targets lose their power, and have to be listed again.
    mutating func switchField(_ isOn: Bool) async {
        guard isOn != isFieldOn else { return }
        isFieldOn = isOn
        try? await field.setCarrier(isOn)
        if !isOn {
            selected = nil
            forgetParts()
        }
    }

    /// Forgets the parts of a command, and the rest of an answer: they are of an exchange that has ended.
    mutating func forgetParts() {
        commandParts = []
        answerRest = []
    }

    /// The chip's timeout setting: 100 us times 2^(n-1). 0 means no limit; it is limited to 3.28 s here.
    var timeout: Airtime {
        let exponent = retryTimeout == 0 ? 0x10 : retryTimeout
        return .microseconds(100 << Int64(exponent - 1))
    }
}

extension PN53xCommand {
    /// Whether the command makes a chip stop being a card: the host wants a reader, or no power.
    var endsTargetMode: Bool {
        switch self {
        case .inDataExchange, .inCommunicateThru, .inDeselect, .inJumpForPSL, .inListPassiveTarget, .inPSL, .inATR,
            .inRelease, .inSelect, .inJumpForDEP, .inAutoPoll, .powerDown, .rfConfiguration:
            true
        default: false
        }
    }

    /// The command's name in the manual: that of its case, with capitals.
    var name: String {
        let name = String(describing: self)
        let acronym = ["sam", "rf"].first { name.hasPrefix($0) }
        return name.prefix(acronym?.count ?? 1).uppercased() + name.dropFirst(acronym?.count ?? 1)
    }
}

extension PN53xStatus {
    /// The status for a failed exchange.
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
