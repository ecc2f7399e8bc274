// SPDX-License-Identifier: Apache-2.0

/// Bounds how many arrivals have an effect: some have a notification each, more are kept and share one, and the rest is
/// turned away.
struct ArrivalLimiter: Sendable, Hashable {
    /// A number of arrivals at once, and the time that gives one of them back.
    private struct Allowance: Hashable {
        let burst: Int
        let interval: Duration
        private var used = 0
        private var since = Duration.zero

        init(burst: Int, interval: Duration) {
            self.burst = burst
            self.interval = interval
        }

        mutating func take(at now: Duration) -> Bool {
            if now - since >= interval * used {
                used = 0
                since = now
            } else {
                let gained = Int((now - since) / interval)
                used -= gained
                since += interval * gained
            }
            guard used < burst else { return false }
            used += 1
            return true
        }
    }

    /// How many arrivals at once have a notification each.
    static let burst = 8
    /// How many more at once are kept.
    static let reserve = 24

    private var alone = Allowance(burst: ArrivalLimiter.burst, interval: .seconds(2))
    private var together = Allowance(burst: ArrivalLimiter.reserve, interval: .seconds(10))
    /// How many were turned away since the last that was let in.
    private(set) var refused = 0

    /// What becomes of an arrival.
    enum Outcome {
        /// It has a notification of its own.
        case alone
        /// It is kept, and counted in the summary.
        case together
        case refused
    }

    /// Lets an arrival in, or not.
    ///
    /// - Parameters:
    ///   - now: the time; it never goes back.
    ///   - canWait: whether it is something that the summary can count.
    mutating func admit(at now: Duration, canWait: Bool) -> Outcome {
        let outcome: Outcome =
            alone.take(at: now) ? .alone : canWait && together.take(at: now) ? .together : .refused
        refused = outcome == .refused ? refused + 1 : 0
        return outcome
    }
}
