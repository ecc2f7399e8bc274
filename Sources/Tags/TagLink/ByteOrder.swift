// SPDX-License-Identifier: Apache-2.0

// Numbers in frames and memory. ISO 7816 and NDEF are most significant byte first; FeliCa and ISO 15693 are least
// significant byte first.

extension UInt16 {
    /// Creates a number from two bytes.
    @inlinable package init(high: UInt8, low: UInt8) { self = UInt16(high) << 8 | UInt16(low) }

    /// The two bytes, most significant byte first.
    @inlinable package var bigEndianBytes: [UInt8] { [UInt8(self >> 8), UInt8(self & 0xFF)] }

    /// The two bytes, least significant byte first.
    @inlinable package var littleEndianBytes: [UInt8] { [UInt8(self & 0xFF), UInt8(self >> 8)] }
}

extension Int {
    /// Creates a number from two bytes.
    @inlinable package init(high: UInt8, low: UInt8) { self = Int(high) << 8 | Int(low) }
}

extension FixedWidthInteger {
    /// Creates a number from bytes, most significant byte first.
    ///
    /// When there are more bytes than the number holds, only the last ones are used.
    @inlinable package init(bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

extension [UInt8] {
    /// Creates the lowest `count` bytes of a number, most significant byte first.
    @inlinable package init(bigEndian value: Int, count: Int) {
        self = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    /// Creates the lowest `count` bytes of a number, least significant byte first.
    @inlinable package init(littleEndian value: Int, count: Int) {
        self = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Returns the number in `count` bytes, least significant byte first. The range must lie inside the array.
    @inlinable package func littleEndian(at offset: Int, count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
    }

    /// Returns whether a bit is set, counted from the lowest bit of the first byte. The bit must lie inside the array.
    @inlinable package func hasBit(_ index: Int) -> Bool { self[index / 8] >> (index % 8) & 1 == 1 }
}
