// SPDX-License-Identifier: Apache-2.0

/// A value in a JSON text, with its place. ``JSONReader`` makes it.
///
/// Numbers and strings are as they were written, so nothing is lost or rounded before you decide what they are. Every place
/// is a range of bytes of the text that was read.
public struct JSONNode: Sendable {
    /// The kinds of values.
    public enum Content: Sendable {
        /// The word `null`.
        case null
        /// `true` or `false`.
        case bool(Bool)
        /// A number as it is written, of any size.
        case number(String)
        /// The UTF-8 bytes of a string, with its escapes resolved. Many strings are hex, so no `String` is created.
        case string([UInt8])
        /// The elements in order.
        case array([JSONNode])
        /// The members in order. A key may occur more than once.
        case object([Member])
    }

    /// A member of an object.
    public struct Member: Sendable {
        /// The key, with its escapes resolved.
        public var key: String
        /// The bytes of the key in the text, with its quotes.
        public var keyRange: Range<Int>
        /// The value.
        public var value: JSONNode
    }

    /// What the value is.
    public var content: Content
    /// The bytes of the value in the text.
    public var range: Range<Int>

    /// The string; nil for another kind of value.
    public var string: String? {
        if case .string(let utf8) = content { String(decoding: utf8, as: UTF8.self) } else { nil }
    }

    /// The elements of an array; nil for another kind of value.
    public var array: [JSONNode]? { if case .array(let elements) = content { elements } else { nil } }

    /// The integer; nil for another kind of value, for a number with a fraction or an exponent, and for one that `Int` can't
    /// hold.
    public var integer: Int? { if case .number(let text) = content { Int(text) } else { nil } }

    /// The Boolean; nil for another kind of value.
    public var bool: Bool? { if case .bool(let bool) = content { bool } else { nil } }
}
