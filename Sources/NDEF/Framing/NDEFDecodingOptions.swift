// SPDX-License-Identifier: Apache-2.0

/// The faults that a reader overlooks. None by default.
///
/// The specification has no word on two of them: octets after the Message End flag, and no octets at all. Both are
/// errors here unless they are allowed, because a tag that has either was not written correctly.
@frozen public struct NDEFDecodingOptions: Sendable, Hashable {
    /// Whether octets after the record with the Message End flag are ignored.
    public var allowsTrailingData: Bool
    /// Whether no octets at all are a message without records.
    public var allowsEmptyInput: Bool
    /// Whether the first record may lack the Message Begin flag.
    public var allowsMissingMessageBegin: Bool
    /// Whether the end of the input, after a whole record, ends a message too.
    public var allowsMissingMessageEnd: Bool
    /// Whether records of format `unknown` may have a type.
    public var allowsTypeOnUnknown: Bool

    /// Creates options; each argument is the property of that name.
    public init(
        allowsTrailingData: Bool = false,
        allowsEmptyInput: Bool = false,
        allowsMissingMessageBegin: Bool = false,
        allowsMissingMessageEnd: Bool = false,
        allowsTypeOnUnknown: Bool = false
    ) {
        self.allowsTrailingData = allowsTrailingData
        self.allowsEmptyInput = allowsEmptyInput
        self.allowsMissingMessageBegin = allowsMissingMessageBegin
        self.allowsMissingMessageEnd = allowsMissingMessageEnd
        self.allowsTypeOnUnknown = allowsTypeOnUnknown
    }

    /// No leniency.
    public static let strict = NDEFDecodingOptions()
}
