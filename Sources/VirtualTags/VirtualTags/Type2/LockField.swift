// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The lock bits of a tag: where they are, which pages each one locks, and which bit freezes it.
package struct LockField: Sendable {
    /// One bit that makes pages read-only.
    struct Lock: Sendable {
        /// The bit's number, counted from the least significant bit of the field's first byte.
        var bit: Int
        /// The pages that it locks. Pages of the second sector count from 256.
        var pages: ClosedRange<Int>
        /// The block-lock bit that freezes it.
        var frozenBy: Int
    }

    /// The page with the bits.
    package var page: Int
    /// The index of their first byte in the page.
    var offset: Int
    /// The number of bytes.
    var bytes: Int
    var locks: [Lock]
    /// The value that is read for the page's last byte; nil if it is an ordinary byte.
    var lastByte: UInt8?

    /// The existing bits.
    private var known: UInt32 {
        locks.reduce(0) { $0 | 1 << $1.bit | 1 << $1.frozenBy }
    }

    /// Returns the bits in the memory of a whole tag.
    func bits(in memory: [UInt8]) -> UInt32 {
        let start = page * 4 + offset
        return UInt32(bytes: memory[start..<(start + bytes)].reversed())
    }

    /// Returns the bits after a write. Bits can only be set, and frozen ones don't change.
    func bits(_ old: UInt32, afterWriting new: UInt32) -> UInt32 {
        let frozen = locks.reduce(UInt32(0)) {
            old >> $1.frozenBy & 1 == 1 ? $0 | 1 << $1.bit : $0
        }
        return old | (new & known & ~frozen)
    }

    /// Returns whether the bits lock a page.
    func locks(_ page: Int, bits: UInt32) -> Bool {
        bits != 0 && locks.contains { bits >> $0.bit & 1 == 1 && $0.pages.contains(page) }
    }
}

extension LockField {
    /// The static lock bytes of page 2, on all Type 2 tags (NFC Forum T2T 1.2, 4.2). From the least significant bit:
    /// BLCC, BL4-9, BL10-15, LCC, L4..L15.
    static let statically = LockField(
        page: 2,
        offset: 2,
        bytes: 2,
        locks: (3...15).map { Lock(bit: $0, pages: $0...$0, frozenBy: $0 == 3 ? 0 : $0 < 10 ? 1 : 2) }
    )

    /// The dynamic lock bytes of NTAG21x and Ultralight EV1: two bytes of lock bits, then one of block-lock bits. Each
    /// of those freezes two lock bits (NTAG213/215/216 data sheet, 8.5.3).
    ///
    /// - Parameters:
    ///   - page: the page of the lock bytes, right after the data pages.
    ///   - pagesPerBit: the number of pages per lock bit.
    ///   - lastPage: the last page that can be locked.
    ///   - lastByte: the value that is read for the page's last byte.
    static func ntag(page: Int, pagesPerBit: Int, lastPage: Int, lastByte: UInt8) -> LockField {
        let starts = stride(from: 16, through: lastPage, by: pagesPerBit)
        return LockField(
            page: page,
            offset: 0,
            bytes: 3,
            locks: starts.enumerated().map { index, start in
                Lock(bit: index, pages: start...min(start + pagesPerBit - 1, lastPage), frozenBy: 16 + index / 2)
            },
            lastByte: lastByte
        )
    }

    /// The lock bytes of page 40 of Ultralight C and NTAG203: one bit for four pages, with two block-lock bits among
    /// them; then bits for the pages after the data (MF0ICU2 data sheet, 7.5.3).
    ///
    /// - Parameter tail: the pages that the bits from 4 on in the second byte lock. Each is frozen by the bit four
    ///   below.
    static func ultralightC(tail: [ClosedRange<Int>]) -> LockField {
        let data: [Lock] = (0..<6).map { index in
            let start = 16 + index * 4
            return Lock(bit: index < 3 ? 1 + index : 2 + index, pages: start...(start + 3), frozenBy: index < 3 ? 0 : 4)
        }
        let behind = tail.enumerated().map { Lock(bit: 12 + $0, pages: $1, frozenBy: 8 + $0) }
        return LockField(page: 40, offset: 0, bytes: 2, locks: data + behind)
    }
}
