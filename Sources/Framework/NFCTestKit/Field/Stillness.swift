// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How long nothing has happened in a field, in real time.
struct IdleState: Sendable {
    static let none = IdleState()

    /// How long the test has had no events.
    var quiet = Duration.zero
    /// How long the field's time has not advanced.
    var standing = Duration.zero
    /// Whether the uncounted work rests too. If not, only a delay may end, and only when its real time is over too.
    var isOfAll = true
}
