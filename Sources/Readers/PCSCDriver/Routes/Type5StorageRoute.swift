// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Blocks of ISO/IEC 15693 tags through a reader's commands for storage cards.
struct Type5StorageRoute: FrameRoute {
    private enum Command {
        static let readSingle: UInt8 = 0x20
        static let writeSingle: UInt8 = 0x21
        static let readMultiple: UInt8 = 0x23
        static let extendedReadSingle: UInt8 = 0x30
        static let extendedWriteSingle: UInt8 = 0x31
    }

    /// The eight bytes of the UID, from the last one on.
    let uid: [UInt8]
    var carriesFrames: Bool { false }

    func begin(_ connection: CardConnection) throws(LinkError) {
        let answer = try StorageCommands.read(0, count: 4, connection)
        if StorageCommands.isMissing(answer.status) { throw StorageCommands.missing(answer) }
    }

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        let bytes = frame.bytes
        // No reader command has the function of the flags for inventory, extension, block security status and select.
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

    private static let unsupported = LinkError.noWay(
        "This reader reads and writes blocks of the tag; it",
        "other requests"
    )

    private func read(_ blocks: ClosedRange<Int>, _ connection: CardConnection) throws(LinkError) -> Frame {
        var bytes: [UInt8] = []
        for block in blocks {
            let answer = try StorageCommands.read(block, count: 4, connection)
            guard answer.isDone else { return try response(answer, []) }
            bytes += answer.data
        }
        return Frame([0x00] + bytes)
    }

    /// The response that the tag would have sent (ISO/IEC 15693-3, 7.4).
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
