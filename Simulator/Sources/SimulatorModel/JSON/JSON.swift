// SPDX-License-Identifier: Apache-2.0

/// A JSON value (RFC 8259), as exchanged with pages, programs and files.
public enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// A member of an object; nil if the member is missing or the value is not an object.
    public subscript(key: String) -> JSON? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    /// The string; nil for any other value.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The integer; nil for any other value. `2.0` counts as an integer.
    public var int: Int? {
        switch self {
        case .int(let number): number
        case .double(let number): Int(exactly: number)
        default: nil
        }
    }

    /// The number; nil for any other value.
    public var double: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    /// The Boolean; nil for any other value.
    public var bool: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// The elements of the array; nil for any other value.
    public var array: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of the object; nil for any other value.
    public var object: [String: JSON]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Whether the value is `null`.
    public var isNull: Bool { self == .null }

    /// Creates a string, or `null` from nil.
    public init(_ text: String?) {
        self = text.map(JSON.string) ?? .null
    }

    /// Creates a number, or `null` from nil.
    public init(_ number: Int?) {
        self = number.map(JSON.int) ?? .null
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral text: String) { self = .string(text) }
    public init(integerLiteral number: Int) { self = .int(number) }
    public init(booleanLiteral flag: Bool) { self = .bool(flag) }
    public init(floatLiteral number: Double) { self = .double(number) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral members: (String, JSON)...) {
        self = .object(Dictionary(members) { $1 })
    }
    public init(nilLiteral: ()) { self = .null }
}
