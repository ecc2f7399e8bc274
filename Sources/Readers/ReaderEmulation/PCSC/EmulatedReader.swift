// SPDX-License-Identifier: Apache-2.0
package import TagLink
import TagProtocols

/// A contactless reader as pcscd and its programs see it, in any field.
///
/// It looks for a card, creates an ATR for it, and answers the commands of class FF itself. It passes APDUs to cards
/// that support ISO-DEP, and supports the escape commands of its model.
package struct EmulatedReader: ReaderFirmware {
    /// The requested power state of a card.
    package enum Power: UInt8, Sendable {
        case down, up, reset
    }

    /// The result of a host's request.
    package enum Reply: Sendable, Equatable {
        case done([UInt8])
        case noCard
        case unsupported
        case failed
    }

    /// What a check of the field has found.
    package struct Change: Sendable, Equatable {
        /// The previous card has left.
        package var hasLost = false
        /// Another card has arrived.
        package var hasFound = false

        /// Creates a change.
        package init(hasLost: Bool = false, hasFound: Bool = false) {
            self.hasLost = hasLost
            self.hasFound = hasFound
        }
    }

    let profile: ReaderProfile
    /// The chip inside. Its first target is the current card.
    var chip: PN53xChip
    var session: TransparentSession
    /// The ACR122U's light: bit 0 red, bit 1 green.
    var light: UInt8 = 0x02
    /// The ACR122U's setting for its polling (ACR122U API 2.04, 6.5).
    var pollingParameter: UInt8 = 0xFF
    /// The card that was reported to the host.
    private var presentCard: FieldCard?
    private let onExchange: (@Sendable (Exchange) -> Void)?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - profile: the model.
    ///   - field: the field that the reader creates.
    ///   - onExchange: receives each of the host's commands with its answer.
    package init(
        _ profile: ReaderProfile,
        field: any FieldDriver,
        onExchange: (@Sendable (Exchange) -> Void)? = nil
    ) {
        self.profile = profile
        self.onExchange = onExchange
        chip = PN53xChip(field: field)
        session = TransparentSession(field: field)
    }

    /// The current card.
    var card: FieldCard? { chip.targets.first ?? nil }

    // MARK: Presence

    /// Checks whether the card is still present, or whether another one has arrived.
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

    /// Checks whether the host's card is still present. If the host has switched its power off, it is off afterwards.
    private mutating func isPresent(_ former: FieldCard) async -> Bool {
        guard !chip.isFieldOn else { return await card?.isPresent() ?? false }
        await chip.switchField(true)
        // Without power, the card has left ISO-DEP.
        var plain = former
        plain.isoDEP = nil
        var isPresent = await plain.isPresent()
        // Its random UID may be another one.
        if !isPresent, let card = await find(), card.mayBe(former) {
            presentCard = card
            isPresent = true
        }
        if isPresent { await chip.switchField(false) }
        return isPresent
    }

    /// Looks for a card, for a host that knows of none.
    package mutating func lookAnew() async -> Change {
        presentCard = nil
        session.end()
        await chip.reset()
        return await look()
    }

    /// Switches the card's power off and on, then looks for it.
    private mutating func find() async -> FieldCard? {
        await chip.switchField(false)
        await chip.switchField(true)
        let card = await chip.finder.findOne(profile.technologies)
        chip.adopt(card)
        return card
    }

    // MARK: The host's requests

    /// Changes the card's power.
    ///
    /// - Returns: the ATR; empty when the power is off; or that there is no card.
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
                // If another card is in its place, the host does not know that card: the next check reports both
                // changes.
                chip.adopt(nil)
                reply = .noCard
            }
        }
        tell(power == .down ? "power down" : power == .up ? "power up" : "reset", [], reply)
        return reply
    }

    /// Answers a command APDU.
    package mutating func transmit(_ apdu: [UInt8]) async -> Reply {
        let reply: Reply
        if presentCard == nil {
            reply = .noCard
        } else if apdu.first == 0xFF {
            reply = .done(await answer(apdu))
        } else if card == nil {
            // The host has not noticed yet that the card is gone.
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
        tell("transmit", apdu, reply)
        return reply
    }

    /// Answers a control code. A card is not necessary.
    package mutating func control(_ code: UInt32, _ data: [UInt8]) async -> Reply {
        let reply: Reply
        switch code {
        case ControlCode.getFeatureRequest: reply = .done(ControlCode.features)
        case ControlCode.getTLVProperties: reply = .done(properties)
        case ControlCode.escape, ControlCode.escapeOfWindows: reply = await escape(data)
        default: reply = .unsupported
        }
        tell("control " + String(code, radix: 16), data, reply)
        return reply
    }

    /// Returns an attribute of the reader.
    package func attribute(_ tag: UInt32) -> Reply {
        switch tag {
        case 0x0001_0100: .done(Array("ACS".utf8) + [0])
        case 0x0001_0101: .done(Array(profile.name.utf8) + [0])
        // 0xMMmmbbbb as the host's unsigned long (PC/SC part 3, 2.3).
        case 0x0001_0102: .done([0x00, 0x00, 0x00, 0x02, 0, 0, 0, 0])
        default: .unsupported
        }
    }

    private func tell(_ name: String, _ request: [UInt8], _ reply: Reply) {
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
    /// Makes a card that the reader's own firmware has found the first target, as if the host had listed it.
    mutating func adopt(_ card: FieldCard?) {
        targets = card.map { [$0] } ?? []
        selected = card == nil ? nil : 1
        forgetParts()
        if let card { registers.setMode(of: card) }
    }
}
