// SPDX-License-Identifier: Apache-2.0
package import TagLink
import TagProtocols

/// Answers the requests of a ``ReaderServer``: an ``EmulatedReader`` with tags in a field, or a card that an app
/// emulates.
package protocol ReaderFirmware: Sendable {
    /// Checks whether the card is still present, or another card has arrived.
    mutating func look() async -> EmulatedReader.Change

    /// Forgets the current card and looks for a card, after pcscd has connected.
    mutating func hostConnected() async -> EmulatedReader.Change

    /// Changes the card's power. The reply to `up` and `reset` is the card's ATR.
    mutating func setPower(_ power: EmulatedReader.Power) async -> EmulatedReader.Reply

    mutating func transmit(_ apdu: [UInt8]) async -> EmulatedReader.Reply

    /// Answers a control code, even without a card.
    mutating func control(_ code: UInt32, _ data: [UInt8]) async -> EmulatedReader.Reply

    func attribute(_ tag: UInt32) -> EmulatedReader.Reply

    mutating func hostDisconnected()
}

extension ReaderFirmware {
    package mutating func hostDisconnected() {}
}

/// A contactless reader for pcscd and its programs, in any field.
///
/// The reader looks for a card, creates an ATR for it, and itself answers class FF commands. It passes APDUs to cards
/// that support ISO-DEP, and supports the escape commands of its model.
package struct EmulatedReader: ReaderFirmware {
    package enum Power: UInt8, Sendable {
        case down, up, reset
    }

    package enum Reply: Sendable, Equatable {
        case done([UInt8])
        case noCard
        case unsupported
        case failed
    }

    package struct Change: Sendable, Equatable {
        package var hasLost = false
        package var hasFound = false

        package init(hasLost: Bool = false, hasFound: Bool = false) {
            self.hasLost = hasLost
            self.hasFound = hasFound
        }
    }

    let profile: ReaderProfile
    /// The chip in the reader. The chip's first target is the current card.
    var chip: PN53xChip
    var session: TransparentSession
    /// The ACR122U's LEDs: bit 0 is red, bit 1 is green.
    var light: UInt8 = 0x02
    /// The ACR122U's polling setting (ACR122U API 2.04, 6.5).
    var pollingParameter: UInt8 = 0xFF
    private var presentCard: FieldCard?
    /// The two keys that the host has loaded.
    var keys: [[UInt8]] = [[], []]
    private let onExchange: (@Sendable (Exchange) -> Void)?

    package init(_ profile: ReaderProfile, field: any FieldDriver, onExchange: (@Sendable (Exchange) -> Void)? = nil) {
        self.profile = profile
        self.onExchange = onExchange
        chip = PN53xChip(field: field)
        session = TransparentSession(field: field)
    }

    var card: FieldCard? { chip.targets.first ?? nil }

    // MARK: Presence

    /// Checks whether the card is still present, or another card has arrived.
    package mutating func look() async -> Change {
        var change = Change()
        if let former = presentCard {
            if await isPresent(former) { return change }
            presentCard = nil
            change.hasLost = true
        }
        if let card = await find() {
            presentCard = card
            change.hasFound = true
        }
        return change
    }

    /// Checks whether the host's card is still present. If the host has turned the card's power off, leaves it off.
    private mutating func isPresent(_ former: FieldCard) async -> Bool {
        guard !chip.isFieldOn else { return await card?.isPresent() ?? false }
        await chip.switchField(true)
        // Without power, the card has ended ISO-DEP.
        var cardWithoutISODEP = former
        cardWithoutISODEP.isoDEP = nil
        var isPresent = await cardWithoutISODEP.isPresent()
        // A random UID may have changed.
        if !isPresent, let card = await find(), card.mayBe(former) {
            presentCard = card
            isPresent = true
        }
        if isPresent { await chip.switchField(false) }
        return isPresent
    }

    /// Forgets the current card and looks for a card for a new host.
    package mutating func hostConnected() async -> Change {
        presentCard = nil
        session.end()
        await chip.reset()
        return await look()
    }

    /// Turns the card's power off and on, then looks for the card.
    private mutating func find() async -> FieldCard? {
        await chip.switchField(false)
        await chip.switchField(true)
        let card = await chip.finder.findOne(profile.technologies)
        chip.adopt(card)
        return card
    }

    // MARK: The host's requests

    /// Changes the card's power. Returns the ATR, an empty reply when the power is off, or `noCard`.
    package mutating func setPower(_ power: Power) async -> Reply {
        let reply: Reply
        switch power {
        case .down:
            session.end()
            await chip.switchField(false)
            reply = .done([])
        case .up, .reset:
            session.end()
            if let presentCard, let card = await find(), card.mayBe(presentCard) {
                self.presentCard = card
                reply = .done(EmulatedAnswerToReset.bytes(for: card, profile))
            } else {
                // If a different card is present, the host does not know about it. The next check reports both changes.
                chip.adopt(nil)
                reply = .noCard
            }
        }
        trace(power == .down ? "power down" : power == .up ? "power up" : "reset", [], reply)
        return reply
    }

    package mutating func transmit(_ apdu: [UInt8]) async -> Reply {
        let reply: Reply
        if presentCard == nil {
            reply = .noCard
        } else if apdu.first == 0xFF {
            reply = .done(await answer(apdu))
        } else if card == nil {
            // The card is gone, but the host has not noticed yet.
            reply = .noCard
        } else if let isoDEP = card?.isoDEP {
            do throws(LinkError) {
                let response = try await isoDEP.transmit(apdu)
                reply = response.isEmpty ? .failed : .done(response)
            } catch {
                reply = .failed
            }
        } else {
            // A storage card does not support commands of other classes.
            reply = .done(ReaderStatus.unknownInstruction)
        }
        trace("transmit", apdu, reply)
        return reply
    }

    /// Answers a control code, even without a card.
    package mutating func control(_ code: UInt32, _ data: [UInt8]) async -> Reply {
        let reply: Reply
        switch code {
        case ControlCode.getFeatureRequest: reply = .done(ControlCode.features)
        case ControlCode.getTLVProperties: reply = .done(properties)
        case ControlCode.escape, ControlCode.escapeOfWindows: reply = await escape(data)
        default: reply = .unsupported
        }
        trace("control " + String(code, radix: 16), data, reply)
        return reply
    }

    package func attribute(_ tag: UInt32) -> Reply {
        switch tag {
        case 0x0001_0100: .done(Array("ACS".utf8) + [0])
        case 0x0001_0101: .done(Array(profile.name.utf8) + [0])
        // 0xMMmmbbbb as the host's unsigned long (PC/SC part 3, 2.3).
        case 0x0001_0102: .done([0x00, 0x00, 0x00, 0x02, 0, 0, 0, 0])
        default: .unsupported
        }
    }

    private func trace(_ name: String, _ request: [UInt8], _ reply: Reply) {
        guard let onExchange else { return }
        var exchange = Exchange(layer: .pcsc, name: name, request: request)
        switch reply {
        case .done(let bytes): exchange.response = bytes
        case .noCard: exchange.failure = "no card"
        case .unsupported: exchange.failure = "unsupported"
        case .failed: exchange.failure = "failed"
        }
        onExchange(exchange)
    }
}

