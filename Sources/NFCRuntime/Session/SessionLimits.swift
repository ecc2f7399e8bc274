// SPDX-License-Identifier: Apache-2.0

/// The spans of time that rule a session. They can't be extended by an app.
public struct SessionLimits: Sendable, Hashable {
    /// How long a session lasts at most.
    public var session: Duration = .seconds(60)
    /// How long a tag stays connected at most, after which it has to be found again.
    public var connectedTag: Duration = .seconds(20)
    /// How long the sheet shows the result before it is gone.
    public var sheetDismissal: Duration = .milliseconds(2500)
    /// How often a reader that can't tell when a tag comes is polled.
    public var pollingInterval: Duration = .milliseconds(100)

    /// Creates the limits of a phone.
    public init() {}
}
