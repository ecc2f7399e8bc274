// SPDX-License-Identifier: Apache-2.0

/// A value of a property list, JSON or YAML, and its place.
public struct ConfigValue: Sendable {
    /// One pair of a dictionary.
    public struct Entry: Sendable {
        /// The key as it is written.
        public var key: String
        /// Where the key stands.
        public var position: Position
        /// The offset of the pair in the file, where known.
        public var offset: Int?
        /// Its value.
        public var value: ConfigValue
    }

    /// What it is.
    public indirect enum Content: Sendable {
        /// A text.
        case string(String)
        /// A number, as it is written.
        case number(String)
        /// Yes or no.
        case boolean(Bool)
        /// Dates and data, whose contents don't matter.
        case other(String)
        /// Values in order.
        case array([ConfigValue])
        /// Pairs in order; a key may be there twice.
        case dictionary([Entry])
    }

    /// What it is.
    public var content: Content
    /// Where it begins.
    public var position: Position
    /// The bytes that it takes in the file, where known.
    public var range: Range<Int>?

    /// A value.
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

    /// A text, or a number or Boolean as it is written.
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

    /// The values; nil for other types.
    public var array: [ConfigValue]? {
        if case .array(let values) = content { return values }
        return nil
    }

    /// The pairs; nil for other types.
    public var entries: [Entry]? {
        if case .dictionary(let entries) = content { return entries }
        return nil
    }

    /// The pair of a key; nil when it is not there, or this is no dictionary.
    public func entry(_ key: String) -> Entry? { entries?.first { $0.key == key } }

    /// The value of a key.
    public subscript(_ key: String) -> ConfigValue? { entry(key)?.value }

    /// The texts of an array, or a text alone.
    public var strings: [String] { array?.compactMap(\.scalar) ?? scalar.map { [$0] } ?? [] }

    /// What type it is, in words.
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

/// Why a file can't be read.
public struct FormatError: Error, Sendable {
    /// A sentence.
    public var reason: String
    /// Where it is.
    public var position: Position

    init(_ reason: String, _ position: Position) {
        self.reason = reason
        self.position = position
    }
}