extension PN53xChip {
    /// Makes a card that was found by the reader's own firmware the first target, as if the host had listed it.
    mutating func adopt(_ card: FieldCard?) {
        targets = card.map { [$0] } ?? []
        selected = card == nil ? nil : 1
        forgetParts()
        if let card { registers.setMode(of: card) }
    }
}

/// A model of contactless readers: its name, its technologies, and its escape commands.
package struct ReaderProfile: Sendable {
    /// The reader's name in PC/SC, without the two numbers that pcscd adds.
    package var name: String
    /// The technologies that the reader polls for, in this order.
    package var technologies: [Technology]
    package var firmware: String
    package var usbIdentifiers: (vendor: UInt16, product: UInt16)
    package var escapes: Escapes

    package enum Escapes: Sendable {
        /// `FF 00 00 00` passes commands to the PN532; others control LEDs, buzzer and settings (ACR122U API 2.04, 6).
        case pn532
        /// The transparent session `FF C2` (PC/SC 2.02 part 3 supplement, 3.2.2.9).
        case transparentSession
    }

    package static let acr122u = ReaderProfile(
        name: "ACS ACR122U PICC Interface",
        technologies: [.nfcA, .nfcB, .nfcF],
        firmware: "ACR122U215",
        usbIdentifiers: (0x072F, 0x2200),
        escapes: .pn532
    )

    /// The ACR1552U, which also supports ISO/IEC 15693 and the transparent session.
    package static let acr1552u = ReaderProfile(
        name: "ACS ACR1552 1S CL Reader PICC",
        technologies: [.nfcA, .nfcB, .nfcF, .nfcV],
        firmware: "ACR1552U-M1 FW 1.00",
        usbIdentifiers: (0x072F, 0x2303),
        escapes: .transparentSession
    )

    /// Returns the model to use for a technology: the ACR122U if it supports that technology.
    package static func showing(_ technology: Technology) -> ReaderProfile {
        technology == .nfcV ? .acr1552u : .acr122u
    }
}

