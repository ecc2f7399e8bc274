// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A packet that an app sends to a tag by itself.
///
/// - NFC-A: the command's octets without checksum; an answer of four bits is one octet. For a card with ISO-DEP they are
///   carried in blocks of it.
/// - NFC-B: what is carried in blocks of ISO-DEP.
/// - NFC-F: the packet from the command code on, without its length; answers alike.
/// - NFC-V: the request from the flags on, without checksum; answers alike.
public struct TagPacket: Sendable, Hashable {
    /// How the tag answers.
    public enum Answer: Sendable, Hashable {
        /// Not at all: it is enough that the packet was sent.
        case none
        /// In this time at the most, beyond the technology's minimum delay.
        case within(Airtime)
    }

    /// The octets.
    public var octets: [UInt8]
    /// How the tag answers. ISO-DEP has times of its own.
    public var answer: Answer

    /// Creates a packet.
    ///
    /// - Parameters:
    ///   - octets: the octets.
    ///   - answer: how the tag answers.
    public init(_ octets: [UInt8], answer: Answer) {
        self.octets = octets
        self.answer = answer
    }
}
