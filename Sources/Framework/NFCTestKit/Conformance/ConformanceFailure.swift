// SPDX-License-Identifier: Apache-2.0

/// Why a scenario failed.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The difference, as a sentence.
    public var description: String
    /// Whether the reader reported that it does not support the request, or did not find such a tag.
    public var isLimit = false
}
