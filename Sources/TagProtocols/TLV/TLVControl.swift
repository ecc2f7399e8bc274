// SPDX-License-Identifier: Apache-2.0

/// A lock control or memory control TLV: octets that are not for data (NFC Forum T1T 1.2, 2.4; T2T 1.2, 4.3).
struct TLVControl: Equatable {
    /// The TLV's three octets of value.
    let value: [UInt8]
    /// Whether the octets are lock bits, rather than reserved for something else.
    let isLock: Bool

    /// Where the octets begin: the upper half of the first octet counts pages, the lower half octets.
    var address: Int {
        (Int(value[0] >> 4) << Int(value[2] & 0x0F)) + Int(value[0] & 0x0F)
    }

    /// The second octet: the number of lock bits, or of reserved octets; 0 stands for 256.
    var count: Int {
        value[1] == 0 ? 256 : Int(value[1])
    }

    /// The octets that no message uses.
    var range: Range<Int> {
        address..<address + (isLock ? (count + 7) / 8 : count)
    }

    /// How many octets of memory each lock bit locks.
    var octetsPerLockBit: Int {
        1 << Int(value[2] >> 4)
    }
}
