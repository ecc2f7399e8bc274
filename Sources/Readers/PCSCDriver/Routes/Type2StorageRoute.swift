// SPDX-License-Identifier: Apache-2.0
import TagLink

/// READ and WRITE of Type 2 tags through a reader's commands for storage cards.
struct Type2StorageRoute: FrameRoute {
    var maximumFrameLength: Int { 18 }
    var carriesFrames: Bool { false }

    private static let acknowledge = Frame(bits: [0x0A], validBitsInLastByte: 4)
    /// The reader reports that the tag refused, but not the bits of the refusal.
    private static let refusal = Frame(bits: [0x00], validBitsInLastByte: 4)

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        switch (frame.bytes.first, frame.bytes.count, frame.checksum) {
        case (0x30, 2, .automatic):
            let answer = try StorageCommands.read(Int(frame.bytes[1]), count: 16, connection)
            if StorageCommands.isMissing(answer.status) { throw StorageCommands.missing(answer) }
            guard answer.isDone else { return Self.refusal }
            guard answer.data.count == 16 else {
                throw LinkError(.transmission, "The reader brought \(answer.data.count) bytes of 16.")
            }
            return Frame(answer.data)
        case (0xA2, 6, .automatic):
            let answer = try StorageCommands.update(Int(frame.bytes[1]), Array(frame.bytes[2...]), connection)
            if StorageCommands.isMissing(answer.status) { throw StorageCommands.missing(answer) }
            return answer.isDone ? Self.acknowledge : Self.refusal
        default:
            throw .noWay("This reader reads and writes pages of a Type 2 tag; it", "other commands")
        }
    }
}
