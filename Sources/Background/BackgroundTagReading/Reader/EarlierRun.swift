// SPDX-License-Identifier: Apache-2.0

/// What an earlier run of the service has left.
public struct EarlierRun: Sendable {
    /// What is in the inbox.
    public var entries: [InboxEntry]
    /// The entries whose own notification is still shown.
    public var shown: Set<InboxEntry.ID>
    /// The entries that a summary, which is still shown, counts.
    public var summarized: Set<InboxEntry.ID>
    /// What was remembered of entries.
    public var marks: [InboxEntry.ID: EntryMark]

    /// Creates what is left.
    public init(
        entries: [InboxEntry] = [],
        shown: Set<InboxEntry.ID> = [],
        summarized: Set<InboxEntry.ID> = [],
        marks: [InboxEntry.ID: EntryMark] = [:]
    ) {
        self.entries = entries
        self.shown = shown
        self.summarized = summarized
        self.marks = marks
    }
}

/// What is remembered of an entry beside its message.
public enum EntryMark: String, Sendable, Hashable {
    /// The person wants it opened, and the screen was locked.
    case wanted
    /// The person has dismissed its notification: it stays in the inbox, and is not shown again.
    case dismissed
}
