// SPDX-License-Identifier: Apache-2.0

// Numbers in frames and memory: most significant octet first in ISO 7816 and NDEF, least significant first in FeliCa and ISO 15693.

extension UInt16 {
    /// Creates the number of two octets.
    @inlinable package init(high: UInt8, low: UInt8) { self = UInt16(high) << 8 | UInt16(low) }

    /// The two octets, the most significant first.
    @inlinable package var bigEndianOctets: [UInt8] { [UInt8(self >> 8), UInt8(self & 0xFF)] }

    /// The two octets, the least significant first.
    @inlinable package var littleEndianOctets: [UInt8] { [UInt8(self & 0xFF), UInt8(self >> 8)] }
}

extension Int {
    /// Creates the number of two octets.
    @inlinable package init(high: UInt8, low: UInt8) { self = Int(high) << 8 | Int(low) }
}

extension FixedWidthInteger {
    /// Creates the number of octets of which the most significant comes first.
    ///
    /// Of more octets than the number has, the last ones count.
    @inlinable package init(octets: some Sequence<UInt8>) {
        self = octets.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

extension [UInt8] {
    /// Creates the lowest octets of a number, the most significant first.
    @inlinable package init(bigEndian value: Int, count: Int) {
        self = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    /// Creates the lowest octets of a number, the least significant first.
    @inlinable package init(littleEndian value: Int, count: Int) {
        self = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// A number of as many octets as `count` says, the least significant first. The range must lie inside.
    @inlinable package func littleEndian(at offset: Int, count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
    }

    /// Whether a bit is set, counted from the lowest bit of the first octet. It must lie inside.
    @inlinable package func hasBit(_ index: Int) -> Bool { self[index / 8] >> (index % 8) & 1 == 1 }
}
