// SPDX-License-Identifier: Apache-2.0

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

    /// Answers an escape, which needs no card.
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

    /// The commands `FF 00` of the ACR122U (ACR122U API 2.04, 6).
    mutating func direct(_ command: ReaderCommand) async -> [UInt8] {
        switch command.p1 {
        case 0x00: return await sendToChip(command.data)
        case 0x40:
            guard command.data.count == 4 else { return ReaderStatus.failed }
            // Bits 3 and 2 select which of the two lights to set, and bits 1 and 0 are their new states.
            let mask = command.p2 >> 2 & 0x03
            light = light & ~mask | command.p2 & 0x03 & mask
            return [0x90, light]
        // The timeout of the contactless chip, and the buzzer, which makes no sound here.
        case 0x41, 0x52: return ReaderStatus.done
        case 0x48: return Array(profile.firmware.utf8)
        case 0x50: return [0x90, pollingParameter]
        case 0x51:
            pollingParameter = command.p2
            return [0x90, pollingParameter]
        default: return ReaderStatus.failed
        }
    }

    /// Passes a command to the PN532 inside: D4 and the command in, D5 and the answer out.
    private mutating func sendToChip(_ data: [UInt8]) async -> [UInt8] {
        guard data.count >= 2, data[0] == 0xD4 else { return ReaderStatus.failed }
        switch await chip.receive(Array(data.dropFirst())) {
        case .answer(let answer): return [0xD5, data[1] &+ 1] + answer + ReaderStatus.done
        case .syntaxError: return [0x63, 0x7F]
        // The reader does not wait without limit like its chip: it reports no target.
        case .waiting where data[1] == 0x4A || data[1] == 0x60:
            return [0xD5, data[1] &+ 1, 0x00] + ReaderStatus.done
        case .waiting: return [0x63, 0x01]
        }
    }

    /// The transparent session. If it changes the field, the current card has to be updated.
    mutating func transparent(_ command: ReaderCommand) async -> [UInt8] {
        let effect = await session.receive(command, card: card)
        for field in effect.fields { await chip.switchField(field == .on) }
        guard let (technology, beginsISODEP) = effect.selects else { return effect.response }
        await chip.switchField(true)
        // A card in ISO-DEP hears no request until it loses its power.
        if let card, card.supportsISODEP, card.technology == technology {
            await chip.switchField(false)
            await chip.switchField(true)
        }
        guard profile.technologies.contains(technology),
            let card = await chip.finder.findOne([technology], beginsISODEP: beginsISODEP)
        else {
            return TransparentSession.failure(object: 1, [0x64, 0x01])
        }
        chip.adopt(card)
        let atr = EmulatedAnswerToReset.bytes(for: card, profile)
        return TransparentSession.success + [0x5F, 0x51, UInt8(atr.count)] + atr + ReaderStatus.done
    }
}
