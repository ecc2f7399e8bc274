// SPDX-License-Identifier: Apache-2.0

/// One transmission in one direction: whole bytes, or a few bits where the technology has short frames.
///
/// The checksum is not part of `bytes`. With `checksum` the sender chooses whether the link appends it when sending,
/// and checks and removes it when receiving. Parity bits are always handled by the link.
public struct Frame: Sendable, Hashable {
    /// Whether and how the link handles the checksum.
    public enum Checksum: Sendable, Hashable {
        /// The link appends the technology's own checksum (CRC_A, CRC_B, or the CRC of FeliCa or ISO/IEC 15693). It
        /// checks and removes the checksum of the answer.
        case automatic
        /// CRC_B over NFC-A, which Type 1 tags use (NFC Forum Digital 2.3, 9.4).
        case crcB
        /// The bits are sent unchanged and the answer is not checked: for short frames, anticollision, ACK and NAK.
        case none
    }

    /// The bytes, least significant bit first on the air for NFC-A and NFC-V.
    ///
    /// Bits are packed in the order of arrival. So the answer to an NFC-A anticollision frame whose last byte was
    /// incomplete starts in the least significant bit of the first byte here.
    public var bytes: [UInt8]

    /// The number of bits of the last byte that are sent, from the least significant one: 1 to 8.
    public var validBitsInLastByte: Int

    /// Whether and how the link handles the checksum.
    public var checksum: Checksum

    /// Creates a frame of whole bytes.
    ///
    /// - Parameters:
    ///   - bytes: the bytes, without their checksum.
    ///   - checksum: whether and how the link handles the checksum.
    @inlinable
    public init(_ bytes: [UInt8], checksum: Checksum = .automatic) {
        self.bytes = bytes
        self.validBitsInLastByte = 8
        self.checksum = checksum
    }

    /// Creates a frame whose last byte is incomplete, such as REQA (7 bits) or a 4-bit NAK. It has no checksum.
    ///
    /// - Parameters:
    ///   - bits: the bytes that contain the bits.
    ///   - validBitsInLastByte: the number of bits of the last byte that are sent, 1 to 8.
    @inlinable
    public init(bits: [UInt8], validBitsInLastByte: Int) {
        precondition((1...8).contains(validBitsInLastByte), "a last byte has 1 to 8 bits")
        self.bytes = bits
        self.validBitsInLastByte = validBitsInLastByte
        self.checksum = .none
    }

    /// The number of bits on the air, without parity and checksum.
    @inlinable
    public var bitCount: Int {
        bytes.isEmpty ? 0 : (bytes.count - 1) * 8 + validBitsInLastByte
    }

    /// The number of bytes on the air with the checksum. An incomplete last byte counts as one.
    @inlinable
    public var byteCountOnAir: Int {
        bytes.count + (checksum == .none ? 0 : 2)
    }

    /// The value of a 4-bit answer, such as ACK (`0xA`) or a NAK; nil for any other frame.
    @inlinable
    public var nibble: UInt8? {
        bytes.count == 1 && validBitsInLastByte == 4 ? bytes[0] & 0x0F : nil
    }
}

extension Technology {
    /// Returns the technology's checksum of the bytes, in the order in which it is sent.
    package func checksum(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .nfcA: CyclicRedundancyCheck.a(bytes).littleEndianBytes
        case .nfcB, .nfcV: CyclicRedundancyCheck.b(bytes).littleEndianBytes
        case .nfcF: CyclicRedundancyCheck.f(bytes).bigEndianBytes
        }
    }
}
