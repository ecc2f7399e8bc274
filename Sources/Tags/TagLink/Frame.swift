// SPDX-License-Identifier: Apache-2.0

/// One transmission in one direction. It has whole bytes, or a few bits in technologies with short frames.
///
/// `bytes` does not contain the checksum. With `checksum`, the sender chooses whether the link appends a checksum when
/// sending, and checks and removes it when receiving. The link always handles parity bits.
public struct Frame: Sendable, Hashable {
    /// Whether and how the link handles the checksum.
    public enum Checksum: Sendable, Hashable {
        /// The link appends the technology's own checksum (CRC_A, CRC_B, or the CRC of FeliCa or ISO/IEC 15693). It
        /// checks and removes the checksum of the answer.
        case automatic
        /// CRC_B over NFC-A, which Type 1 tags use (NFC Forum Digital 2.3, 9.4).
        case crcB
        /// The link adds and checks nothing: for short frames, anticollision, ACK and NAK.
        case none
    }

    /// The bytes, least significant bit first on the air for NFC-A and NFC-V.
    ///
    /// Bits are packed in the order of arrival. If the last byte of an NFC-A anticollision frame was incomplete, the
    /// answer still starts in the least significant bit of its first byte here.
    public var bytes: [UInt8]

    /// How many bits of the last byte are sent, starting at the least significant bit: 1 to 8.
    public var validBitsInLastByte: Int

    /// Whether and how the link handles the checksum.
    public var checksum: Checksum

    /// Creates a frame of whole bytes, without their checksum.
    @inlinable
    public init(_ bytes: [UInt8], checksum: Checksum = .automatic) {
        self.bytes = bytes
        self.validBitsInLastByte = 8
        self.checksum = checksum
    }

    /// Creates a frame whose last byte is incomplete, such as REQA (7 bits) or a 4-bit NAK. It has no checksum.
    @inlinable
    public init(bits: [UInt8], validBitsInLastByte: Int) {
        precondition((1...8).contains(validBitsInLastByte), "the last byte must have 1 to 8 valid bits")
        self.bytes = bits
        self.validBitsInLastByte = validBitsInLastByte
        self.checksum = .none
    }

    /// ACK, the four bits with which NFC-A tags confirm a command.
    package static let acknowledge = Frame(bits: [0xA], validBitsInLastByte: 4)

    /// The number of bits on the air, without parity and checksum.
    @inlinable
    public var bitCount: Int {
        bytes.isEmpty ? 0 : (bytes.count - 1) * 8 + validBitsInLastByte
    }

    /// The number of bytes on the air with the checksum. An incomplete last byte counts as a whole byte.
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
    /// Returns the technology's checksum of the bytes, in the order of sending.
    package func checksum(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .nfcA: CyclicRedundancyCheck.a(bytes).littleEndianBytes
        case .nfcB, .nfcV: CyclicRedundancyCheck.b(bytes).littleEndianBytes
        case .nfcF: CyclicRedundancyCheck.f(bytes).bigEndianBytes
        }
    }
}

/// One of the four ways in which NFC Forum tags modulate the field (NFC Forum Digital 2.3, 1.6).
public enum Technology: UInt8, Sendable, Hashable, CaseIterable {
    /// ISO/IEC 14443 Type A at 106 kbit/s: Type 1, Type 2 and Type 4A tags, MIFARE.
    case nfcA
    /// ISO/IEC 14443 Type B at 106 kbit/s: Type 4B tags.
    case nfcB
    /// JIS X 6319-4 (FeliCa) at 212 kbit/s: Type 3 tags.
    case nfcF
    /// ISO/IEC 15693, 1 out of 4, one sub-carrier, high data rate: Type 5 tags.
    case nfcV

    /// The name in traces and in JSON, such as `nfc-a`.
    public var name: String {
        switch self {
        case .nfcA: "nfc-a"
        case .nfcB: "nfc-b"
        case .nfcF: "nfc-f"
        case .nfcV: "nfc-v"
        }
    }
}

/// The cyclic redundancy checks of the contactless standards.
public enum CyclicRedundancyCheck {
    /// CRC_A of ISO/IEC 14443-3, annex B: initial value 6363, sent low byte first.
    @inlinable
    public static func a(_ bytes: some Sequence<UInt8>) -> UInt16 {
        reflected(bytes, initial: 0x6363)
    }

    /// CRC_B of ISO/IEC 14443-3, annex B: initial value FFFF, inverted, sent low byte first. ISO/IEC 15693 and Type 1
    /// tags use it too.
    @inlinable
    public static func b(_ bytes: some Sequence<UInt8>) -> UInt16 {
        ~reflected(bytes, initial: 0xFFFF)
    }

    /// The CRC of FeliCa (JIS X 6319-4): polynomial 1021, initial value 0, sent high byte first.
    @inlinable
    public static func f(_ bytes: some Sequence<UInt8>) -> UInt16 {
        var crc: UInt16 = 0
        for byte in bytes {
            crc ^= UInt16(byte) << 8
            for _ in 0..<8 {
                crc = crc & 0x8000 != 0 ? (crc << 1) ^ 0x1021 : crc << 1
            }
        }
        return crc
    }

    @inlinable
    static func reflected(_ bytes: some Sequence<UInt8>, initial: UInt16) -> UInt16 {
        var crc = initial
        for byte in bytes {
            var mixed = byte ^ UInt8(truncatingIfNeeded: crc)
            mixed ^= mixed << 4
            crc = (crc >> 8) ^ (UInt16(mixed) << 8) ^ (UInt16(mixed) << 3) ^ (UInt16(mixed) >> 4)
        }
        return crc
    }
}
