// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// The commands of class FF that every reader has: GET DATA, keys, and blocks of storage cards.
extension EmulatedReader {
    /// Answers a command of class FF with a response and its status word.
    mutating func answer(_ apdu: [UInt8]) async -> [UInt8] {
        guard let command = ReaderCommand(apdu) else { return ReaderStatus.wrongLength }
        switch command.instruction {
        case 0xCA: return getData(command)
        case 0x82: return loadKey(command)
        case 0x86, 0x88: return authenticate(command)
        case 0xB0: return await readBinary(command)
        case 0xD6: return await updateBinary(command)
        case 0x00 where profile.escapes == .pn532: return await direct(command)
        case 0xC2 where profile.escapes == .transparentSession: return await transparent(command)
        default: return ReaderStatus.unsupportedFunction
        }
    }

    /// GET DATA: the UID, or the ATS of an NFC-A card (PC/SC 2.01 part 3, 3.2.2.1.3).
    private func getData(_ command: ReaderCommand) -> [UInt8] {
        guard let card else { return ReaderStatus.failed }
        switch (command.p1, command.p2) {
        case (0x00, 0x00): return Self.fitting(card.identifier, command.expectedLength)
        case (0x01, 0x00):
            guard let ats = card.isoDEP?.answerToSelect?.bytes else { return ReaderStatus.unsupportedFunction }
            return Self.fitting(ats, command.expectedLength)
        default: return ReaderStatus.unsupportedFunction
        }
    }

    private static func fitting(_ bytes: [UInt8], _ expected: Int?) -> [UInt8] {
        let wanted = expected.flatMap { $0 == 0 ? nil : $0 } ?? bytes.count
        if wanted < bytes.count { return [0x6C, UInt8(truncatingIfNeeded: bytes.count)] }
        return bytes + (wanted == bytes.count ? ReaderStatus.done : ReaderStatus.endOfData)
    }

    /// LOAD KEYS: six bytes into one of the reader's two places. No command uses them.
    private func loadKey(_ command: ReaderCommand) -> [UInt8] {
        command.p2 < 2 && command.data.count == 6 ? ReaderStatus.done : ReaderStatus.failed
    }

    /// GENERAL AUTHENTICATE. It is for MIFARE Classic, whose cipher this reader does not support.
    private func authenticate(_ command: ReaderCommand) -> [UInt8] {
        ReaderStatus.failed
    }

    // MARK: Blocks

    private func readBinary(_ command: ReaderCommand) async -> [UInt8] {
        guard let card else { return ReaderStatus.failed }
        let address = Int(high: command.p1, low: command.p2)
        switch card.kind {
        case .nfcA(let target) where target.isType2:
            let length = command.expectedLength.map { $0 == 0 ? 16 : $0 } ?? 16
            guard length <= 16 else { return [0x6C, 16] }
            guard address <= 0xFF else { return ReaderStatus.unknownAddress }
            guard let data = await sendToType2([0x30, UInt8(address)], card)?.bytes, data.count == 16 else {
                return ReaderStatus.failed
            }
            return data.prefix(length) + ReaderStatus.done
        case .nfcV(let target):
            return await readBlocks(target, card.link, address, command.expectedLength ?? 0)
        default: return ReaderStatus.unsupportedFunction
        }
    }

    private func updateBinary(_ command: ReaderCommand) async -> [UInt8] {
        guard let card else { return ReaderStatus.failed }
        let address = Int(high: command.p1, low: command.p2)
        switch card.kind {
        case .nfcA(let target) where target.isType2:
            guard address <= 0xFF else { return ReaderStatus.unknownAddress }
            let isWritten: Bool
            switch command.data.count {
            case 4:
                isWritten = await sendToType2([0xA2, UInt8(address)] + command.data, card)?.nibble == 0xA
            case 16:
                // COMPATIBILITY_WRITE takes 16 bytes, and writes four of them.
                let isReady = await sendToType2([0xA0, UInt8(address)], card)?.nibble == 0xA
                isWritten = isReady ? await sendToType2(command.data, card)?.nibble == 0xA : false
            default: return ReaderStatus.wrongLength
            }
            return isWritten ? ReaderStatus.done : ReaderStatus.failed
        case .nfcV(let target): return await writeBlocks(target, card.link, address, command.data)
        default: return ReaderStatus.unsupportedFunction
        }
    }

    /// Sends a command to a Type 2 tag. After a refusal the tag is no longer selected, so it is selected again.
    private func sendToType2(_ bytes: [UInt8], _ card: FieldCard) async -> Frame? {
        let answer = try? await card.link.transceive(Frame(bytes), timeout: .milliseconds(20))
        if let answer, answer.nibble ?? 0xA == 0xA { return answer }
        await card.select()
        return nil
    }

    /// Sends READ SINGLE BLOCK until there are enough bytes; once if the length is 0.
    private func readBlocks(_ target: NFCVTarget, _ link: any FrameLink, _ first: Int, _ length: Int) async -> [UInt8] {
        var data: [UInt8] = []
        var block = first
        repeat {
            guard let bytes = await readBlock(target, link, block) else {
                return data.isEmpty ? ReaderStatus.unknownAddress : data + ReaderStatus.endOfData
            }
            data += bytes
            block += 1
        } while data.count < length
        return data.prefix(length == 0 ? data.count : length) + ReaderStatus.done
    }

    /// A block's bytes, at least one; nil when there is no such block.
    private func readBlock(_ target: NFCVTarget, _ link: any FrameLink, _ block: Int) async -> ArraySlice<UInt8>? {
        guard block <= 0xFF,
            let answer = try? await link.transceive(
                Frame([0x22, 0x20] + target.uid.reversed() + [UInt8(block)]),
                timeout: .milliseconds(20)
            ).bytes, answer.count > 1, answer[0] & 0x01 == 0
        else { return nil }
        return answer.dropFirst()
    }

    /// Sends WRITE SINGLE BLOCK for each block of the data. The first block determines the block size.
    private func writeBlocks(
        _ target: NFCVTarget,
        _ link: any FrameLink,
        _ first: Int,
        _ data: [UInt8]
    ) async -> [UInt8] {
        guard let size = await readBlock(target, link, first)?.count else { return ReaderStatus.unknownAddress }
        guard !data.isEmpty, data.count % size == 0 else { return ReaderStatus.wrongLength }
        for index in 0..<data.count / size {
            let bytes = data[index * size..<(index + 1) * size]
            guard first + index <= 0xFF,
                let answer = try? await link.transceive(
                    Frame([0x22, 0x21] + target.uid.reversed() + [UInt8(first + index)] + bytes),
                    timeout: .milliseconds(25)
                ).bytes, answer.first.map({ $0 & 0x01 == 0 }) == true
            else { return ReaderStatus.failed }
        }
        return ReaderStatus.done
    }
}
