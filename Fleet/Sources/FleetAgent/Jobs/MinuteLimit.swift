// SPDX-License-Identifier: Apache-2.0

/// Limits how many events anyone can cause per minute.
struct MinuteLimit: Sendable {
    /// A minute in milliseconds.
    static let minute: Int64 = 60_000

    /// The maximum number of events per minute.
    let most: Int
    private var times: [Int64] = []

    init(_ most: Int) { self.most = most }

    /// Returns whether another event is allowed, and counts it.
    ///
    /// - Parameter now: the current time in milliseconds.
    mutating func allows(now: Int64) -> Bool {
        times.removeAll { now - $0 >= Self.minute || $0 > now }
        guard times.count < most else { return false }
        times.append(now)
        return true
    }
}

/// Limits an amount per minute.
struct MinuteBudget: Sendable {
    private let most: Int
    private var spent = 0
    private var start = ContinuousClock.now

    init(_ most: Int) { self.most = most }

    /// Returns how much may be spent now. Not positive if everything of this minute was spent.
    mutating func rest(now: ContinuousClock.Instant) -> Int {
        if now - start >= .seconds(60) { (spent, start) = (0, now) }
        return most - spent
    }

    mutating func spend(_ amount: Int) { spent += amount }
}
