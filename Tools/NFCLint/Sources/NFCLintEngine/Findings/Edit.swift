// SPDX-License-Identifier: Apache-2.0

/// A change in a file that fixes a finding and is safe to apply without review.
public struct Edit: Sendable, Hashable {
    /// The file's path.
    public var path: String
    /// The bytes to replace, as offsets in the file. An empty range inserts.
    public var range: Range<Int>
    /// The new text.
    public var replacement: String

    /// Creates an edit.
    public init(path: String, range: Range<Int>, replacement: String) {
        self.path = path
        self.range = range
        self.replacement = replacement
    }
}
