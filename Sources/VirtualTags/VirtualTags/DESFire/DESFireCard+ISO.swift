// SPDX-License-Identifier: Apache-2.0
import TagLink

extension DESFireCard {
    mutating func processISO(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        switch command.ins {
        case 0xA4: return try selectISO(command)
        case 0xB0: return try readBinary(command)
        case 0xD6: return try updateBinary(command)
        case 0x84, 0x82, 0x88: throw .securityNotSatisfied
        default: throw .unknownInstruction
        }
    }

    /// The name that selects the card itself. The NDEF application of mapping version 1 has the same one.
    static let cardName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00]

    /// SELECT by name, or by the identifier of the card, of an application, or of a file in the selected one.
    private mutating func selectISO(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.p2 & 0xF3 == 0 else { throw .wrongParameters }
        switch command.p1 {
        case 0x04:
            guard (1...16).contains(command.data.count) else { throw .wrongLength }
            let index = contents.applications.firstIndex { $0.name == command.data }
            guard index != nil || command.data == Self.cardName else { throw .notFound }
            select(index)
            return CardAnswer(status: .success)
        case 0x00...0x02:
            guard command.data.count == 2 || command.data.isEmpty else { throw .wrongLength }
            return try selectIdentifier(command)
        default: throw .wrongParameters
        }
    }

    private mutating func selectIdentifier(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        let identifier = command.data.isEmpty ? 0x3F00 : UInt16(high: command.data[0], low: command.data[1])
        if identifier == 0x3F00, command.p1 != 0x02 {
            select(nil)
            return CardAnswer(status: .success)
        }
        if command.p1 != 0x01, let selected,
            let index = contents.applications[selected].files.firstIndex(where: { $0.isoIdentifier == identifier })
        {
            currentFile = index
            return CardAnswer(status: .success)
        }
        if command.p1 != 0x02, let index = contents.applications.firstIndex(where: { $0.isoIdentifier == identifier }) {
            select(index)
            return CardAnswer(status: .success)
        }
        throw .notFound
    }

    /// Returns the file and offset in P1 and P2. A short identifier is the file's number; without one, the current file
    /// is used.
    private mutating func target(
        _ command: CardCommand
    ) throws(CardStatus) -> (application: Int, file: Int, offset: Int) {
        let isShort = command.p1 & 0x80 != 0
        guard let selected else { throw isShort ? .notFound : .noCurrentFile }
        if isShort {
            let files = contents.applications[selected].files
            guard let index = files.firstIndex(where: { $0.number == command.p1 & 0x1F }) else { throw .notFound }
            currentFile = index
            return (selected, index, Int(command.p2))
        }
        guard let currentFile else { throw .noCurrentFile }
        return (selected, currentFile, Int(command.parameters))
    }

    /// READ BINARY. A frame has room for 59 bytes, the maximum of one command. Le of 00 reads all available bytes.
    private mutating func readBinary(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.data.isEmpty, let expected = command.expectedLength else { throw .wrongLength }
        let target = try target(command)
        let file = contents.applications[target.application].files[target.file]
        guard let data = file.data else { throw .conditionsNotSatisfied }
        guard allows(file.accessRights, .read, .readWrite) else { throw .securityNotSatisfied }
        guard communication(file, .read, .readWrite) == .plain else { throw .conditionsNotSatisfied }
        let takesAll = command.requestsAll
        guard takesAll || expected <= Self.frameLimit else { throw .wrongLength }
        guard target.offset < data.count else { throw .wrongOffset }
        let count = min(expected, Self.frameLimit, data.count - target.offset)
        let isWhole = takesAll || count == expected
        return CardAnswer(Array(data[target.offset..<(target.offset + count)]), status: isWhole ? .success : .endOfFile)
    }

    private mutating func updateBinary(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard (1...Self.updateLimit).contains(command.data.count) else { throw .wrongLength }
        let target = try target(command)
        let file = contents.applications[target.application].files[target.file]
        guard let data = file.data else { throw .conditionsNotSatisfied }
        guard allows(file.accessRights, .write, .readWrite) else { throw .securityNotSatisfied }
        guard communication(file, .write, .readWrite) == .plain else { throw .conditionsNotSatisfied }
        guard target.offset < data.count else { throw .wrongOffset }
        guard target.offset + command.data.count <= data.count else { throw .noRoom }
        program(command.data, at: target.offset, in: target.file, of: target.application)
        return CardAnswer(status: .success, workTime: Self.programming(command.data.count), isWrite: true)
    }
}
