// SPDX-License-Identifier: Apache-2.0

/// A file or folder that was not read completely.
public struct UnreadFile: Sendable {
    /// The file's location.
    public var place: Place
    /// The problem, as a sentence.
    public var reason: String
    /// Whether nothing in the file was checked.
    public var isWhole: Bool

    /// Creates a record of an unread file.
    public init(_ place: Place, _ reason: String, isWhole: Bool = true) {
        self.place = place
        self.reason = reason
        self.isWhole = isWhole
    }
}
