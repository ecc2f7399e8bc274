// SPDX-License-Identifier: Apache-2.0

/// The state that an earlier run of the service has left.
public struct PreviousRun: Sendable {
    /// The entries in the inbox.
    public var entries: [InboxEntry]
    /// The entries whose own notification is still shown.
    public var shown: Set<InboxEntry.ID>
    /// The entries in the summary that is still shown.
    public var summarized: Set<InboxEntry.ID>
    /// The marks of entries.
    public var marks: [InboxEntry.ID: DeliveryFlag]

    /// Creates a state.
    public init(
        entries: [InboxEntry] = [],
        shown: Set<InboxEntry.ID> = [],
        summarized: Set<InboxEntry.ID> = [],
        marks: [InboxEntry.ID: DeliveryFlag] = [:]
    ) {
        self.entries = entries
        self.shown = shown
        self.summarized = summarized
        self.marks = marks
    }
}
