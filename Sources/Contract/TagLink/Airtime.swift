// SPDX-License-Identifier: Apache-2.0

/// A span of time on the air, counted exactly in periods of the 13.56 MHz carrier.
///
/// Every timing of the NFC standards is a whole number of carrier periods, so sums of airtime are exact and the same
/// on every machine.
public struct Airtime: Sendable, Hashable, Comparable, AdditiveArithmetic {
    /// The number of carrier periods, each 1/13.56 MHz (73.75 ns).
    public var carrierPeriods: Int64

    /// Creates a span from carrier periods.
    @inlinable
    public init(carrierPeriods: Int64) {
        self.carrierPeriods = carrierPeriods
    }

    /// A span of whole microseconds, rounded up to a carrier period.
    @inlinable
    public static func microseconds(_ count: Int64) -> Airtime {
        Airtime(carrierPeriods: (count * 1356 + 99) / 100)
    }

    /// A span of whole milliseconds.
    @inlinable
    public static func milliseconds(_ count: Int64) -> Airtime {
        Airtime(carrierPeriods: count * 13560)
    }

    /// No time at all.
    public static let zero = Airtime(carrierPeriods: 0)

    /// The span in microseconds, rounded to the nearest.
    @inlinable
    public var microseconds: Int64 {
        (carrierPeriods * 100 + 678) / 1356
    }

    /// The same span as a `Duration`, rounded to the nearest nanosecond.
    @inlinable
    public var duration: Duration {
        .nanoseconds((carrierPeriods * 100_000 + 678) / 1356)
    }

    @inlinable
    public static func + (lhs: Airtime, rhs: Airtime) -> Airtime {
        Airtime(carrierPeriods: lhs.carrierPeriods + rhs.carrierPeriods)
    }

    @inlinable
    public static func - (lhs: Airtime, rhs: Airtime) -> Airtime {
        Airtime(carrierPeriods: lhs.carrierPeriods - rhs.carrierPeriods)
    }

    /// A span as many times as long.
    @inlinable
    public static func * (lhs: Airtime, rhs: Int) -> Airtime {
        Airtime(carrierPeriods: lhs.carrierPeriods * Int64(rhs))
    }

    @inlinable
    public static func < (lhs: Airtime, rhs: Airtime) -> Bool {
        lhs.carrierPeriods < rhs.carrierPeriods
    }
}
