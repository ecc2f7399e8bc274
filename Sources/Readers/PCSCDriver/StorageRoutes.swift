// SPDX-License-Identifier: Apache-2.0
import TagLink

/// READ BINARY and UPDATE BINARY for storage cards, FF B0 and FF D6 (PC/SC part 3, 3.2.2.1.8 and 3.2.2.1.9). The
/// address is the number of a block or page.
enum StorageCommands {
    static func read(_ address: Int, count: Int, _ connection: CardConnection) throws(LinkError) -> ReaderAnswer {
        let header: [UInt8] = [0xFF, 0xB0, UInt8(address >> 8 & 0xFF), UInt8(address & 0xFF)]
        let answer = try connection.ask(header + [UInt8(count)])
        // 6C means that the requested length is wrong, and reports the correct length.
        guard answer.status >> 8 == 0x6C else { return answer }
        return try connection.ask(header + [UInt8(answer.status & 0xFF)])
    }

    static func update(_ address: Int, _ data: [UInt8], _ connection: CardConnection) throws(LinkError) -> ReaderAnswer
    {
        guard data.count <= 255 else {
            throw LinkError(.frameTooLong, "The reader's commands write 255 bytes at most.")
        }
        return try connection.ask(
            [0xFF, 0xD6, UInt8(address >> 8 & 0xFF), UInt8(address & 0xFF), UInt8(data.count)] + data
        )
    }

    /// Returns whether a status word means that the reader lacks the command, or does not take its length (6700). False
    /// if the tag refused it.
    static func isMissing(_ status: UInt16) -> Bool {
        [0x6D00, 0x6E00, 0x6881, wrongLength].contains(status)
    }

    static func missing(_ answer: ReaderAnswer) -> LinkError {
        let reason =
            answer.status == wrongLength
            ? "The reader does not read or write this many bytes of the tag at once"
            : "The reader has no commands for this kind of tag"
        return LinkError(.unsupported, "\(reason) (\(answer.statusText)).")
    }

    static let wrongLength: UInt16 = 0x6700
}

/// Supports READ and WRITE of Type 2 tags, through a reader's commands for storage cards.
struct Type2StorageRoute: FrameRoute {
    var maximumFrameLength: Int { 18 }
    var carriesFrames: Bool { false }

    /// The reader reports only that the tag refused, so the reason is unknown.
    static let refusal = Frame(bits: [0x00], validBitsInLastByte: 4)

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        switch (frame.bytes.first, frame.bytes.count, frame.checksum) {
        case (0x30, 2, .automatic):
            var answer = try StorageCommands.read(Int(frame.bytes[1]), count: 16, connection)
            if answer.status == StorageCommands.wrongLength {
                answer = try readPages(Int(frame.bytes[1]), connection)
            }
            if StorageCommands.isMissing(answer.status) { throw StorageCommands.missing(answer) }
            guard answer.hasData else { return Self.refusal }
            if answer.isCutShort, answer.data.count < 16 {
                // READ continues with page 0 after the last page (NTAG213/215/216 data sheet, 10.2).
                answer.data += try StorageCommands.read(0, count: 16, connection).data
                answer.data = Array(answer.data.prefix(16))
            }
            guard answer.data.count == 16 else {
                throw LinkError(.transmission, "The reader returned only \(answer.data.count) of 16 bytes.")
            }
            return Frame(answer.data)
        case (0xA2, 6, .automatic):
            let answer = try StorageCommands.update(Int(frame.bytes[1]), Array(frame.bytes[2...]), connection)
            if StorageCommands.isMissing(answer.status) { throw StorageCommands.missing(answer) }
            return answer.isDone ? .acknowledge : Self.refusal
        default:
            throw .cannotSend("This reader reads and writes pages of a Type 2 tag; it", "other commands")
        }
    }

    /// Reads four pages one by one, for a reader that takes no other length. If one can't be read after the first, the
    /// memory ends before it.
    private func readPages(_ page: Int, _ connection: CardConnection) throws(LinkError) -> ReaderAnswer {
        var answer = try StorageCommands.read(page, count: 4, connection)
        for next in page + 1..<page + 4 where answer.isDone {
            let part = try StorageCommands.read(next, count: 4, connection)
            guard part.isDone else {
                answer.status = 0x6282
                break
            }
            answer.data += part.data
        }
        return answer
    }
}

