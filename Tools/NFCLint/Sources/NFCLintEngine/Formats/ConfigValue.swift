// SPDX-License-Identifier: Apache-2.0

/// A value in a property list, JSON or YAML, with its position.
public struct ConfigValue: Sendable {
    /// A key and its value in a dictionary.
    public struct Entry: Sendable {
        /// The key, as written.
        public var key: String
        /// The position of the key.
        public var position: Position
        /// The offset of the entry in the file, if known.
        public var offset: Int?
        /// The value.
        public var value: ConfigValue
    }

    /// The type and the contents of a value.
    public indirect enum Content: Sendable {
        /// A text.
        case string(String)
        /// A number, as written.
        case number(String)
        /// A Boolean.
        case boolean(Bool)
        /// A date or data. The contents don't matter.
        case other(String)
        /// Values in order.
        case array([ConfigValue])
        /// Entries in order. A key may occur twice.
        case dictionary([Entry])
    }

    /// The type and the contents.
    public var content: Content
    /// The position at which the value begins.
    public var position: Position
    /// The bytes of the value in the file, if known.
    public var range: Range<Int>?

    /// Creates a value.
    public init(_ content: Content, _ position: Position = Position(), range: Range<Int>? = nil) {
        self.content = content
        self.position = position
        self.range = range
    }

    /// The text; nil for other types.
    public var string: String? {
        if case .string(let text) = content { return text }
        return nil
    }

    /// The text of a string, or a number or Boolean as written; nil for other types.
    public var scalar: String? {
        switch content {
        case .string(let text), .number(let text): text
        case .boolean(let value): value ? "true" : "false"
        default: nil
        }
    }

    /// The Boolean; nil for other types.
    public var boolean: Bool? {
        if case .boolean(let value) = content { return value }
        return nil
    }

    /// The values of an array; nil for other types.
    public var array: [ConfigValue]? {
        if case .array(let values) = content { return values }
        return nil
    }

    /// The entries of a dictionary; nil for other types.
    public var entries: [Entry]? {
        if case .dictionary(let entries) = content { return entries }
        return nil
    }

    /// The entry of a key; nil if the key is missing or this is not a dictionary.
    public func entry(_ key: String) -> Entry? { entries?.first { $0.key == key } }

    /// The value of a key; nil if the key is missing or this is not a dictionary.
    public subscript(_ key: String) -> ConfigValue? { entry(key)?.value }

    /// The texts of an array, or a single text as an array.
    public var strings: [String] { array?.compactMap(\.scalar) ?? scalar.map { [$0] } ?? [] }

    /// The type of the value, as words for messages.
    public var kind: String {
        switch content {
        case .string: "a string"
        case .number: "a number"
        case .boolean: "a Boolean"
        case .other(let kind): kind
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }
}

/// Why a file can't be parsed.
public struct FormatError: Error, Sendable {
    /// The reason, as a sentence.
    public var reason: String
    /// The position of the error.
    public var position: Position

    init(_ reason: String, _ position: Position) {
        self.reason = reason
        self.position = position
    }
}
