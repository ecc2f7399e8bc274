// SPDX-License-Identifier: Apache-2.0

/// A JSON value with its type. Association files don't use numbers, so their values are not kept.
enum JSONValue: Sendable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case boolean(Bool)
    case number
    case null

    var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
    var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    var string: String? { if case .string(let value) = self { value } else { nil } }
    var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }

    /// The type, for messages.
    var kind: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a text"
        case .boolean: "true or false"
        case .number: "a number"
        case .null: "null"
        }
    }
}
