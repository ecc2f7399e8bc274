// SPDX-License-Identifier: Apache-2.0

/// Decides how long to wait after changes before sites are asked again. A network starts in several steps, and so does
/// the installation of an app, so each change makes the wait start again. But some networks change all the time, so the
/// wait has an end.
package struct ChangeSettling: Sendable, Hashable {
    /// How long to wait after the last change.
    package static let pause = Duration.seconds(2)
    /// The longest wait after the first change.
    package static let longest = Duration.seconds(60)

    private var first: Duration?

    /// Creates the state without a change.
    package init() {}

    /// Whether something has changed since the sites were last asked.
    package var hasChanged: Bool { first != nil }

    /// Records a change.
    ///
    /// - Parameter now: the time since any fixed moment; it never goes back.
    /// - Returns: how long to wait from now on.
    package mutating func change(at now: Duration) -> Duration {
        let first = first ?? now
        self.first = first
        return max(min(Self.pause, first + Self.longest - now), .zero)
    }

    /// Records that the sites are asked now.
    package mutating func settle() { first = nil }
}
