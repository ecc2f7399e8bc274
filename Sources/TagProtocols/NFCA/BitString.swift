// SPDX-License-Identifier: Apache-2.0

/// Bits in the order in which they arrive, packed from the least significant bit of the first octet on.
struct BitString: Equatable {
    /// The octets that hold the bits; unused bits of the last one are 0.
    private(set) var octets: [UInt8] = []
    /// How many bits there are.
    private(set) var count = 0

    /// Adds one bit.
    mutating func append(_ bit: Bool) {
        if count % 8 == 0 { octets.append(0) }
        if bit { octets[count / 8] |= 1 << (count % 8) }
        count += 1
    }

    /// Adds the first bits of octets that are packed in the same way.
    ///
    /// - Parameters:
    ///   - bits: the octets; they hold at least `count` bits.
    ///   - count: how many bits to take.
    mutating func append(_ bits: [UInt8], count: Int) {
        for index in 0..<count {
            append(bits[index / 8] >> (index % 8) & 1 != 0)
        }
    }
}
