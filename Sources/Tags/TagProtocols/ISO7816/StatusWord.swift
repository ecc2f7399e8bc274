// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A status word, SW1 and SW2 (ISO/IEC 7816-4, 5.6).
public struct StatusWord: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// SW1 in the high byte, SW2 in the low byte.
    public var rawValue: UInt16

    /// Creates a status word.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 9000: success.
    public static let success = StatusWord(rawValue: 0x9000)
    /// 6282: the end of the file was reached before Ne bytes.
    public static let endOfFile = StatusWord(rawValue: 0x6282)
    /// 6982: the security status does not allow the command.
    public static let securityStatusNotSatisfied = StatusWord(rawValue: 0x6982)
    /// 6A82: no such file or application.
    public static let fileNotFound = StatusWord(rawValue: 0x6A82)
    /// 6B00: wrong P1 or P2, such as an offset after the end of the file.
    public static let wrongParameters = StatusWord(rawValue: 0x6B00)

    /// SW1.
    public var high: UInt8 { UInt8(rawValue >> 8) }
    /// SW2.
    public var low: UInt8 { UInt8(rawValue & 0xFF) }

    /// Whether the command was executed, with or without a warning (61xx, 62xx, 63xx, 9000).
    public var isSuccessOrWarning: Bool {
        self == .success || (0x61...0x63).contains(high)
    }

    /// Four upper-case hexadecimal digits.
    public var description: String { rawValue.hexText(digits: 4) }
}
