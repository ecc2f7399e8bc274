// SPDX-License-Identifier: Apache-2.0

/// How long to wait until the next try: longer after each failure, with chance, so that not all nodes come at once.
package struct Backoff: Sendable, Hashable {
    /// The longest wait.
    package static let longest = Duration.seconds(30)

    /// The longest wait of a client whose name another one uses.
    package static let longestOfTaken = Duration.seconds(60)

    private let first: Duration
    private let longest: Duration
    private var failures = 0

    package init(first: Duration = .milliseconds(500), longest: Duration = Self.longest) {
        (self.first, self.longest) = (first, longest)
    }

    /// The next wait.
    ///
    /// - Parameter chance: a random number from 0 to 1.
    package mutating func next(chance: Double = .random(in: 0...1)) -> Duration {
        let base = min(first * (1 << min(failures, 10)), longest)
        failures += 1
        // Half of it is fixed.
        return base / 2 + base / 2 * chance
    }

    /// Begins anew after a success.
    package mutating func reset() { failures = 0 }
}
