// SPDX-License-Identifier: Apache-2.0

/// When what could not be shown is tried again: a few times, each after twice the time of the last, until something is shown.
public struct ShowingRetries: Sendable, Hashable {
    /// More tries than that are not made. What is due is shown with the next arrival, or when notifications come back.
    public static let maximumCount = 8
    private static let longest = Duration.seconds(60)

    private var count = 0
    private var isWaiting = false

    /// Begins with no failure.
    public init() {}

    /// Takes a failure.
    ///
    /// - Returns: after how long to try again; nil when that is under way, or was tried often enough.
    public mutating func failed() -> Duration? {
        guard !isWaiting, count < Self.maximumCount else { return nil }
        isWaiting = true
        defer { count += 1 }
        return min(.seconds(1 << count), Self.longest)
    }

    /// The time is over, and it is tried again.
    public mutating func began() { isWaiting = false }

    /// Something is shown: the next failure begins anew.
    public mutating func succeeded() { count = 0 }
}
