// SPDX-License-Identifier: Apache-2.0

/// The flags of a response (ISO/IEC 15693-3, 7.4.1).
public struct NFCISO15693ResponseFlag: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The tag reports an error; its code follows the flags.
    public static let error = NFCISO15693ResponseFlag(rawValue: 1 << 0)
    /// The tag's response buffer holds a result.
    public static let responseBufferValid = NFCISO15693ResponseFlag(rawValue: 1 << 1)
    /// This is the last response to the request.
    public static let finalResponse = NFCISO15693ResponseFlag(rawValue: 1 << 2)
    /// The response has an extended form.
    public static let protocolExtension = NFCISO15693ResponseFlag(rawValue: 1 << 3)
    /// Bit 5 of the security status of a block.
    public static let blockSecurityStatusBit5 = NFCISO15693ResponseFlag(rawValue: 1 << 4)
    /// Bit 6 of the security status of a block.
    public static let blockSecurityStatusBit6 = NFCISO15693ResponseFlag(rawValue: 1 << 5)
    /// The tag asks for more time.
    public static let waitTimeExtension = NFCISO15693ResponseFlag(rawValue: 1 << 6)
}
