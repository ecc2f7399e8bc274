// SPDX-License-Identifier: Apache-2.0

/// The subject of a notification.
public enum NotificationSubject: Sendable, Hashable {
    /// One entry of the inbox.
    case entry(InboxEntry.ID)
    /// Several entries, as a summary.
    case summary
}
