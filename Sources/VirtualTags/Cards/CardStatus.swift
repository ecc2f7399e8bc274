// SPDX-License-Identifier: Apache-2.0

/// The status octets SW1 and SW2 with which a card ends its answer (ISO/IEC 7816-4, 5.1.3).
public struct CardStatus: RawRepresentable, Sendable, Hashable {
    /// SW1 in the high octet, SW2 in the low one.
    public var rawValue: UInt16

    /// Creates a status from its two octets.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Done.
    public static let success = CardStatus(rawValue: 0x9000)
    /// The file ended before all octets were read; the octets that there are come with it.
    public static let endOfFile = CardStatus(rawValue: 0x6282)
    /// The command failed, and the memory is as before.
    public static let executionError = CardStatus(rawValue: 0x6400)
    /// The memory could not be programmed.
    public static let memoryFailure = CardStatus(rawValue: 0x6581)
    /// A length is wrong, or beyond the card's limits.
    public static let wrongLength = CardStatus(rawValue: 0x6700)
    /// The access rights don't allow it.
    public static let securityNotSatisfied = CardStatus(rawValue: 0x6982)
    /// A condition is missing, such as an authentication that should have begun.
    public static let conditionsNotSatisfied = CardStatus(rawValue: 0x6985)
    /// No file is selected.
    public static let noCurrentFile = CardStatus(rawValue: 0x6986)
    /// The data field is wrong.
    public static let wrongData = CardStatus(rawValue: 0x6A80)
    /// There is no such file or application.
    public static let notFound = CardStatus(rawValue: 0x6A82)
    /// The file has no room for the data.
    public static let noRoom = CardStatus(rawValue: 0x6A84)
    /// The parameters P1 and P2 are wrong.
    public static let wrongParameters = CardStatus(rawValue: 0x6A86)
    /// The offset is outside of the file.
    public static let wrongOffset = CardStatus(rawValue: 0x6B00)
    /// The instruction is not known.
    public static let unknownInstruction = CardStatus(rawValue: 0x6D00)
    /// The class is not known.
    public static let unknownClass = CardStatus(rawValue: 0x6E00)

    /// The two octets as they are sent.
    var bytes: [UInt8] { [UInt8(rawValue >> 8), UInt8(rawValue & 0xFF)] }
}
