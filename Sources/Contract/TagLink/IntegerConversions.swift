// SPDX-License-Identifier: Apache-2.0

// Conversions and shifts for concrete integer types. They give the same results as the generic ones of the standard
// library. The compiler specializes the generic ones at each use, which takes 3 to 8 ms without optimization. With a
// thousand uses, that was a fifth of the build time of a target that works on bytes. A file gets these when it imports
// this module.

extension Int {
    @inlinable package init(_ source: UInt8) { self = numericCast(source) }
    @inlinable package init(_ source: UInt16) { self = numericCast(source) }
    @inlinable package init(_ source: UInt32) { self = numericCast(source) }

    @inlinable package static func << (value: Int, count: Int) -> Int {
        0..<bitWidth ~= count ? value &<< count : value.shifted(left: count)
    }

    @inlinable package static func >> (value: Int, count: Int) -> Int {
        0..<bitWidth ~= count ? value &>> count : value.shifted(right: count)
    }
}

extension UInt8 {
    @inlinable package init(_ source: Int) { self = numericCast(source) }
    @inlinable package init(_ source: UInt16) { self = numericCast(source) }
    @inlinable package init(_ source: UInt32) { self = numericCast(source) }

    @inlinable package static func << (value: UInt8, count: Int) -> UInt8 {
        0..<bitWidth ~= count ? value &<< UInt8(truncatingIfNeeded: count) : value.shifted(left: count)
    }

    @inlinable package static func >> (value: UInt8, count: Int) -> UInt8 {
        0..<bitWidth ~= count ? value &>> UInt8(truncatingIfNeeded: count) : value.shifted(right: count)
    }
}

extension UInt16 {
    @inlinable package init(_ source: Int) { self = numericCast(source) }
    @inlinable package init(_ source: UInt8) { self = numericCast(source) }

    @inlinable package static func << (value: UInt16, count: Int) -> UInt16 {
        0..<bitWidth ~= count ? value &<< UInt16(truncatingIfNeeded: count) : value.shifted(left: count)
    }

    @inlinable package static func >> (value: UInt16, count: Int) -> UInt16 {
        0..<bitWidth ~= count ? value &>> UInt16(truncatingIfNeeded: count) : value.shifted(right: count)
    }
}

extension UInt32 {
    @inlinable package init(_ source: Int) { self = numericCast(source) }
    @inlinable package init(_ source: UInt8) { self = numericCast(source) }
    @inlinable package init(_ source: UInt16) { self = numericCast(source) }

    @inlinable package static func << (value: UInt32, count: Int) -> UInt32 {
        0..<bitWidth ~= count ? value &<< UInt32(truncatingIfNeeded: count) : value.shifted(left: count)
    }

    @inlinable package static func >> (value: UInt32, count: Int) -> UInt32 {
        0..<bitWidth ~= count ? value &>> UInt32(truncatingIfNeeded: count) : value.shifted(right: count)
    }
}

extension UInt64 {
    @inlinable package init(_ source: UInt8) { self = numericCast(source) }

    @inlinable package static func << (value: UInt64, count: Int) -> UInt64 {
        0..<bitWidth ~= count ? value &<< UInt64(truncatingIfNeeded: count) : value.shifted(left: count)
    }

    @inlinable package static func >> (value: UInt64, count: Int) -> UInt64 {
        0..<bitWidth ~= count ? value &>> UInt64(truncatingIfNeeded: count) : value.shifted(right: count)
    }
}

extension FixedWidthInteger {
    /// Shifts left. A count of the width or more gives 0. A negative count shifts right.
    @inlinable package func shifted(left count: Int) -> Self { self << count }

    /// Shifts right. A count of the width or more gives 0, or -1 for a negative number. A negative count shifts left.
    @inlinable package func shifted(right count: Int) -> Self { self >> count }
}
