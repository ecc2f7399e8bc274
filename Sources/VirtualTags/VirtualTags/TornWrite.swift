// SPDX-License-Identifier: Apache-2.0

/// What remains of a unit of memory, such as a page, that was being programmed during a power cut.
public enum TornWrite: Sendable, Hashable {
    /// The bytes from before the write.
    case old
    /// The new bytes.
    case new
    /// Bits of both, chosen by the seed. If the tag protects the unit against tearing, it is either the old or the new
    /// one.
    case mixed(seed: UInt64)
}

extension TornWrite {
    /// Returns the memory after a power cut while bytes were being programmed, one unit after the other.
    ///
    /// - Parameters:
    ///   - old: the bytes from before.
    ///   - new: the new bytes, the same number.
    ///   - unit: the number of bytes that are programmed at a time.
    ///   - isProtected: whether the memory makes sure that a unit is never a mixture.
    /// - Returns: units of `new`, one unit with bits of both, and units of `old`.
    package func remains(of old: [UInt8], under new: [UInt8], unit: Int, isProtected: Bool = false) -> [UInt8] {
        switch self {
        case .old: return old
        case .new: return new
        case .mixed(let seed):
            var random = SplitMix64(seed: seed)
            let units = max(1, (new.count + unit - 1) / unit)
            let torn = Int(random.next() % UInt64(units))
            var result = Array(new.prefix(torn * unit)) + old.dropFirst(torn * unit)
            if isProtected {
                return random.next() & 1 == 0
                    ? result : Array(new.prefix((torn + 1) * unit)) + old.dropFirst((torn + 1) * unit)
            }
            for index in (torn * unit)..<min(new.count, (torn + 1) * unit) {
                let mask = UInt8(truncatingIfNeeded: random.next())
                result[index] = (old[index] & ~mask) | (new[index] & mask)
            }
            return result
        }
    }
}