/// Supports MIFARE Classic through a reader's commands for keys (PC/SC part 3, 3.2.2.1.4 and 3.2.2.1.6) and blocks, and
/// the value command of readers like the ACR122U (ACR122U API 2.04, 5.5).
struct ClassicStorageRoute: FrameRoute {
    var carriesFrames: Bool { false }
    var authenticatesClassic: Bool { true }
    /// The value command that TRANSFER completes.
    private let pending = Locked<[UInt8]>([])

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        let bytes = frame.bytes
        let answer: ReaderAnswer
        switch (bytes.first, bytes.count) {
        case (0x60, 12), (0x61, 12):
            let loaded = try connection.ask([0xFF, 0x82, 0x00, 0x00, 0x06] + bytes[2..<8])
            guard loaded.isDone else { throw StorageCommands.missing(loaded) }
            answer = try connection.ask([0xFF, 0x86, 0x00, 0x00, 0x05, 0x01, 0x00, bytes[1], bytes[0], 0x00])
            guard answer.isDone || StorageCommands.isMissing(answer.status) else {
                throw LinkError(.timeout, "The card does not accept the key (\(answer.statusText)).")
            }
        case (0x30, 2): answer = try StorageCommands.read(Int(bytes[1]), count: 16, connection)
        case (0xA0, 18): answer = try StorageCommands.update(Int(bytes[1]), Array(bytes[2...]), connection)
        case (0xC0, 6), (0xC1, 6):
            pending.withLock { $0 = bytes }
            return .acknowledge
        case (0xB0, 2):
            let value = pending.withLock { $0 }
            guard value.count == 6, value[1] == bytes[1] else { return Type2StorageRoute.refusal }
            let code: UInt8 = value[0] == 0xC1 ? 0x01 : 0x02
            answer = try connection.ask([0xFF, 0xD7, 0x00, bytes[1], 0x05, code] + value[2...].reversed())
        default: throw .cannotSend("This reader reads, writes and counts in blocks of a MIFARE Classic; it", "others")
        }
        if StorageCommands.isMissing(answer.status) { throw StorageCommands.missing(answer) }
        guard answer.isDone else { return Type2StorageRoute.refusal }
        return answer.data.isEmpty ? .acknowledge : Frame(answer.data)
    }
}

/// Supports Read and Write Without Encryption of one service, through a PaSoRi's commands for storage cards: SELECT
/// FILE with the service's code, then one block at a time (Sony RC-S380/S Windows software: PC/SC API).
struct Type3StorageRoute: FrameRoute {
    let idm: [UInt8]
    var carriesFrames: Bool { false }

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        let bytes = frame.bytes
        guard frame.checksum == .automatic, bytes.count >= 16, Int(bytes[0]) == bytes.count,
            bytes[1] == 0x06 || bytes[1] == 0x08, Array(bytes[2..<10]) == idm, bytes[10] == 1,
            let list = FeliCaBlockList(bytes[10...]), (1...15).contains(list.elements.count),
            list.elements.allSatisfy({ $0.service == 0 && $0.accessMode == 0 })
        else {
            throw .cannotSend(
                "This reader reads and writes blocks of one service of a FeliCa card; it",
                "other commands"
            )
        }
        // The service's code has the same byte order as in the command.
        let selection = try connection.ask([0xFF, 0xA4, 0x00, 0x01, 0x02, bytes[11], bytes[12]])
        if StorageCommands.isMissing(selection.status) { throw StorageCommands.missing(selection) }
        guard selection.isDone else { return answer(bytes[1], status: [0xFF, 0xA6]) }
        let blocks = list.elements.map(\.block)
        return bytes[1] == 0x06
            ? try read(blocks, connection) : try write(blocks, list.data, connection)
    }

    private func read(_ blocks: [Int], _ connection: CardConnection) throws(LinkError) -> Frame {
        var bytes: [UInt8] = []
        for (index, block) in blocks.enumerated() {
            let part = try StorageCommands.read(block, count: 16, connection)
            if StorageCommands.isMissing(part.status) { throw StorageCommands.missing(part) }
            guard part.hasData, part.data.count == 16 else {
                return answer(0x06, status: [UInt8(1 << (index % 8)), 0xA8])
            }
            bytes += part.data
        }
        return answer(0x06, status: [0x00, 0x00], [UInt8(blocks.count)] + bytes)
    }

    private func write(_ blocks: [Int], _ data: [UInt8], _ connection: CardConnection) throws(LinkError) -> Frame {
        guard data.count == 16 * blocks.count else { return answer(0x08, status: [0xFF, 0xA9]) }
        for (index, block) in blocks.enumerated() {
            let piece = Array(data[16 * index..<16 * (index + 1)])
            guard try StorageCommands.update(block, piece, connection).isDone else {
                return answer(0x08, status: [UInt8(1 << (index % 8)), 0xA8])
            }
        }
        return answer(0x08, status: [0x00, 0x00])
    }

    private func answer(_ command: UInt8, status: [UInt8], _ data: [UInt8] = []) -> Frame {
        let body = [command + 1] + idm + status + data
        return Frame([UInt8(body.count + 1)] + body)
    }
}

