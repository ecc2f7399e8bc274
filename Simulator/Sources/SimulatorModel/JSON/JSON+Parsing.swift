// SPDX-License-Identifier: Apache-2.0
import TextSafety

extension JSON {
    /// Why a text is not valid JSON.
    public struct Problem: Error, Sendable, Hashable {
        /// A sentence that says what is wrong.
        public var reason: String
        /// The index of the byte at which parsing stopped.
        public var offset: Int
    }

    /// The maximum nesting depth of objects and arrays.
    public static let maximumDepth = 32

    /// Parses a value. If an object repeats a name, the last member counts.
    ///
    /// - Parameter bytes: the whole text, in UTF-8.
    /// - Throws: ``Problem`` when the text is not one JSON value, is nested deeper than ``maximumDepth``, or has too many values.
    public init(parsing bytes: some RandomAccessCollection<UInt8>) throws(Problem) {
        let node: JSONNode
        do throws(JSONReader.Problem) {
            node = try JSONReader.read(
                Array(bytes),
                maximumDepth: Self.maximumDepth,
                maximumCount: Limits.values
            )
        } catch {
            throw Problem(
                reason: error.reason.prefix(1).uppercased() + error.reason.dropFirst() + ".",
                offset: error.offset
            )
        }
        try self.init(node)
    }

    /// Parses a value from a string.
    ///
    /// - Throws: ``Problem`` if the text is not one valid JSON value.
    public init(parsing text: String) throws(Problem) {
        try self.init(parsing: Array(text.utf8))
    }

    private init(_ node: JSONNode) throws(Problem) {
        switch node.content {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .string(let utf8): self = .string(String(decoding: utf8, as: UTF8.self))
        case .number(let text):
            if let number = Int(text) {
                self = .int(number)
            } else if let number = Double(text), number.isFinite {
                self = .double(number)
            } else {
                throw Problem(reason: "The number is too large.", offset: node.range.upperBound)
            }
        case .array(let nodes):
            var elements: [JSON] = []
            for node in nodes { elements.append(try JSON(node)) }
            self = .array(elements)
        case .object(let nodes):
            var members: [String: JSON] = [:]
            for node in nodes { members[node.key] = try JSON(node.value) }
            self = .object(members)
        }
    }
}
