// SPDX-License-Identifier: Apache-2.0

/// What a notification is about.
public enum NotificationSubject: Sendable, Hashable {
    /// One entry of the inbox.
    case entry(InboxEntry.ID)
    /// Several entries, which it counts.
    case summary
}
