// SPDX-License-Identifier: Apache-2.0

/// What happens in an app's session, for whoever shows it.
package enum SessionEvent: Sendable, Hashable {
    /// The app begins the session; its class.
    case began(String)
    /// The app looks for tags again.
    case restarted
    /// The app's delegate is called.
    case callback(name: String, detail: String)
    /// The session is over; the reason.
    case ended(String)
}
