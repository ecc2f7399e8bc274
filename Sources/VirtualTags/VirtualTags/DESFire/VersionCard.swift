// SPDX-License-Identifier: Apache-2.0

/// A card that answers GET VERSION and refuses all other commands. It has no applications and no files.
public struct VersionCard: Card {
    /// The card's known data.
    public let contents: VersionCardContents
    /// The frames that follow with AF.
    private var pending: [[UInt8]] = []

    /// Creates a card.
    public init(_ contents: VersionCardContents) {
        self.contents = contents
    }

    public mutating func losePower() {
        pending = []
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        guard let code = message.first else { return CardAnswer([DESFireStatus.lengthError.rawValue]) }
        if message.count >= 4, code == 0x00 || code == 0x90 {
            guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
            guard code == 0x90 else {
                pending = []
                return CardAnswer(status: command.ins == 0xA4 ? .notFound : .unknownInstruction)
            }
            let (data, status) = native(command.ins, hasData: !command.data.isEmpty)
            return CardAnswer(data + [0x91, status.rawValue])
        }
        let (data, status) = native(code, hasData: message.count > 1)
        return CardAnswer([status.rawValue] + data)
    }

    private mutating func native(_ command: UInt8, hasData: Bool) -> ([UInt8], DESFireStatus) {
        let frames = command == 0x60 ? contents.frames : command == 0xAF ? pending : []
        pending = []
        guard let first = frames.first else { return ([], .illegalCommand) }
        guard !hasData else { return ([], .lengthError) }
        pending = Array(frames.dropFirst())
        return (first, pending.isEmpty ? .success : .additionalFrame)
    }
}
