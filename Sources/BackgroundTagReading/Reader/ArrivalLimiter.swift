// SPDX-License-Identifier: Apache-2.0

/// Bounds how many arrivals have an effect: some at once, and then as many as time gives back.
struct ArrivalLimiter: Sendable, Hashable {
    /// How many may come at once.
    static let burst = 8
    /// The time that gives one back.
    static let interval = Duration.seconds(2)

    private var used = 0
    private var since = Duration.zero
    /// How many were turned away since the last that was let in.
    private(set) var refused = 0

    /// Lets an arrival in, or not.
    ///
    /// - Parameter now: the time; it never goes back.
    mutating func admit(at now: Duration) -> Bool {
        if now - since >= Self.interval * used {
            used = 0
            since = now
        } else {
            let gained = Int((now - since) / Self.interval)
            used -= gained
            since += Self.interval * gained
        }
        guard used < Self.burst else {
            refused += 1
            return false
        }
        used += 1
        refused = 0
        return true
    }
}
