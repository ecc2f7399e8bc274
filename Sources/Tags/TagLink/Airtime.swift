// SPDX-License-Identifier: Apache-2.0

/// A duration on the air, counted in periods of the 13.56 MHz carrier.
///
/// Every timing in the NFC standards is a whole number of carrier periods. So sums of airtime are exact, and equal on
/// every machine.
public struct Airtime: Sendable, Hashable, Comparable, AdditiveArithmetic {
    /// The number of carrier periods, each 1/13.56 MHz (73.75 ns).
    public var carrierPeriods: Int64

    /// Creates a duration from carrier periods.
    @inlinable
    public init(carrierPeriods: Int64) {
        self.carrierPeriods = carrierPeriods
    }

    /// Creates a duration of whole microseconds, rounded up to the next carrier period.
    @inlinable
    public static func microseconds(_ count: Int64) -> Airtime {
        Airtime(carrierPeriods: (count * 1356 + 99) / 100)
    }

    /// Creates a duration of whole milliseconds.
    @inlinable
    public static func milliseconds(_ count: Int64) -> Airtime {
        Airtime(carrierPeriods: count * 13560)
    }

    /// No time.
    public static let zero = Airtime(carrierPeriods: 0)

    /// The duration in microseconds, rounded to the nearest.
    @inlinable
    public var microseconds: Int64 {
        (carrierPeriods * 100 + 678) / 1356
    }

    /// The duration as a `Duration`, rounded to the nearest nanosecond.
    @inlinable
    public var duration: Duration {
        // Whole seconds first: nanoseconds alone would overflow after some weeks.
        let (seconds, rest) = carrierPeriods.quotientAndRemainder(dividingBy: 13_560_000)
        return Duration.seconds(seconds) + Duration.nanoseconds((rest * 100_000 + 678) / 1356)
    }

    @inlinable
    public static func + (lhs: Airtime, rhs: Airtime) -> Airtime {
        Airtime(carrierPeriods: lhs.carrierPeriods + rhs.carrierPeriods)
    }

    @inlinable
    public static func - (lhs: Airtime, rhs: Airtime) -> Airtime {
        Airtime(carrierPeriods: lhs.carrierPeriods - rhs.carrierPeriods)
    }

    /// Multiplies a duration.
    @inlinable
    public static func * (lhs: Airtime, rhs: Int) -> Airtime {
        Airtime(carrierPeriods: lhs.carrierPeriods * Int64(rhs))
    }

    @inlinable
    public static func < (lhs: Airtime, rhs: Airtime) -> Bool {
        lhs.carrierPeriods < rhs.carrierPeriods
    }
}
