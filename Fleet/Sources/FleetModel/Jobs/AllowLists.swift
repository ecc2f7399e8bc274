// SPDX-License-Identifier: Apache-2.0

/// The tags allowed at each reader.
package struct AllowLists: Sendable, Hashable {
    /// The maximum number of UIDs in a list.
    package static let maximumCount = 100_000

    /// The lists by reader. The key nil holds the list for all readers.
    private(set) package var lists: [FleetName?: Set<[UInt8]>]

    package init(_ lists: [FleetName?: Set<[UInt8]>] = [:]) { self.lists = lists }

    /// Whether a tag is allowed; nil if no list applies. A reader's own list overrides the list for all readers.
    package func allows(_ uid: [UInt8], at reader: FleetName) -> Bool? {
        (lists[reader] ?? lists[nil])?.contains(uid)
    }

    /// Whether a reader's list stays within the maximum after a change.
    package func hasRoom(for change: Job.AllowChange, at reader: FleetName?) -> Bool {
        change.mode != .add || lists[reader, default: []].union(change.uids).count <= Self.maximumCount
    }

    /// Changes a reader's list, or the list for all readers if `reader` is nil.
    package mutating func apply(_ change: Job.AllowChange, to reader: FleetName?) {
        switch change.mode {
        case .off: lists[reader] = nil
        case .replace: lists[reader] = Set(change.uids)
        case .add: lists[reader, default: []].formUnion(change.uids)
        case .remove: lists[reader, default: []].subtract(change.uids)
        }
    }
}
