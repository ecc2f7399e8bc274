// SPDX-License-Identifier: Apache-2.0

/// Comparisons whose time does not depend on the data, so that an attacker can't find a secret byte by byte.
public enum ConstantTime {
    /// Returns whether two codes are equal. The time still depends on their lengths.
    @inline(never)
    public static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for (first, second) in zip(left, right) { difference |= first ^ second }
        return difference == 0
    }
}
