// SPDX-License-Identifier: Apache-2.0

/// A lock control or memory control TLV: it marks bytes that can't hold data (NFC Forum T1T 1.2, 2.4; T2T 1.2, 4.3).
struct TLVControl: Equatable {
    /// The three bytes of the TLV's value.
    let value: [UInt8]
    /// Whether the bytes are lock bits. Otherwise they are reserved for another use.
    let isLock: Bool

    /// The start of the bytes. The high half of the first byte counts pages, the low half bytes.
    var address: Int {
        (Int(value[0] >> 4) << Int(value[2] & 0x0F)) + Int(value[0] & 0x0F)
    }

    /// The second byte: the number of lock bits or of reserved bytes. 0 means 256.
    var count: Int {
        value[1] == 0 ? 256 : Int(value[1])
    }

    /// The range of bytes that a message can't use.
    var range: Range<Int> {
        address..<address + (isLock ? (count + 7) / 8 : count)
    }

    /// The number of memory bytes that one lock bit locks.
    var bytesPerLockBit: Int {
        1 << Int(value[2] >> 4)
    }
}
