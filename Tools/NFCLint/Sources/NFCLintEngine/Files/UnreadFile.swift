// SPDX-License-Identifier: Apache-2.0

/// A file or folder that was not read, or only in parts.
public struct UnreadFile: Sendable {
    /// Where it is.
    public var place: Place
    /// What is wrong, as a sentence.
    public var reason: String
    /// Whether no part of it was checked.
    public var isWhole: Bool

    /// A file that was not read.
    public init(_ place: Place, _ reason: String, isWhole: Bool = true) {
        self.place = place
        self.reason = reason
        self.isWhole = isWhole
    }
}
