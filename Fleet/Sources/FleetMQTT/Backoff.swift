// SPDX-License-Identifier: Apache-2.0

/// The delay before the next attempt. Grows with each failure, with jitter so that nodes don't reconnect all at once.
package struct Backoff: Sendable, Hashable {
    /// The longest delay.
    package static let longest = Duration.seconds(30)

    /// The longest delay when another client uses the same name.
    package static let longestWhenTaken = Duration.seconds(60)

    private let first: Duration
    private let longest: Duration
    private var failures = 0

    package init(first: Duration = .milliseconds(500), longest: Duration = Self.longest) {
        (self.first, self.longest) = (first, longest)
    }

    /// Returns the next delay.
    ///
    /// - Parameter chance: a random number from 0 to 1.
    package mutating func next(chance: Double = .random(in: 0...1)) -> Duration {
        let base = min(first * (1 << min(failures, 10)), longest)
        failures += 1
        // Half of the delay is fixed, half is random.
        return base / 2 + base / 2 * chance
    }

    /// Resets the delay after a success.
    package mutating func reset() { failures = 0 }
}
