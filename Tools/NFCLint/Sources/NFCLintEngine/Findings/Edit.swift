// SPDX-License-Identifier: Apache-2.0

/// A change of a file that mends a finding and is safe to make unseen.
public struct Edit: Sendable, Hashable {
    /// The file's path.
    public var path: String
    /// The bytes that are replaced, as offsets in the file; an empty range inserts.
    public var range: Range<Int>
    /// What comes in their place.
    public var replacement: String

    /// A change.
    public init(path: String, range: Range<Int>, replacement: String) {
        self.path = path
        self.range = range
        self.replacement = replacement
    }
}
