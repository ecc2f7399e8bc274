// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The status byte at the start of most of the chip's answers (PN532 user manual, 7.1).
struct PN532Status: Sendable, Equatable {
    /// The byte: an error code in bits 5 to 0, and bit 6 when more of the answer follows.
    let byte: UInt8

    /// The error code; 0 for none.
    var code: UInt8 { byte & 0x3F }
    /// Whether the next exchange has more of the answer.
    var hasMore: Bool { byte & 0x40 != 0 }

    /// The initiator has deselected the chip in card mode, or its field is gone.
    static let released: UInt8 = 0x29

    /// The error for the code; nil for none.
    var error: LinkError? {
        switch code {
        case 0x00: nil
        case 0x01, 0x0A: LinkError(.timeout, "The tag does not answer.")
        case 0x02: LinkError(.transmission, "The checksum of the answer is wrong.")
        case 0x03: LinkError(.transmission, "The parity of the answer is wrong.")
        case 0x04: LinkError(.transmission, "The answer has a wrong number of bits.")
        case 0x05: LinkError(.transmission, "The framing of the answer is wrong.")
        case 0x06: LinkError(.collision, "More than one tag answered at once.")
        case 0x07, 0x09, 0x0E: LinkError(.frameTooLong, "The answer is longer than the PN532 can take.")
        case 0x0B, 0x13, 0x23: LinkError(.transmission, "The PN532 can't read the answer \(named).")
        case 0x0D: LinkError(.readerUnavailable, "The PN532 is too hot, and has turned its field off.")
        case 0x2D: LinkError(.readerUnavailable, "The PN532's antenna draws too much current.")
        case 0x27, 0x29, 0x2A, 0x2B: LinkError(.tagRemoved, "The PN532 has lost the tag \(named).")
        case 0x10, 0x12, 0x14, 0x25, 0x26: LinkError(.unsupported, "The PN532 refuses the command \(named).")
        default: LinkError(.transmission, "The PN532 gives an error \(named).")
        }
    }

    private var named: String { "(status \(code.hexText(digits: 2)))" }
}
