// SPDX-License-Identifier: Apache-2.0

/// An error code in a response (ISO/IEC 15693-3, 7.4.2).
public struct ISO15693ErrorCode: RawRepresentable, Error, Sendable, Hashable, CustomStringConvertible {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The code's meaning.
    public var description: String {
        switch rawValue {
        case 0x01: "the command is not supported"
        case 0x02: "the command is not recognised"
        case 0x03: "the option is not supported"
        case 0x0F: "an unknown error"
        case 0x10: "the block is not available"
        case 0x11: "the block is locked already"
        case 0x12: "the block is locked"
        case 0x13: "the block was not programmed"
        case 0x14: "the block was not locked"
        case 0x15: "the block is protected"
        default: "error code \(String(rawValue, radix: 16))"
        }
    }
}
