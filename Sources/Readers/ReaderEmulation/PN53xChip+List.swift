// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// Finds targets: InListPassiveTarget and InAutoPoll (PN532 user manual, 7.3.5 and 7.3.13).
extension PN53xChip {
    mutating func listPassiveTarget(_ data: [UInt8]) async -> Outcome {
        guard data.count >= 2, (1...2).contains(data[0]), let modulation = PN53xModulation(rawValue: data[1]) else {
            return .syntaxError
        }
        guard let (cards, targetData) = await list(modulation, Array(data.dropFirst(2)), limit: Int(data[0])) else {
            return .syntaxError
        }
        guard !cards.isEmpty else { return passiveActivationRetries == 0xFF ? .waiting : .answer([0]) }
        take(cards)
        var answer = [UInt8(cards.count)]
        for (index, data) in targetData.enumerated() {
            answer.append(UInt8(index + 1))
            answer += data
        }
        return .answer(answer)
    }

    /// Polls for one kind of target after the other until a target is found. The pauses between polls are skipped.
    mutating func autoPoll(_ data: [UInt8]) async -> Outcome {
        guard data.count >= 3, data[0] > 0, (1...15).contains(data[1]) else { return .syntaxError }
        for type in data.dropFirst(2).prefix(15) {
            let kind: (PN53xModulation, [UInt8])? =
                switch type {
                // Generic at 106 kbit/s, MIFARE, and ISO/IEC 14443-4 A.
                case 0x00, 0x10, 0x20: (.nfcA, [])
                case 0x01, 0x11: (.nfcF212, [0x00, 0xFF, 0xFF, 0x00, 0x00])
                case 0x02, 0x12: (.nfcF424, [0x00, 0xFF, 0xFF, 0x00, 0x00])
                case 0x03, 0x23: (.nfcB, [0x00])
                case 0x04: (.type1, [])
                default: nil
                }
            guard let kind, let (cards, targetData) = await list(kind.0, kind.1, limit: 1), !cards.isEmpty else {
                continue
            }
            let speaksISODEP = cards[0].isoDEP != nil
            // The host asked only for MIFARE, or only for ISO/IEC 14443-4. The halted card can be found again.
            if type == 0x10 && speaksISODEP || type == 0x20 && !speaksISODEP {
                await cards[0].halt()
                continue
            }
            take(cards)
            let first = [1] + targetData[0]
            return .answer([1, type, UInt8(truncatingIfNeeded: first.count)] + first)
        }
        return data[0] == 0xFF ? .waiting : .answer([0])
    }

    /// Stores the targets that were found, at least one. The last target is selected.
    private mutating func take(_ cards: [FieldCard]) {
        targets = cards
        selected = cards.count
        forgetParts()
        registers.setMode(of: cards[0])
    }

    /// Polls once for targets with a modulation. Returns the targets, and each target's data for the host; nil when the
    /// parameters are invalid.
    private mutating func list(
        _ modulation: PN53xModulation,
        _ initiatorData: [UInt8],
        limit: Int
    ) async -> (cards: [FieldCard], targetData: [[UInt8]])? {
        await switchField(true)
        await haltSelected()
        targets = []
        switch modulation {
        case .nfcA:
            guard let uid = Self.uid(in: initiatorData) else { return nil }
            let cards = await finder.findNFCA(
                uid: uid.isEmpty ? nil : uid,
                limit: limit,
                beginsISODEP: parameters & 0x10 != 0
            )
            return (cards, cards.map(Self.targetDataA))
        case .nfcF212, .nfcF424:
            guard initiatorData.count == 5, initiatorData[0] == 0 else { return nil }
            return await pollFeliCa(initiatorData)
        case .nfcB:
            guard let family = initiatorData.first else { return nil }
            let cards = await finder.findNFCB(applicationFamily: family, limit: limit, cid: Self.cardIdentifierB)
            return (cards, cards.map(Self.targetDataB))
        case .type1:
            guard let card = await finder.findType1(), case .type1(let target, let tag) = card.kind else {
                return ([], [])
            }
            return ([card], [target.atqa.bigEndianBytes + tag.uid])
        }
    }

    /// Returns the UID that a host asks for. The host sends the cascade levels without check bytes (4, 8 or 12 bytes),
    /// or the UID itself (7 or 10 bytes). Empty for any UID; nil when the data are invalid.
    private static func uid(in data: [UInt8]) -> [UInt8]? {
        switch data.count {
        case 0, 4, 7, 10: data
        case 8 where data[0] == 0x88: Array(data[1..<4] + data[4...])
        case 12 where data[0] == 0x88 && data[4] == 0x88: Array(data[1..<4] + data[5..<8] + data[8...])
        default: nil
        }
    }

    /// SENS_RES with the high byte first, SEL_RES, the UID's length, the UID, and the ATS if the chip has requested it.
    private static func targetDataA(_ card: FieldCard) -> [UInt8] {
        guard case .nfcA(let target) = card.kind else { return [] }
        return [UInt8(target.atqa >> 8), UInt8(target.atqa & 0xFF), target.sak ?? 0, UInt8(target.uid.count)]
            + target.uid + (card.isoDEP?.answerToSelect?.bytes ?? [])
    }

    /// The CID that the firmware assigns to a Type B card that supports CIDs. A host that sends blocks itself must use
    /// this CID: nfcpy ends the chip's ISO-DEP with `CA 01`, libnfc checks the card with `BA 01`, and the manual of
    /// ACS's ACR122L shows 21 as the answer to ATTRIB.
    private static let cardIdentifierB: UInt8 = 1

    /// ATQB, then the length of the answer to ATTRIB and that answer.
    private static func targetDataB(_ card: FieldCard) -> [UInt8] {
        guard case .nfcB(let target) = card.kind else { return [] }
        let answer = [0x50] + target.identifier + target.applicationData + target.protocolInfo.prefix(3)
        return answer + (card.isoDEP.map { [1, $0.cid ?? 0] } ?? [0])
    }

    /// Polls for FeliCa with the host's system code, request code and time slots.
    private mutating func pollFeliCa(_ payload: [UInt8]) async -> (cards: [FieldCard], targetData: [[UInt8]]) {
        guard let link = field.link(for: .nfcF) else { return ([], []) }
        let frame = Frame([UInt8(payload.count + 1)] + payload)
        guard let answer = try? await link.transceive(frame, timeout: .milliseconds(22)).bytes,
            let length = answer.first, length == 18 || length == 20, answer.count >= Int(length), answer[1] == 0x01
        else { return ([], []) }
        let code = length == 20 && payload[3] == 1 ? UInt16(high: answer[18], low: answer[19]) : nil
        let target = NFCFTarget(idm: Array(answer[2..<10]), pmm: Array(answer[10..<18]), systemCode: code)
        return ([FieldCard(kind: .nfcF(target), link: link)], [Array(answer.prefix(Int(length)))])
    }
}
