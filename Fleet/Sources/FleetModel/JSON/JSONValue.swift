// SPDX-License-Identifier: Apache-2.0

/// A JSON value that preserves the order of object members.
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A name-value pair of an object.
    package struct Member: Sendable, Hashable {
        package var name: String
        package var value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Creates an object, omitting members whose value is nil.
    package static func members(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// The value of a member; nil if there is no such member, or this is not an object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The string; nil for other values.
    package var text: String? { if case .string(let text) = self { text } else { nil } }
    /// The integer; nil for other values.
    package var int: Int? { if case .integer(let number) = self { number } else { nil } }
    /// The Boolean; nil for other values.
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The elements; nil for other values.
    package var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
    /// The members; nil for other values.
    package var objectMembers: [Member]? { if case .object(let members) = self { members } else { nil } }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}
