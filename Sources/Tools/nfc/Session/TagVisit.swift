// SPDX-License-Identifier: Apache-2.0

/// What became of the tags that came near in a session.
enum TagVisit {
    /// No tag came.
    case none
    /// Tags came, but none could be used.
    case failed
    /// A tag was used.
    case used
}
