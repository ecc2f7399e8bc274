// SPDX-License-Identifier: Apache-2.0

/// Limits how many events strangers can cause in a minute.
struct MinuteLimit: Sendable {
    /// In milliseconds.
    static let minute: Int64 = 60_000

    /// The most events.
    let most: Int
    private var times: [Int64] = []

    init(_ most: Int) { self.most = most }

    /// Returns whether one more is stored.
    ///
    /// - Parameter now: the time in milliseconds.
    mutating func allows(now: Int64) -> Bool {
        times.removeAll { now - $0 >= Self.minute || $0 > now }
        guard times.count < most else { return false }
        times.append(now)
        return true
    }
}
