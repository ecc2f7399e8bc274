// SPDX-License-Identifier: Apache-2.0

/// The time limits of a session. An app can't extend them.
public struct SessionLimits: Sendable, Hashable {
    /// The maximum duration of a session.
    public var session: Duration = .seconds(60)
    /// How long a tag can stay connected. Then it has to be found again.
    public var connectedTag: Duration = .seconds(20)
    /// How long the sheet shows the result.
    public var sheetDismissal: Duration = .milliseconds(2500)
    /// The polling interval for a reader that can't report arrivals.
    public var pollingInterval: Duration = .milliseconds(100)

    /// Creates the limits of a phone.
    public init() {}

    /// Creates a phone's limits with another duration for the session and the connected tag: for tests that are not
    /// about limits, and may be slow on a busy machine.
    package init(lasting duration: Duration) {
        (session, connectedTag) = (duration, duration)
    }
}