extension EmulatedReader {
    /// Firmware, longest APDU, vendor and product (PC/SC part 10, 2.6.14; numbers are little-endian).
    var properties: [UInt8] {
        let firmware = Array(profile.firmware.utf8)
        let (vendor, product) = profile.usbIdentifiers
        return [0x08, UInt8(firmware.count)] + firmware
            + [0x0A, 4, 0x00, 0x00, 0x01, 0x00]
            + [0x0B, 2, UInt8(vendor & 0xFF), UInt8(vendor >> 8)]
            + [0x0C, 2, UInt8(product & 0xFF), UInt8(product >> 8)]
    }

    /// Answers an escape command, even without a card.
    mutating func escape(_ data: [UInt8]) async -> Reply {
        switch profile.escapes {
        case .pn532:
            guard let command = ReaderCommand(data), command.instruction == 0x00 else { return .failed }
            return .done(await direct(command))
        case .transparentSession:
            if let command = ReaderCommand(data), command.instruction == 0xC2 {
                return .done(await transparent(command))
            }
            // Get firmware version (ACR1552U manual, 5.3): E0 00 00 18 00.
            guard data == [0xE0, 0x00, 0x00, 0x18, 0x00] else { return .failed }
            let firmware = Array(profile.firmware.utf8)
            return .done([0xE1, 0x00, 0x00, 0x00, UInt8(firmware.count)] + firmware)
        }
    }

    /// Answers the ACR122U's commands that start with `FF 00` (ACR122U API 2.04, 6).
    mutating func direct(_ command: ReaderCommand) async -> [UInt8] {
        switch command.p1 {
        case 0x00: return await sendToChip(command.data)
        case 0x40:
            guard command.data.count == 4 else { return ReaderStatus.failed }
            // Bits 3 and 2 select which of the two LEDs to set. Bits 1 and 0 are the new states.
            let mask = command.p2 >> 2 & 0x03
            light = light & ~mask | command.p2 & 0x03 & mask
            return [0x90, light]
        // Timeout of the contactless chip; the buzzer, which makes no sound here.
        case 0x41, 0x52: return ReaderStatus.done
        case 0x48: return Array(profile.firmware.utf8)
        case 0x50: return [0x90, pollingParameter]
        case 0x51:
            pollingParameter = command.p2
            return [0x90, pollingParameter]
        default: return ReaderStatus.failed
        }
    }

    /// Passes a command to the PN532. A command starts with D4, an answer with D5.
    private mutating func sendToChip(_ data: [UInt8]) async -> [UInt8] {
        guard data.count >= 2, data[0] == 0xD4 else { return ReaderStatus.failed }
        switch await chip.receive(Array(data.dropFirst())) {
        case .answer(let answer): return [0xD5, data[1] &+ 1] + answer + ReaderStatus.done
        case .syntaxError: return [0x63, 0x7F]
        // The chip would wait without limit. The reader instead reports that it found no target.
        case .waiting where data[1] == 0x4A || data[1] == 0x60:
            return [0xD5, data[1] &+ 1, 0x00] + ReaderStatus.done
        case .waiting: return [0x63, 0x01]
        }
    }

    /// Handles a command of the transparent session. If it changes the field, the current card is updated.
    mutating func transparent(_ command: ReaderCommand) async -> [UInt8] {
        let effect = await session.receive(command, card: card)
        for isOn in effect.fields { await chip.switchField(isOn) }
        guard let (technology, beginsISODEP) = effect.selects else { return effect.response }
        await chip.switchField(true)
        // A card in ISO-DEP ignores requests until it loses power.
        if let card, card.supportsISODEP, card.technology == technology {
            await chip.switchField(false)
            await chip.switchField(true)
        }
        guard profile.technologies.contains(technology),
            let card = await chip.finder.findOne([technology], beginsISODEP: beginsISODEP)
        else { return TransparentSession.failure(object: 1, [0x64, 0x01]) }
        chip.adopt(card)
        let atr = EmulatedAnswerToReset.bytes(for: card, profile)
        return TransparentSession.success + [0x5F, 0x51, UInt8(atr.count)] + atr + ReaderStatus.done
    }
}

/// Control codes of PC/SC part 10 and pcsc-lite. `SCARD_CTL_CODE(x)` is 42000000 plus x, in hexadecimal.
enum ControlCode {
    static let getFeatureRequest: UInt32 = 0x4200_0D48
    static let getTLVProperties: UInt32 = 0x4233_0012
    /// libccid's code for escape commands.
    static let escape: UInt32 = 0x4200_0001
    /// `IOCTL_CCID_ESCAPE`, 3500, as in Windows drivers.
    static let escapeOfWindows: UInt32 = 0x4200_0DAC

    /// FEATURE_GET_TLV_PROPERTIES and FEATURE_CCID_ESC_COMMAND, each with its code (PC/SC part 10, 2.2).
    static let features: [UInt8] = [0x12, 4, 0x42, 0x33, 0x00, 0x12, 0x13, 4, 0x42, 0x00, 0x00, 0x01]
}
