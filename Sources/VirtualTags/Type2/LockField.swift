// SPDX-License-Identifier: Apache-2.0

/// Lock bits of a tag, where they are, what each locks and what freezes it.
struct LockField: Sendable {
    /// One bit that makes pages read-only.
    struct Lock: Sendable {
        /// The bit's number, from the least significant bit of the field's first octet.
        var bit: Int
        /// The pages that it locks, the second sector's from 256.
        var pages: ClosedRange<Int>
        /// The block-lock bit that freezes it.
        var frozenBy: Int
    }

    /// The page that holds the bits.
    var page: Int
    /// The octet in the page where they begin.
    var offset: Int
    /// How many octets they take.
    var octets: Int
    var locks: [Lock]
    /// What the page's last octet reads as, or nil when it is an ordinary one.
    var lastOctet: UInt8?

    /// Bits that exist.
    private var known: UInt32 {
        locks.reduce(0) { $0 | 1 << UInt32($1.bit) | 1 << UInt32($1.frozenBy) }
    }

    /// The bits as they are in a memory.
    func bits(in memory: [UInt8]) -> UInt32 {
        let start = page * 4 + offset
        guard start + octets <= memory.count else { return 0 }
        return (0..<octets).reduce(0) { $0 | UInt32(memory[start + $1]) << UInt32(8 * $1) }
    }

    /// The bits after a write: bits can only be set, and not those that are frozen.
    func bits(_ old: UInt32, afterWriting new: UInt32) -> UInt32 {
        let frozen = locks.reduce(UInt32(0)) {
            old >> UInt32($1.frozenBy) & 1 == 1 ? $0 | 1 << UInt32($1.bit) : $0
        }
        return old | (new & known & ~frozen)
    }

    /// Whether bits lock a page.
    func locks(_ page: Int, bits: UInt32) -> Bool {
        bits != 0 && locks.contains { bits >> UInt32($0.bit) & 1 == 1 && $0.pages.contains(page) }
    }
}

extension LockField {
    /// The static lock octets of page 2, which all Type 2 tags have (NFC Forum T2T 1.2, 4.2): from the low bit BLCC,
    /// BL4-9, BL10-15, LCC, L4..L15.
    static let statically = LockField(
        page: 2,
        offset: 2,
        octets: 2,
        locks: (3...15).map { Lock(bit: $0, pages: $0...$0, frozenBy: $0 == 3 ? 0 : $0 < 10 ? 1 : 2) }
    )

    /// The dynamic lock octets of NTAG21x and Ultralight EV1: two octets of lock bits, then one of block-lock bits, each
    /// of which freezes two (NTAG213/215/216 data sheet, 8.5.3).
    ///
    /// - Parameters:
    ///   - page: the page that holds them, right after the data pages.
    ///   - pagesPerBit: how many pages a bit locks.
    ///   - lastPage: the last page that is locked.
    ///   - lastOctet: what the page's last octet reads as.
    static func ntag(page: Int, pagesPerBit: Int, lastPage: Int, lastOctet: UInt8) -> LockField {
        let starts = stride(from: 16, through: lastPage, by: pagesPerBit)
        return LockField(
            page: page,
            offset: 0,
            octets: 3,
            locks: starts.enumerated().map { index, start in
                Lock(bit: index, pages: start...min(start + pagesPerBit - 1, lastPage), frozenBy: 16 + index / 2)
            },
            lastOctet: lastOctet
        )
    }

    /// The lock octets of page 40 of Ultralight C and NTAG203: four pages a bit with two block-lock bits among them, then
    /// bits for the pages behind (MF0ICU2 data sheet, 7.5.3).
    ///
    /// - Parameter tail: the pages that bits 4 and on of the second octet lock, each frozen by the bit four below.
    static func ultralightC(tail: [ClosedRange<Int>]) -> LockField {
        let data: [Lock] = (0..<6).map { index in
            let start = 16 + index * 4
            return Lock(bit: index < 3 ? 1 + index : 2 + index, pages: start...(start + 3), frozenBy: index < 3 ? 0 : 4)
        }
        let behind = tail.enumerated().map { Lock(bit: 12 + $0, pages: $1, frozenBy: 8 + $0) }
        return LockField(page: 40, offset: 0, octets: 2, locks: data + behind)
    }
}
