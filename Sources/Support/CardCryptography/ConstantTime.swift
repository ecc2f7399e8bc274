// SPDX-License-Identifier: Apache-2.0

/// Comparisons that take the same time wherever the difference is, so that nobody learns a code byte by byte.
public enum ConstantTime {
    /// Whether two codes are the same. Their lengths are no secret.
    @inline(never)
    public static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for (first, second) in zip(left, right) { difference |= first ^ second }
        return difference == 0
    }
}
