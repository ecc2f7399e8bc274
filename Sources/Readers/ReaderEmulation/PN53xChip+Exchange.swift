// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

extension PN53xChip {
    /// InDataExchange: the chip handles the target's protocol.
    mutating func dataExchange(_ data: [UInt8]) async -> Outcome {
        guard let first = data.first else { return .syntaxError }
        let number = Int(first & 0x0F)
        guard targets.indices.contains(number - 1), let card = targets[number - 1], isFieldOn else {
            return .status(.context)
        }
        // The target is changed first, because stored parts belong to the previous target.
        if selected != number, !(await changeTarget(to: number)) {
            return .status(.timeout)
        }
        let payload = data.dropFirst()
        if payload.isEmpty, !answerRest.isEmpty { return nextAnswerPart() }
        answerRest = []
        guard commandParts.count + payload.count <= 65544 else {
            commandParts = []
            return .status(.bufferOverflow)
        }
        commandParts += payload
        // More data follow.
        if first & 0x40 != 0 { return .answer([0]) }
        let command = commandParts
        commandParts = []
        do throws(LinkError) {
            answerRest = try await exchange(command, with: card)
        } catch {
            if card.isClassic, command.count == 12, command[0] & 0xFE == 0x60 { return .status(.authentication) }
            return .status(Self.isNAK(error) ? .dataFormat : PN53xStatus(error))
        }
        return nextAnswerPart()
    }

    /// Returns the next part of an answer. Bit 6 of the status means that more data follow.
    private mutating func nextAnswerPart() -> Outcome {
        let part = answerRest.prefix(Self.maximumData)
        answerRest.removeFirst(part.count)
        return .answer([answerRest.isEmpty ? 0 : 0x40] + part)
    }

    private func exchange(_ command: [UInt8], with card: FieldCard) async throws(LinkError) -> [UInt8] {
        if let isoDEP = card.isoDEP { return try await isoDEP.transmit(command) }
        switch card.kind {
        case .nfcA where card.isClassic:
            let answer = try await card.classic.execute(command, over: card.link, timeout: timeout)
            guard let nibble = answer.nibble else { return answer.bytes }
            guard nibble == 0xA else { throw Self.refusal }
            return []
        case .nfcA: return try await exchangeMIFARE(command, card.link)
        case .type1(_, let tag):
            var bytes = command
            // A host may omit the bytes that end every command.
            if bytes.count < 7, let code = bytes.first, code != 0x78 { bytes = (bytes + [0, 0]).prefix(3) + tag.uid }
            return try await card.link.transceive(Frame(bytes, checksum: .crcB), timeout: timeout).bytes
        case .nfcB, .nfcF, .nfcV:
            return try await card.link.transceive(Frame(command), timeout: timeout).bytes
        }
    }

    /// Sends a command of MIFARE Ultralight, or another NFC-A command. For an ACK, the answer is empty.
    private func exchangeMIFARE(_ command: [UInt8], _ link: any FrameLink) async throws(LinkError) -> [UInt8] {
        // COMPATIBILITY_WRITE consists of two frames (MF0ICU1, 7.6.3).
        if command.first == 0xA0, command.count == 18 {
            let first = try await link.transceive(Frame(Array(command.prefix(2))), timeout: timeout)
            guard first.nibble == 0xA else { throw Self.refusal }
            return try await acknowledged(Array(command.dropFirst(2)), link)
        }
        // Authentication of MIFARE Classic. No other tag has commands of that length with these codes.
        if [0x60, 0x61].contains(command.first), command.count >= 12 { throw Self.refusal }
        return try await acknowledged(command, link)
    }

    private func acknowledged(_ bytes: [UInt8], _ link: any FrameLink) async throws(LinkError) -> [UInt8] {
        let answer = try await link.transceive(Frame(bytes), timeout: timeout)
        guard let nibble = answer.nibble else { return answer.bytes }
        guard nibble == 0xA else { throw Self.refusal }
        return []
    }

    /// Stands for a NAK, which the chip reports as an answer in a wrong format.
    private static let refusal = LinkError(.unsupported, "The tag refused the command.")
    private static func isNAK(_ error: LinkError) -> Bool { error.code == .unsupported }

    /// InCommunicateThru: sends the bytes unchanged, with a checksum if the registers require it.
    mutating func communicateThru(_ data: [UInt8]) async -> Outcome {
        guard isFieldOn, let link = field.link(for: registers.technology) else { return .status(.context) }
        guard !data.isEmpty else { return .status(.framing) }
        do throws(LinkError) {
            let answer = try await link.transceive(
                raw: data,
                bitsOfLastByte: registers.bitsOfLastByte,
                appends: registers.addsChecksum,
                removes: registers.checksChecksum,
                timeout: timeout
            )
            registers.setReceivedBits(answer.validBitsInLastByte)
            // An ACK or NAK of 4 bits has no checksum, so the chip reports a wrong checksum.
            if registers.checksChecksum, answer.validBitsInLastByte != 8 { return .status(.checksum) }
            guard answer.bytes.count <= Self.maximumData else { return .status(.bufferOverflow) }
            return .answer([0] + answer.bytes)
        } catch {
            return .status(PN53xStatus(error))
        }
    }

    // MARK: Choosing targets

    /// InDeselect and InRelease. The number 0 means all targets.
    mutating func release(_ data: [UInt8], forgets: Bool) async -> Outcome {
        guard data.count == 1 else { return .syntaxError }
        let number = Int(data[0])
        guard number == 0 || targets.indices.contains(number - 1) else { return .status(.context) }
        let numbers = number == 0 ? Array(1..<(targets.count + 1)) : [number]
        for number in numbers where selected == number {
            await targets[number - 1]?.halt()
            selected = nil
        }
        forgetParts()
        if forgets {
            for number in numbers { targets[number - 1] = nil }
        }
        return .answer([0])
    }

    mutating func select(_ data: [UInt8]) async -> Outcome {
        guard data.count == 1 else { return .syntaxError }
        let number = Int(data[0])
        guard targets.indices.contains(number - 1), targets[number - 1] != nil else { return .status(.context) }
        if selected == number { return .answer([0]) }
        return await changeTarget(to: number) ? .answer([0]) : .status(.timeout)
    }

    mutating func haltSelected() async {
        if let number = selected.take() { await targets[number - 1]?.halt() }
    }

    private mutating func changeTarget(to number: Int) async -> Bool {
        await haltSelected()
        forgetParts()
        guard let card = targets[number - 1], await card.select() else { return false }
        selected = number
        return true
    }
}
