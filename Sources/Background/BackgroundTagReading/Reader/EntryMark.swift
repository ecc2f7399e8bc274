// SPDX-License-Identifier: Apache-2.0

/// A mark of an entry, saved beside its message.
public enum DeliveryFlag: String, Sendable, Hashable {
    /// The user wants to open it, and the screen was locked.
    case wanted
    /// The user has dismissed its notification. The entry stays in the inbox, but is not shown again.
    case dismissed
}
