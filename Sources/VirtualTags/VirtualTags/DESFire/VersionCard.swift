// SPDX-License-Identifier: Apache-2.0
import TagProducts

/// The known data of an NXP card whose dump contains only the activation and the answer to GET VERSION.
public struct VersionCardContents: Sendable, Hashable {
    /// The product family of a card.
    public enum Family: String, Sendable, Hashable, CaseIterable {
        /// NTAG 413 DNA, 424 DNA and 426Q DNA.
        case ntag4xx = "NTAG 4xx"
        /// MIFARE Plus in any security level.
        case mifarePlus = "MIFARE Plus"
    }

    /// The family.
    public var family: Family
    /// The three parts of the answer to GET VERSION, 28 or 29 bytes; zeros if the card lacks the command.
    public var version: [UInt8]
    /// The type of a MIFARE Plus, such as `Mifare Plus EV2`; empty if unknown.
    public var cardType = ""
    /// The memory of a MIFARE Plus, such as `2K`; empty if unknown.
    public var memorySize = ""
    /// The security level of a MIFARE Plus, such as `SL3`; empty if unknown.
    public var securityLevel = ""

    /// Creates the data of a card.
    public init(_ family: Family, version: [UInt8]) {
        self.family = family
        self.version = version
    }

    /// The most specific chip name that the version identifies (NXP AN12196; NT4H2421Tx data sheet).
    public var chip: String {
        guard family == .ntag4xx else { return cardType.isEmpty ? family.rawValue : cardType }
        return CardName.ofNXP(hardware: version) ?? family.rawValue
    }

    /// The frames of the answer to GET VERSION; empty if the card lacks the command.
    ///
    /// A fab key that does not fit into its five bits is the last frame's 15th byte; the five bits are then all ones.
    var frames: [[UInt8]] {
        guard version.count >= 28, version.contains(where: { $0 != 0 }) else { return [] }
        let isLong = version.count > 28 && version[25] & 0x0F == 0x0F && version[26] & 0x80 != 0
        return [Array(version[0..<7]), Array(version[7..<14]), Array(version[14..<(isLong ? 29 : 28)])]
    }
}

/// A card that answers GET VERSION and refuses all other commands. It has no applications and no files.
public struct VersionCard: Card {
    /// The card's known data.
    public let contents: VersionCardContents
    private var pending: [[UInt8]] = []
    /// As on a MIFARE DESFire (MIFARE Plus: flutter_nfc_kit #216).
    private(set) var refusesNative = false

    /// Creates a card.
    public init(_ contents: VersionCardContents) { self.contents = contents }

    public mutating func losePower() {
        pending = []
        refusesNative = false
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        guard let code = message.first else { return CardAnswer([DESFireStatus.lengthError.rawValue]) }
        if message.count >= 4, code == 0x00 || code == 0x90 {
            guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
            guard code == 0x90 else {
                pending = []
                refusesNative = true
                return CardAnswer(status: command.ins == 0xA4 ? .notFound : .unknownInstruction)
            }
            let (data, status) = native(command.ins, hasData: !command.data.isEmpty)
            return CardAnswer(data + [0x91, status.rawValue])
        }
        guard !refusesNative else { return CardAnswer([DESFireStatus.wrongFraming.rawValue]) }
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
