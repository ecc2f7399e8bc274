// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The status bytes SW1 and SW2 at the end of a card's answer (ISO/IEC 7816-4, 5.1.3).
public struct CardStatus: RawRepresentable, Sendable, Hashable {
    /// SW1 in the high byte, SW2 in the low one.
    public var rawValue: UInt16

    /// Creates a status from its two bytes.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Success.
    public static let success = CardStatus(rawValue: 0x9000)
    /// The file ended before the requested number of bytes. The answer contains the available ones.
    public static let endOfFile = CardStatus(rawValue: 0x6282)
    /// The command failed, and the memory has not changed.
    public static let executionError = CardStatus(rawValue: 0x6400)
    /// The memory could not be programmed.
    public static let memoryFailure = CardStatus(rawValue: 0x6581)
    /// A length is wrong, or exceeds the card's limits.
    public static let wrongLength = CardStatus(rawValue: 0x6700)
    /// The access rights do not allow the command.
    public static let securityNotSatisfied = CardStatus(rawValue: 0x6982)
    /// A condition is not satisfied, for example because an authentication was not started.
    public static let conditionsNotSatisfied = CardStatus(rawValue: 0x6985)
    /// No file is selected.
    public static let noCurrentFile = CardStatus(rawValue: 0x6986)
    /// The data field is wrong.
    public static let wrongData = CardStatus(rawValue: 0x6A80)
    /// The file or application does not exist.
    public static let notFound = CardStatus(rawValue: 0x6A82)
    /// The file has no such record.
    public static let recordNotFound = CardStatus(rawValue: 0x6A83)
    /// The data object does not exist.
    public static let dataNotFound = CardStatus(rawValue: 0x6A88)
    /// The file has no space for the data.
    public static let noRoom = CardStatus(rawValue: 0x6A84)
    /// The parameters P1 and P2 are wrong.
    public static let wrongParameters = CardStatus(rawValue: 0x6A86)
    /// The offset is outside the file.
    public static let wrongOffset = CardStatus(rawValue: 0x6B00)
    /// The instruction is unknown.
    public static let unknownInstruction = CardStatus(rawValue: 0x6D00)
    /// The class is unknown.
    public static let unknownClass = CardStatus(rawValue: 0x6E00)

    /// The two bytes as they are sent.
    package var bytes: [UInt8] { rawValue.bigEndianBytes }
}
