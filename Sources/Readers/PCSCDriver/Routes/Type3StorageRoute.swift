// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Read and Write Without Encryption of one service, through a PaSoRi's commands for storage cards: SELECT FILE with
/// the service's code, then one block at a time (Sony RC-S380/S Windows software: PC/SC API).
struct Type3StorageRoute: FrameRoute {
    let idm: [UInt8]
    var carriesFrames: Bool { false }

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        let bytes = frame.bytes
        guard frame.checksum == .automatic, bytes.count >= 16, Int(bytes[0]) == bytes.count,
            bytes[1] == 0x06 || bytes[1] == 0x08, Array(bytes[2..<10]) == idm, bytes[10] == 1,
            let elements = Self.elements(bytes[13...])
        else {
            throw .noWay("This reader reads and writes blocks of one service of a FeliCa card; it", "other commands")
        }
        // The service's code, in the byte order of the command.
        let chosen = try connection.ask([0xFF, 0xA4, 0x00, 0x01, 0x02, bytes[11], bytes[12]])
        if StorageCommands.isMissing(chosen.status) { throw StorageCommands.missing(chosen) }
        guard chosen.isDone else { return answer(bytes[1], status: [0xFF, 0xA6]) }
        return bytes[1] == 0x06
            ? try read(elements.blocks, connection)
            : try write(elements.blocks, Array(elements.rest), connection)
    }

    private func read(_ blocks: [Int], _ connection: CardConnection) throws(LinkError) -> Frame {
        var bytes: [UInt8] = []
        for (index, block) in blocks.enumerated() {
            let part = try StorageCommands.read(block, count: 16, connection)
            guard part.isDone, part.data.count == 16 else {
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

    /// The block list. An element has two bytes, or three if its first bit is 0. All elements are of service 0.
    private static func elements(_ bytes: ArraySlice<UInt8>) -> (blocks: [Int], rest: ArraySlice<UInt8>)? {
        guard let count = bytes.first, (1...15).contains(count) else { return nil }
        var rest = bytes.dropFirst()
        var blocks: [Int] = []
        for _ in 0..<count {
            guard let head = rest.first, head & 0x7F == 0 else { return nil }
            let isShort = head & 0x80 != 0
            let element = rest.prefix(isShort ? 2 : 3)
            guard element.count == (isShort ? 2 : 3) else { return nil }
            blocks.append(Int(bytes: element.dropFirst().reversed()))
            rest = rest.dropFirst(element.count)
        }
        return (blocks, rest)
    }
}