/// Reads and writes blocks of ISO/IEC 15693 tags, through a reader's commands for storage cards.
struct Type5StorageRoute: FrameRoute {
    private enum Command {
        static let readSingle: UInt8 = 0x20
        static let writeSingle: UInt8 = 0x21
        static let readMultiple: UInt8 = 0x23
        static let extendedReadSingle: UInt8 = 0x30
        static let extendedWriteSingle: UInt8 = 0x31
    }

    /// The eight bytes of the UID, most significant byte first.
    let uid: [UInt8]
    var carriesFrames: Bool { false }

    func begin(_ connection: CardConnection) throws(LinkError) {
        let answer = try StorageCommands.read(0, count: 4, connection)
        if StorageCommands.isMissing(answer.status) { throw StorageCommands.missing(answer) }
    }

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        let bytes = frame.bytes
        // The reader has no commands for inventory, extension, block security status and select.
        guard frame.checksum == .automatic, bytes.count >= 2, bytes[0] & 0x1C == 0 else { throw Self.unsupported }
        var rest = bytes[2...]
        if bytes[0] & 0x20 != 0 {
            guard Array(rest.prefix(8)) == uid.reversed() else {
                throw LinkError(.timeout, "No tag with this UID is in the reader.")
            }
            rest = rest.dropFirst(8)
        }
        let isLong = bytes[1] == Command.extendedReadSingle || bytes[1] == Command.extendedWriteSingle
        guard rest.count >= (isLong ? 2 : 1) else { throw Self.unsupported }
        let address =
            isLong ? Int(high: rest[rest.startIndex + 1], low: rest[rest.startIndex]) : Int(rest[rest.startIndex])
        let data = Array(rest.dropFirst(isLong ? 2 : 1))
        let wantsStatus = bytes[0] & 0x40 != 0
        switch bytes[1] {
        case Command.readSingle, Command.extendedReadSingle:
            guard data.isEmpty, !wantsStatus else { throw Self.unsupported }
            return try read(address...address, connection)
        case Command.readMultiple:
            guard data.count == 1, !wantsStatus else { throw Self.unsupported }
            return try read(address...address + Int(data[0]), connection)
        case Command.writeSingle, Command.extendedWriteSingle:
            guard !data.isEmpty else { throw Self.unsupported }
            let answer = try StorageCommands.update(address, data, connection)
            return try response(answer, [])
        default: throw Self.unsupported
        }
    }

    private static let unsupported = LinkError.cannotSend(
        "This reader reads and writes blocks of the tag; it",
        "other requests"
    )

    private func read(_ blocks: ClosedRange<Int>, _ connection: CardConnection) throws(LinkError) -> Frame {
        var bytes: [UInt8] = []
        for block in blocks {
            let answer = try StorageCommands.read(block, count: 4, connection)
            guard answer.hasData else { return try response(answer, []) }
            bytes += answer.data
        }
        return Frame([0x00] + bytes)
    }

    /// Returns the response that the tag would have sent (ISO/IEC 15693-3, 7.4).
    private func response(_ answer: ReaderAnswer, _ data: [UInt8]) throws(LinkError) -> Frame {
        if answer.isDone { return Frame([0x00] + data) }
        if StorageCommands.isMissing(answer.status) { throw StorageCommands.missing(answer) }
        let code: UInt8 =
            switch answer.status {
            // The block does not exist.
            case 0x6A82, 0x6A83, 0x6B00: 0x10
            // The block is locked.
            case 0x6981, 0x6982, 0x6986: 0x12
            default: 0x0F
            }
        return Frame([0x01, code])
    }
}
