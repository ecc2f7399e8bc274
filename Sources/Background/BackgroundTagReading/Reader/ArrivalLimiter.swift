// SPDX-License-Identifier: Apache-2.0

/// Limits how many arrivals have an effect. Some get their own notification, some more are kept and share a summary,
/// and the rest is refused.
struct ArrivalLimiter: Sendable, Hashable {
    /// A number of arrivals in a burst, and the time after which one of them is available again.
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

    /// How many arrivals in a burst get their own notification.
    static let burst = 8
    /// How many more arrivals in a burst are kept.
    static let reserve = 24

    private var alone = Allowance(burst: ArrivalLimiter.burst, interval: .seconds(2))
    private var together = Allowance(burst: ArrivalLimiter.reserve, interval: .seconds(10))
    /// The number of arrivals refused since the last one that was admitted.
    private(set) var refused = 0

    /// The result for an arrival.
    enum Outcome {
        /// The arrival gets its own notification.
        case alone
        /// The arrival is kept, and counted in the summary.
        case together
        case refused
    }

    /// Decides about an arrival.
    ///
    /// - Parameters:
    ///   - now: the time; it never goes back.
    ///   - canWait: whether the summary can count the arrival.
    mutating func admit(at now: Duration, canWait: Bool) -> Outcome {
        let outcome: Outcome =
            alone.take(at: now) ? .alone : canWait && together.take(at: now) ? .together : .refused
        refused = outcome == .refused ? refused + 1 : 0
        return outcome
    }
}
