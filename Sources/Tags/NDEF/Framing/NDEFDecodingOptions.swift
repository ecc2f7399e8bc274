// SPDX-License-Identifier: Apache-2.0

/// The errors in a message that a decoder accepts. By default it accepts none.
///
/// The specification doesn't cover two cases: bytes after the record with the Message End flag, and an empty input.
/// Both are errors here unless an option allows them, because such a tag was not written correctly.
@frozen public struct NDEFDecodingOptions: Sendable, Hashable {
    /// One bit each, in the order of the properties.
    @usableFromInline var bits: UInt8

    /// Whether bytes after the record with the Message End flag are ignored.
    @inlinable public var allowsTrailingData: Bool {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// Whether an empty input is read as a message without records.
    @inlinable public var allowsEmptyInput: Bool {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// Whether the first record may lack the Message Begin flag.
    @inlinable public var allowsMissingMessageBegin: Bool {
        get { self[2] }
        set { self[2] = newValue }
    }

    /// Whether a message may end at the end of the input, after a complete record, without the Message End flag.
    @inlinable public var allowsMissingMessageEnd: Bool {
        get { self[3] }
        set { self[3] = newValue }
    }

    /// Whether records of format `unknown` or `reserved` may have a type.
    @inlinable public var allowsTypeOnUnknown: Bool {
        get { self[4] }
        set { self[4] = newValue }
    }

    /// Creates options; each argument is the property of that name.
    @inlinable
    public init(
        allowsTrailingData: Bool = false,
        allowsEmptyInput: Bool = false,
        allowsMissingMessageBegin: Bool = false,
        allowsMissingMessageEnd: Bool = false,
        allowsTypeOnUnknown: Bool = false
    ) {
        bits = 0
        self.allowsTrailingData = allowsTrailingData
        self.allowsEmptyInput = allowsEmptyInput
        self.allowsMissingMessageBegin = allowsMissingMessageBegin
        self.allowsMissingMessageEnd = allowsMissingMessageEnd
        self.allowsTypeOnUnknown = allowsTypeOnUnknown
    }

    /// Allows nothing that the specification forbids.
    @inlinable public static var strict: NDEFDecodingOptions { NDEFDecodingOptions() }

    @inlinable
    subscript(bit: UInt8) -> Bool {
        get { bits >> bit & 1 == 1 }
        set { bits = bits & ~(1 << bit) | (newValue ? 1 << bit : 0) }
    }
}
