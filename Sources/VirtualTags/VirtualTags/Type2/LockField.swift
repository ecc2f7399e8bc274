// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProducts

extension LockField {
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
