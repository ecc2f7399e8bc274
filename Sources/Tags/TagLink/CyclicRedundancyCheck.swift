// SPDX-License-Identifier: Apache-2.0

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
