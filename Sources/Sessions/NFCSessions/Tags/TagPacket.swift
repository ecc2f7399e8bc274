// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A packet that an app sends to a tag directly.
///
/// - NFC-A: the bytes of the command without checksum. An answer of four bits is one byte. For a card with ISO-DEP, the
///   packet is sent in ISO-DEP blocks.
/// - NFC-B: the content of ISO-DEP blocks.
/// - NFC-F: the packet from the command code on, without its length byte; the answer likewise.
/// - NFC-V: the request from the flags on, without checksum; the answer likewise.
public struct TagPacket: Sendable, Hashable {
    /// Whether and when the tag answers.
    public enum Answer: Sendable, Hashable {
        /// It does not answer. The packet only has to be sent.
        case none
        /// Within this time, in addition to the technology's minimum delay.
        case within(Airtime)
    }

    /// The bytes.
    public var bytes: [UInt8]
    /// Whether and when the tag answers. ISO-DEP has its own times.
    public var answer: Answer

    /// Creates a packet.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - answer: whether and when the tag answers.
    public init(_ bytes: [UInt8], answer: Answer) {
        self.bytes = bytes
        self.answer = answer
    }
}
