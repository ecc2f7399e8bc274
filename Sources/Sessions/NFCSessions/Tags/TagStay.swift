// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A tag's stay near the reader. If the tag leaves and comes back, this is a new stay, if the reader can distinguish
/// them.
struct TagPresenceID: Hashable, Sendable {
    let identifier: [UInt8]
    /// The number of the arrival; nil if the reader can't distinguish arrivals.
    let arrival: UInt64?
}

extension ReaderDriver {
    /// Returns the stay of a tag that the last look found.
    func stay(of identifier: [UInt8]) -> TagPresenceID {
        TagPresenceID(identifier: identifier, arrival: arrival(of: identifier))
    }
}
