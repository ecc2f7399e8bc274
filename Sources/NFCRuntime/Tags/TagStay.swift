// SPDX-License-Identifier: Apache-2.0
import TagLink

/// One stay of a tag near the reader. When the tag goes away and comes back, it is another stay, where the reader can tell.
struct TagStay: Hashable, Sendable {
    let identifier: [UInt8]
    /// The number of the arrival; nil where the reader can't tell arrivals apart.
    let arrival: UInt64?
}

extension ReaderDriver {
    /// The stay of a tag that the last look has found.
    func stay(of identifier: [UInt8]) -> TagStay {
        TagStay(identifier: identifier, arrival: arrival(of: identifier))
    }
}
