// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading

/// The subject of a notification, and its entries: one, or all those that a summary counts.
struct NotificationTopic: Equatable {
    var subject: NotificationSubject
    var entries: [InboxEntry.ID]
}
