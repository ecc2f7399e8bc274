// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// Explains why bytes are not valid JSON, or exceed the limits.
package struct JSONFailure: Error, Sendable, CustomStringConvertible {
    /// A human-readable sentence.
    package var reason: String
    package var description: String { reason }
}

extension JSONValue {
    /// The largest text accepted, in bytes.
    package static let maximumSize = 1 << 20
    /// The deepest nesting of objects and arrays.
    package static let maximumDepth = 512

    /// Parses JSON text (RFC 8259) in UTF-8. Members are sorted by name. If an object repeats a name, the first value
    /// is used. A byte order mark at the start is skipped.
    ///
    /// - Parameter bytes: the JSON text.
    /// - Throws: ``JSONFailure`` if the text is too large, nested too deeply, or not JSON.
    package init(parsing bytes: [UInt8]) throws(JSONFailure) {
        guard bytes.count <= Self.maximumSize else { throw JSONFailure(reason: "The JSON text is too large.") }
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard
            let node = try? JSONReader.read(bytes, in: start..<bytes.count, maximumDepth: Self.maximumDepth),
            let value = JSONValue(node)
        else { throw JSONFailure(reason: "This is not JSON text in UTF-8.") }
        self = value
    }

    /// Converts a parsed node; nil if a number is too large.
    private init?(_ node: JSONNode) {
        switch node.content {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .string(let utf8): self = .string(String(decoding: utf8, as: UTF8.self))
        case .number(let text):
            guard let value = Self.number(text) else { return nil }
            self = value
        case .array(let nodes):
            let elements = nodes.compactMap(JSONValue.init(_:))
            guard elements.count == nodes.count else { return nil }
            self = .array(elements)
        case .object(let nodes):
            var members: [String: JSONValue] = [:]
            for node in nodes {
                guard let value = JSONValue(node.value) else { return nil }
                if members[node.key] == nil { members[node.key] = value }
            }
            self = .object(members.sorted { $0.key < $1.key }.map { Member($0.key, $0.value) })
        }
    }

    /// Parses a number. `2.0` and `2e0` become the integer 2.
    private static func number(_ text: String) -> JSONValue? {
        if let integer = Int(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { return nil }
        return Int(exactly: number).map { .integer($0) } ?? .number(number)
    }
}
