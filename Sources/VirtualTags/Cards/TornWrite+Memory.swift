// SPDX-License-Identifier: Apache-2.0

extension TornWrite {
    /// What a memory holds when the power went while octets were being programmed, one unit after the other.
    ///
    /// - Parameters:
    ///   - old: the octets from before.
    ///   - new: the octets that were to be written; as many.
    ///   - unit: how many octets are programmed at a time.
    ///   - isProtected: whether the memory makes sure that a unit is never a mixture.
    /// - Returns: units of `new`, one unit with bits of both, and units of `old`.
    func remains(of old: [UInt8], under new: [UInt8], unit: Int, isProtected: Bool = false) -> [UInt8] {
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

extension [UInt8] {
    /// Programs octets at an offset, or as much of them as a power cut lets.
    ///
    /// The range must lie inside.
    mutating func program(
        _ octets: [UInt8],
        at offset: Int,
        tear: TornWrite?,
        unit: Int,
        isProtected: Bool = false
    ) {
        let range = offset..<(offset + octets.count)
        var octets = octets
        if let tear {
            octets = tear.remains(of: Array(self[range]), under: octets, unit: unit, isProtected: isProtected)
        }
        replaceSubrange(range, with: octets)
    }
}
