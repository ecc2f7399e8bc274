// SPDX-License-Identifier: Apache-2.0

/// The error codes of ISO/IEC 15693-3, 7.4.2.
enum Type5Error: UInt8, Error {
    /// The command is not supported.
    case notSupported = 0x01
    /// The command is not recognised, for example because its length is wrong.
    case notRecognised = 0x02
    /// The option is not supported.
    case optionNotSupported = 0x03
    /// An error without further information.
    case unknown = 0x0F
    /// The block does not exist.
    case notAvailable = 0x10
    /// The block is already locked.
    case alreadyLocked = 0x11
    /// The block is locked, and its content can't be changed.
    case locked = 0x12
    /// The block was not programmed.
    case notProgrammed = 0x13
    /// The block was not locked.
    case notLocked = 0x14
    /// Reading the block is not allowed. Only ST's products use this code.
    case readProtected = 0x15
}
