// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Makes the chip an ISO/IEC 14443-4 Type A card for another reader (PN532 user manual, 7.3.14 to 7.3.22).
///
/// Other targets are not emulated: a MIFARE or FeliCa card that answers raw frames, or an NFC-DEP peer. A host that
/// asks for one of these waits until its own timeout.
extension PN53xChip {
    struct Target: Sendable {
        var parameters: [UInt8]
        var card: HostedCard
        /// The rest of a command that does not fit into one TgGetData.
        var commandRest: [UInt8]?
        /// The parts of an answer that were sent with TgSetMetaData.
        var answer: [UInt8] = []
    }

    /// TgInitAsTarget: waits until a reader has selected the card and sent RATS, which the chip answers.
    mutating func becomeTarget(_ data: [UInt8]) async -> Outcome {
        guard let identity = Self.identity(data) else { return .syntaxError }
        let isCard = parameters & 0x20 != 0 && identity.sak & 0x20 != 0
        // Bit 1 of the mode means that only NFC-DEP is allowed.
        guard isCard, data[0] & 0x02 == 0, let place else {
            leaveTargetMode()
            return .waiting
        }
        // The host repeats the command while the chip is still waiting.
        guard target?.parameters != data || target?.card.isListening != true else {
            return target?.card.isActivated == true ? .answer(Self.activation) : .waiting
        }
        leaveTargetMode()
        await switchField(false)
        let card = HostedCard(identity, onChange: onTargetChange)
        target = Target(parameters: data, card: card)
        place.bring(card)
        return card.isActivated ? .answer(Self.activation) : .waiting
    }

    /// 106 kbit/s as an ISO/IEC 14443-4 card, then the received frame, which is RATS.
    private static let activation: [UInt8] = [0x08, 0xE0, 0x80]

    /// Reads the identity from the parameters of TgInitAsTarget; nil when they are invalid.
    private static func identity(_ data: [UInt8]) -> HostedCard.Identity? {
        // Mode, MIFARE, FeliCa, NFCID3, and the lengths of the general bytes and the historical bytes.
        guard data.count >= 37 else { return nil }
        let general = Int(data[35])
        guard general <= 47, data.count > 36 + general else { return nil }
        let historical = Array(data[(37 + general)...])
        guard historical.count == Int(data[36 + general]), historical.count <= 48 else { return nil }
        return HostedCard.Identity(
            atqa: UInt16(high: data[2], low: data[1]),
            sak: data[6],
            uid: [0x08] + data[3...5],
            // Frames of 64 bytes, up to 424 kbit/s, FWI 9, support for CID and NAD.
            answerToSelect: [UInt8(5 + historical.count), 0x75, 0x33, 0x92, 0x03] + historical
        )
    }

    /// TgGetData: waits for the reader's command. Bit 6 of the status means that more data follow.
    mutating func targetData() -> Outcome {
        guard let card = target?.card, card.isActivated else { return .status(.context) }
        var command: [UInt8]
        if let rest = target?.commandRest {
            command = rest
        } else {
            switch card.takeCommand() {
            case .none: return .waiting
            case .gone(let status): return .status(status)
            case .command(let bytes): command = bytes
            }
        }
        let part = Array(command.prefix(Self.maximumData))
        command.removeFirst(part.count)
        target?.commandRest = command.isEmpty ? nil : command
        return .answer([command.isEmpty ? 0 : 0x40] + part)
    }

    /// TgSetData: sends an answer or its last part. TgSetMetaData: stores an earlier part.
    mutating func setTargetData(_ data: [UInt8], isWhole: Bool) -> Outcome {
        guard let target, target.card.isActivated else { return .status(.context) }
        let (card, answer) = (target.card, target.answer + data)
        guard answer.count <= 65538 else {
            self.target?.answer = []
            return .status(.bufferOverflow)
        }
        self.target?.answer = isWhole ? [] : answer
        guard isWhole else { return .answer([0]) }
        if card.give(answer) {
            // A host that answers before it has read the whole command does not need the rest.
            self.target?.commandRest = nil
            return .answer([0])
        }
        if case .gone(let status) = card.takeCommand() { return .status(status) }
        return .status(.context)
    }

    /// TgGetTargetStatus: idle, activated or released, at 106 kbit/s in both directions.
    func targetStatus() -> Outcome {
        guard let card = target?.card, card.isActivated else { return .answer([0x00, 0x00]) }
        return .answer([card.isListening ? 0x01 : 0x02, 0x00])
    }

    /// Makes the chip stop being a card, because the host wants a reader or turns the chip off.
    mutating func leaveTargetMode() {
        guard let card = target?.card else { return }
        target = nil
        // First ends the wait of a reader in the field.
        card.end()
        place?.remove()
    }
}
