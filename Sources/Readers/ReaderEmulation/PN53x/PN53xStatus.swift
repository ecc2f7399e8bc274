// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The status byte of a PN53x chip's answers (PN532 user manual, 7.1).
enum PN53xStatus: UInt8 {
    case success = 0x00
    /// No answer in time.
    case timeout = 0x01
    /// The answer's checksum is wrong.
    case crc = 0x02
    case bitCount = 0x04
    case framing = 0x05
    case collision = 0x06
    /// The answer is longer than the chip's buffer.
    case bufferOverflow = 0x07
    /// The other side's field did not appear in time.
    case fieldLost = 0x0A
    case rfProtocol = 0x0B
    /// The answer does not have the form that the command requires, such as a 4-bit NAK.
    case dataFormat = 0x13
    /// MIFARE Classic authentication failed.
    case authentication = 0x14
    /// The command does not fit the current state, such as an exchange without a target.
    case context = 0x27
    /// The target is gone.
    case released = 0x29

    /// The status for a failed exchange.
    init(_ error: LinkError) {
        self =
            switch error.code {
            case .timeout, .tagRemoved: .timeout
            case .transmission: .crc
            case .collision: .collision
            case .frameTooLong: .bufferOverflow
            case .protocolViolation: .rfProtocol
            default: .context
            }
    }
}
