// SPDX-License-Identifier: Apache-2.0
import TagLink

extension DESFireCard {
    mutating func processISO(_ command: CardCommand) -> CardAnswer {
        switch command.ins {
        case 0xA4: return selectISO(command)
        case 0xB0: return readBinary(command)
        case 0xD6: return updateBinary(command)
        case 0x84, 0x82, 0x88: return CardAnswer(status: .securityNotSatisfied)
        default: return CardAnswer(status: .unknownInstruction)
        }
    }

    /// The name that selects the card itself. The NDEF application of mapping version 1 has the same one.
    static let cardName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00]

    /// SELECT by name, or by the identifier of the card, of an application, or of a file in the selected one.
    private mutating func selectISO(_ command: CardCommand) -> CardAnswer {
        guard command.p2 & 0xF3 == 0 else { return CardAnswer(status: .wrongParameters) }
        switch command.p1 {
        case 0x04:
            guard (1...16).contains(command.data.count) else { return CardAnswer(status: .wrongLength) }
            let index = contents.applications.firstIndex { $0.name == command.data }
            guard index != nil || command.data == Self.cardName else { return CardAnswer(status: .notFound) }
            select(index)
            return CardAnswer(status: .success)
        case 0x00...0x02:
            guard command.data.count == 2 || command.data.isEmpty else { return CardAnswer(status: .wrongLength) }
            return selectIdentifier(command)
        default:
            return CardAnswer(status: .wrongParameters)
        }
    }

    private mutating func selectIdentifier(_ command: CardCommand) -> CardAnswer {
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
        return CardAnswer(status: .notFound)
    }

    /// Returns the file and offset in P1 and P2. A short identifier is the file's number; without one, the current file
    /// is used.
    private mutating func target(_ command: CardCommand) -> (application: Int, file: Int, offset: Int)? {
        guard let selected else { return nil }
        if command.p1 & 0x80 != 0 {
            let files = contents.applications[selected].files
            guard let index = files.firstIndex(where: { $0.number == command.p1 & 0x1F }) else { return nil }
            currentFile = index
            return (selected, index, Int(command.p2))
        }
        return currentFile.map { (selected, $0, Int(command.parameters)) }
    }

    /// READ BINARY. A frame has room for 59 bytes, the maximum of one command. Le of 00 reads all available bytes.
    private mutating func readBinary(_ command: CardCommand) -> CardAnswer {
        guard command.data.isEmpty, let expected = command.expectedLength else {
            return CardAnswer(status: .wrongLength)
        }
        guard let target = target(command) else { return missing(command) }
        let file = contents.applications[target.application].files[target.file]
        guard let data = file.data else { return CardAnswer(status: .conditionsNotSatisfied) }
        guard allows(file.accessRights, .read, .readWrite) else { return CardAnswer(status: .securityNotSatisfied) }
        guard communication(file, .read, .readWrite) == .plain else {
            return CardAnswer(status: .conditionsNotSatisfied)
        }
        let takesAll = command.requestsAll
        guard takesAll || expected <= Self.frameLimit else { return CardAnswer(status: .wrongLength) }
        guard target.offset < data.count else { return CardAnswer(status: .wrongOffset) }
        let count = min(expected, Self.frameLimit, data.count - target.offset)
        let isWhole = takesAll || count == expected
        return CardAnswer(
            Array(data[target.offset..<(target.offset + count)]),
            status: isWhole ? .success : .endOfFile
        )
    }

    private mutating func updateBinary(_ command: CardCommand) -> CardAnswer {
        guard (1...Self.updateLimit).contains(command.data.count) else { return CardAnswer(status: .wrongLength) }
        guard let target = target(command) else { return missing(command) }
        let file = contents.applications[target.application].files[target.file]
        guard let data = file.data else { return CardAnswer(status: .conditionsNotSatisfied) }
        guard allows(file.accessRights, .write, .readWrite) else { return CardAnswer(status: .securityNotSatisfied) }
        guard communication(file, .write, .readWrite) == .plain else {
            return CardAnswer(status: .conditionsNotSatisfied)
        }
        guard target.offset < data.count else { return CardAnswer(status: .wrongOffset) }
        guard target.offset + command.data.count <= data.count else { return CardAnswer(status: .noRoom) }
        program(command.data, at: target.offset, in: target.file, of: target.application)
        return CardAnswer(status: .success, workTime: Self.programming(command.data.count), isWrite: true)
    }

    private func missing(_ command: CardCommand) -> CardAnswer {
        CardAnswer(status: command.p1 & 0x80 != 0 ? .notFound : .noCurrentFile)
    }
}
