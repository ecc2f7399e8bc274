// SPDX-License-Identifier: Apache-2.0

/// A frame from a PN532 to its host.
enum ChipFrame: Sendable, Equatable {
    /// The chip has received the command.
    case acknowledge
    /// An answer: the command's code plus one, and its data.
    case answer(code: UInt8, data: [UInt8])
    /// The error frame: the command is unknown, or its parameters are wrong.
    case syntaxError
    /// An answer with this code whose end is damaged or missing.
    case damaged(code: UInt8)
}
