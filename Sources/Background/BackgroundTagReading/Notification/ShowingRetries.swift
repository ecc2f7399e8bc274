// SPDX-License-Identifier: Apache-2.0

/// Decides when to try again to show a notification: a few times, each after twice the previous delay, until one is
/// shown.
public struct NotificationRetryPolicy: Sendable, Hashable {
    /// The most tries. After that, due notifications are shown with the next arrival, or when notifications are
    /// available again.
    public static let maximumCount = 8
    private static let longest = Duration.seconds(60)

    private var count = 0
    private var isWaiting = false

    /// Creates the state without a failure.
    public init() {}

    /// Records a failure.
    ///
    /// - Returns: the delay before the next try; nil when a try is planned already, or there were enough.
    public mutating func failed() -> Duration? {
        guard !isWaiting, count < Self.maximumCount else { return nil }
        isWaiting = true
        defer { count += 1 }
        return min(.seconds(1 << count), Self.longest)
    }

    /// Records that the delay is over and the next try starts.
    public mutating func began() { isWaiting = false }

    /// Records that a notification was shown. The next failure starts with the shortest delay.
    public mutating func succeeded() { count = 0 }
}
