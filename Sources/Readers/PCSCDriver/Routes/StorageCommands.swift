// SPDX-License-Identifier: Apache-2.0
import TagLink

/// READ BINARY and UPDATE BINARY of storage cards, FF B0 and FF D6 (PC/SC part 3, 3.2.2.1.8 and 3.2.2.1.9). The address
/// is the number of a block or page.
enum StorageCommands {
    static func read(_ address: Int, count: Int, _ connection: CardConnection) throws(LinkError) -> ReaderAnswer {
        let header: [UInt8] = [0xFF, 0xB0, UInt8(address >> 8 & 0xFF), UInt8(address & 0xFF)]
        let answer = try connection.ask(header + [UInt8(count)])
        // The reader knows the size of a block better.
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

    /// Whether a status word means that the reader does not have the command, and not that the tag refused it.
    static func isMissing(_ status: UInt16) -> Bool {
        [0x6D00, 0x6E00, 0x6881].contains(status)
    }

    static func missing(_ answer: ReaderAnswer) -> LinkError {
        LinkError(.unsupported, "The reader has no commands for this kind of tag (\(answer.statusText)).")
    }
}
