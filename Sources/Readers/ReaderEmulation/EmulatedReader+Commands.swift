// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// The class FF commands that every reader supports: GET DATA, keys, and blocks of storage cards.
extension EmulatedReader {
    /// Answers a class FF command. Returns the response with its status word.
    mutating func answer(_ apdu: [UInt8]) async -> [UInt8] {
        guard let command = ReaderCommand(apdu) else { return ReaderStatus.wrongLength }
        switch command.instruction {
        case 0xCA: return getData(command)
        case 0x82: return loadKey(command)
        case 0x86: return await authenticate(command)
        case 0xD7: return await changeValue(command)
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

    /// LOAD KEYS: loads six bytes into one of the reader's two key slots.
    private mutating func loadKey(_ command: ReaderCommand) -> [UInt8] {
        guard command.p2 < 2, command.data.count == 6 else { return ReaderStatus.failed }
        keys[Int(command.p2)] = command.data
        return ReaderStatus.done
    }

    // MARK: MIFARE Classic

    /// GENERAL AUTHENTICATE: version 1, block, 60 or 61 for key A or B, and key slot (PC/SC 2.01 part 3, 3.2.2.1.6).
    private func authenticate(_ command: ReaderCommand) async -> [UInt8] {
        let data = command.data
        guard let card, card.isClassic, data.count == 5, data[0] == 1, data[3] & 0xFE == 0x60, data[4] < 2,
            keys[Int(data[4])].count == 6
        else { return ReaderStatus.failed }
        let command = [data[3], data[2]] + keys[Int(data[4])] + card.identifier.suffix(4)
        return await sendToClassic(command, card) == nil ? ReaderStatus.failed : ReaderStatus.done
    }

    /// Value block operation: 1 increments (C1) and 2 decrements (C0) by four bytes, high byte first (ACR122U API 2.04, 5.5.1).
    private func changeValue(_ command: ReaderCommand) async -> [UInt8] {
        guard let card, card.isClassic, command.data.count == 5, command.data[0] == 1 || command.data[0] == 2,
            await sendToClassic([0xC2 - command.data[0], command.p2] + command.data[1...].reversed(), card) != nil,
            await sendToClassic([0xB0, command.p2], card) != nil
        else { return ReaderStatus.failed }
        return ReaderStatus.done
    }

    /// Sends a command to a MIFARE Classic; nil if the card refuses it. The card is then selected again.
    private func sendToClassic(_ command: [UInt8], _ card: FieldCard) async -> Frame? {
        let answer = try? await card.classic.execute(command, over: card.link)
        if let answer, answer.nibble ?? 0xA == 0xA { return answer }
        await card.select()
        return nil
    }

    // MARK: Blocks

    private func readBinary(_ command: ReaderCommand) async -> [UInt8] {
        guard let card else { return ReaderStatus.failed }
        let address = Int(high: command.p1, low: command.p2)
        switch card.kind {
        case .nfcA where card.isClassic:
            guard let data = await sendToClassic([0x30, command.p2], card)?.bytes, data.count == 16 else {
                return ReaderStatus.failed
            }
            return Self.fitting(data, command.expectedLength)
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
        case .nfcA where card.isClassic:
            guard command.data.count == 16 else { return ReaderStatus.wrongLength }
            let answer = await sendToClassic([0xA0, command.p2] + command.data, card)
            return answer == nil ? ReaderStatus.failed : ReaderStatus.done
        case .nfcA(let target) where target.isType2:
            guard address <= 0xFF else { return ReaderStatus.unknownAddress }
            let isWritten: Bool
            switch command.data.count {
            case 4:
                isWritten = await sendToType2([0xA2, UInt8(address)] + command.data, card)?.nibble == 0xA
            case 16:
                // COMPATIBILITY_WRITE sends 16 bytes, of which the tag writes four.
                let isReady = await sendToType2([0xA0, UInt8(address)], card)?.nibble == 0xA
                isWritten = isReady ? await sendToType2(command.data, card)?.nibble == 0xA : false
            default: return ReaderStatus.wrongLength
            }
            return isWritten ? ReaderStatus.done : ReaderStatus.failed
        case .nfcV(let target): return await writeBlocks(target, card.link, address, command.data)
        default: return ReaderStatus.unsupportedFunction
        }
    }

    /// Sends a command to a Type 2 tag. A refusal deselects the tag, so the tag is then selected again.
    private func sendToType2(_ bytes: [UInt8], _ card: FieldCard) async -> Frame? {
        let answer = try? await card.link.transceive(Frame(bytes), timeout: .milliseconds(20))
        if let answer, answer.nibble ?? 0xA == 0xA { return answer }
        await card.select()
        return nil
    }

    /// Sends READ SINGLE BLOCK until there are enough bytes. If the length is 0, reads one block.
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

    /// Returns a block's bytes, at least one; nil when the block does not exist.
    private func readBlock(_ target: NFCVTarget, _ link: any FrameLink, _ block: Int) async -> ArraySlice<UInt8>? {
        guard block <= 0xFF,
            let answer = try? await link.transceive(
                Frame([0x22, 0x20] + target.uid.reversed() + [UInt8(block)]),
                timeout: .milliseconds(20)
            ).bytes, answer.count > 1, answer[0] & 0x01 == 0
        else { return nil }
        return answer.dropFirst()
    }

    /// Sends WRITE SINGLE BLOCK for each block of the data. The length of the first block is the block size.
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

/// A class FF command, which the reader itself answers (PC/SC 2.01 part 3, 3.2.2).
struct ReaderCommand: Sendable {
    let instruction: UInt8
    let p1: UInt8
    let p2: UInt8
    let data: [UInt8]
    /// Le; 0 means all available data. Nil when Le is missing.
    let expectedLength: Int?

    /// Parses a command APDU of class FF with short or extended lengths. Returns nil when the class is different, or
    /// the lengths are inconsistent.
    init?(_ apdu: [UInt8]) {
        guard apdu.first == 0xFF, let body = APDUBody(parsing: apdu) else { return nil }
        (instruction, p1, p2) = (apdu[1], apdu[2], apdu[3])
        data = Array(apdu[body.data])
        expectedLength = body.expectedLength < 0 ? nil : body.expectedLength % (body.isExtended ? 65536 : 256)
    }
}

/// Status words of readers (PC/SC 2.01 part 3, 3.2.2).
enum ReaderStatus {
    static let done: [UInt8] = [0x90, 0x00]
    static let failed: [UInt8] = [0x63, 0x00]
    /// The card has less data than requested.
    static let endOfData: [UInt8] = [0x62, 0x82]
    static let wrongLength: [UInt8] = [0x67, 0x00]
    static let unsupportedFunction: [UInt8] = [0x6A, 0x81]
    static let unknownInstruction: [UInt8] = [0x6D, 0x00]
    static let unknownAddress: [UInt8] = [0x6A, 0x82]
}

/// The ATR that a reader creates for a card without an ATR (PC/SC 2.01 part 3, 3.1.3.2.3).
enum EmulatedAnswerToReset {
    /// Returns the ATR of a card.
    static func bytes(for card: FieldCard, _ profile: ReaderProfile) -> [UInt8] {
        switch card.kind {
        case .nfcA where card.isoDEP != nil:
            return make(historical: card.isoDEP?.answerToSelect?.historicalBytes ?? [])
        case .nfcB(let target) where card.isoDEP != nil:
            // Application data, protocol info, and the buffer length from ATTRIB's answer, which is 0 for most cards.
            return make(historical: target.applicationData + target.protocolInfo.prefix(3) + [0])
        default:
            let (standard, name) = storageCard(card, profile)
            // Category 80, then PC/SC's application identifier: RID, standard, card name, four unused bytes.
            return make(
                historical: [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, standard]
                    + [UInt8(name >> 8), UInt8(name & 0xFF), 0, 0, 0, 0]
            )
        }
    }

    /// Makes an ATR of TS, T0, TD1, TD2 (for T=0 and T=1), the historical bytes and the check byte.
    private static func make(historical: [UInt8]) -> [UInt8] {
        let historical = historical.prefix(15)
        let bytes = [0x80 | UInt8(historical.count), 0x80, 0x01] + historical
        return [0x3B] + bytes + [bytes.reduce(0, ^)]
    }

    /// Returns the numbers of a storage card's standard and name.
    private static func storageCard(_ card: FieldCard, _ profile: ReaderProfile) -> (standard: UInt8, name: UInt16) {
        let isACR122U = profile.escapes == .pn532
        switch card.kind {
        case .nfcA(let target):
            switch target.sak {
            case 0x00: return (0x03, 0x0003)
            case 0x08: return (0x03, 0x0001)
            case 0x18: return (0x03, 0x0002)
            case 0x09: return (0x03, 0x0026)
            default: return (0x03, 0xFF00 | UInt16(target.sak ?? 0))
            }
        // The ACR122U has its own numbers (ACR122U API 2.04, 3.1.1).
        case .type1: return isACR122U ? (0x03, 0xF004) : (0x02, 0x0030)
        case .nfcF: return isACR122U ? (0x03, 0xF011) : (0x11, 0x003B)
        case .nfcB: return (0x07, 0x0000)
        case .nfcV(let target):
            switch target.manufacturer {
            case 0x04: return (0x0B, 0x0014)
            case 0x07: return (0x0B, 0x0012)
            default: return (0x0B, 0x0000)
            }
        }
    }
}
