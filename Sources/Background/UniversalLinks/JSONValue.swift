// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// A JSON value with its type. Association files don't use numbers, so their values are not kept.
enum JSONValue: Sendable {
    /// The members of an object by key.
    typealias Members = [ExactText: JSONValue]

    case object(Members)
    case array([JSONValue])
    case string(String)
    case boolean(Bool)
    case number
    case null

    var object: Members? { if case .object(let value) = self { value } else { nil } }
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

extension JSONValue {
    /// The deepest nesting of objects and arrays.
    static let maximumDepth = 128

    /// The result of reading.
    struct Content {
        var value: JSONValue
        /// The keys that an object has more than once, with the position of the object. The first value of a key is
        /// used.
        var repeatedKeys: [(place: String, key: String)]
    }

    /// Reads JSON. A byte order mark at the start is skipped.
    ///
    /// - Throws: `JSONReader.Problem`, whose offset counts a byte order mark too.
    static func read(_ bytes: [UInt8]) throws(JSONReader.Problem) -> Content {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        do throws(JSONReader.Problem) {
            let node = try JSONReader.read(bytes, in: start..<bytes.count, maximumDepth: maximumDepth)
            var repeatedKeys: [(place: String, key: String)] = []
            let value = JSONValue(node, at: "", &repeatedKeys)
            return Content(value: value, repeatedKeys: repeatedKeys)
        } catch {
            throw JSONReader.Problem(offset: error.offset + start, reason: error.reason)
        }
    }

    private init(_ node: JSONNode, at place: String, _ repeatedKeys: inout [(place: String, key: String)]) {
        switch node.content {
        case .null: self = .null
        case .bool(let value): self = .boolean(value)
        case .number: self = .number
        case .string(let utf8): self = .string(String(decoding: utf8, as: UTF8.self))
        case .array(let elements):
            var values: [JSONValue] = []
            for (index, element) in elements.enumerated() {
                values.append(JSONValue(element, at: "\(place)[\(index)]", &repeatedKeys))
            }
            self = .array(values)
        case .object(let members):
            var values: Members = [:]
            for member in members {
                let inner = place.isEmpty ? member.key : "\(place).\(member.key)"
                let value = JSONValue(member.value, at: inner, &repeatedKeys)
                let key = ExactText(member.key)
                if values[key] == nil {
                    values[key] = value
                } else {
                    repeatedKeys.append((place.isEmpty ? "The file" : place, member.key))
                }
            }
            self = .object(values)
        }
    }
}
