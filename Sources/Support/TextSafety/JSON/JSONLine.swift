// SPDX-License-Identifier: Apache-2.0

/// A line with a JSON object whose values are strings, integers, Booleans and lists of strings. No key occurs twice.
///
/// Use it for files with an object a line. For other JSON use ``JSONReader``.
public struct JSONLine: Sendable {
    /// Why a line is not valid.
    public struct Failure: Error {
        /// A sentence.
        public var reason: String

        /// Creates a failure.
        public init(reason: String) { self.reason = reason }
    }

    /// The members. A line only has a few.
    private let members: [JSONNode.Member]

    /// Reads a line in a range of a text.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - range: the line's bytes, without a line feed.
    ///   - allowsNull: whether a value may be `null`, which is as if the member were missing.
    /// - Throws: ``Failure`` when the line is not such an object.
    public init(_ text: [UInt8], _ range: Range<Int>, allowsNull: Bool = false) throws(Failure) {
        let line: JSONNode
        do throws(JSONReader.Problem) {
            line = try JSONReader.read(text, in: range, maximumDepth: 2)
        } catch {
            throw Failure(reason: "It is not valid JSON at character \(error.offset + 1): \(error.reason).")
        }
        guard case .object(let members) = line.content else { throw Failure(reason: "A line has to be a JSON object.") }
        for (index, member) in members.enumerated() {
            guard Self.isAllowed(member.value, allowsNull) else {
                throw Failure(reason: "\"\(VisibleText.escaped(member.key))\" has a value of a wrong kind.")
            }
            for other in members[..<index] where other.key == member.key {
                throw Failure(reason: "\"\(VisibleText.escaped(member.key))\" is there twice.")
            }
        }
        self.members = members
    }

    private static func isAllowed(_ value: JSONNode, _ allowsNull: Bool) -> Bool {
        switch value.content {
        case .null: allowsNull
        case .bool, .string: true
        case .number: value.integer != nil
        case .array(let elements): elements.allSatisfy { if case .string = $0.content { true } else { false } }
        case .object: false
        }
    }

    private func value(_ key: String) -> JSONNode? {
        for member in members where member.key == key {
            if case .null = member.value.content { return nil }
            return member.value
        }
        return nil
    }

    /// The value of a member; nil when it is missing or null.
    public subscript(key: String) -> JSONNode.Content? { value(key)?.content }

    /// The string of a member; nil when it is missing or something else.
    public func string(_ key: String) -> String? { value(key)?.string }

    /// The number of a member; nil when it is missing or something else.
    public func number(_ key: String) -> Int? { value(key)?.integer }

    /// The Boolean of a member; nil when it is missing or something else.
    public func bool(_ key: String) -> Bool? { value(key)?.bool }

    /// The strings of a member; nil when it is missing or something else.
    public func strings(_ key: String) -> [String]? { value(key)?.array?.compactMap(\.string) }
}
