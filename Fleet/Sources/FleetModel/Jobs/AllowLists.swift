// SPDX-License-Identifier: Apache-2.0

/// Which tags are allowed at which reader.
package struct AllowLists: Sendable, Hashable {
    /// The lists by reader; the one for all readers has the key nil.
    private(set) package var lists: [FleetName?: Set<[UInt8]>]

    package init(_ lists: [FleetName?: Set<[UInt8]>] = [:]) { self.lists = lists }

    /// Whether a tag is allowed; nil when neither the reader nor all readers have a list. A reader's own list counts.
    package func allows(_ uid: [UInt8], at reader: FleetName) -> Bool? {
        (lists[reader] ?? lists[nil])?.contains(uid)
    }

    /// Changes the list of a reader, or the one for all.
    package mutating func apply(_ change: Job.AllowChange, to reader: FleetName?) {
        switch change.mode {
        case .off: lists[reader] = nil
        case .replace: lists[reader] = Set(change.uids)
        case .add: lists[reader, default: []].formUnion(change.uids)
        case .remove: lists[reader, default: []].subtract(change.uids)
        }
    }
}
