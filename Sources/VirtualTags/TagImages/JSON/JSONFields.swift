// SPDX-License-Identifier: Apache-2.0
import TagLink
import TextSafety

/// The members of a JSON object, accessed by key.
struct JSONFields: ImageFields {
    private let bytes: [UInt8]
    private let members: [JSONNode.Member]
    private let places: [String: Int]

    /// The deepest nesting of objects and arrays.
    private static let maximumDepth = 32
    private static let maximumNumberLength = 64

    /// Reads a file: one JSON object, with or without a byte order mark. Repeated keys are an error, because tools
    /// disagree about which value counts.
    init(parsing bytes: [UInt8]) throws(TagImageError) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let root: JSONNode
        do throws(JSONReader.Problem) {
            root = try JSONReader.read(bytes, in: start..<bytes.count, maximumDepth: Self.maximumDepth)
        } catch {
            throw Self.invalid(error.reason, Self.line(of: start + error.offset, in: bytes))
        }
        guard case .object(let members) = root.content else { throw Self.invalid("an object is expected", 1) }
        self.init(bytes, members)
        try check(root)
    }

    private init(_ bytes: [UInt8], _ members: [JSONNode.Member]) {
        self.bytes = bytes
        self.members = members
        places = Dictionary(zip(members.map(\.key), members.indices)) { first, _ in first }
    }

    private static func invalid(_ reason: String, _ line: Int) -> TagImageError {
        TagImageError(.malformed, "The JSON is not valid: \(reason).", line: line)
    }

    /// Refuses repeated keys and long numbers.
    private func check(_ node: JSONNode) throws(TagImageError) {
        switch node.content {
        case .number(let text) where text.utf8.count > Self.maximumNumberLength:
            throw Self.invalid("a number has more than \(Self.maximumNumberLength) characters", line(of: node.range))
        case .array(let elements):
            for element in elements { try check(element) }
        case .object(let members):
            var places: [String: Range<Int>] = [:]
            for member in members {
                if let earlier = places.updateValue(member.keyRange, forKey: member.key) {
                    throw TagImageError(
                        .malformed,
                        "\"\(member.key)\" is already in line \(line(of: earlier)).",
                        line: line(of: member.keyRange)
                    )
                }
                try check(member.value)
            }
        default: break
        }
    }

    private func line(of range: Range<Int>) -> Int { Self.line(of: range.lowerBound, in: bytes) }

    private static func line(of offset: Int, in bytes: [UInt8]) -> Int {
        bytes[..<offset].reduce(1) { $0 + ($1 == 0x0A ? 1 : 0) }
    }

    private func value(_ key: String) -> JSONNode? { places[key].map { members[$0].value } }

    private func missing(_ key: String) -> TagImageError { TagImageError(.missingField, "\"\(key)\" is missing.") }

    static func shown(_ key: String) -> String { "\"\(key)\"" }

    func line(_ key: String) -> Int? { value(key).map { line(of: $0.range) } }

    /// Returns whether a key has a value that is not null.
    func hasValue(_ key: String) -> Bool {
        switch value(key)?.content {
        case nil, .null: false
        default: true
        }
    }

    func text(_ key: String) throws(TagImageError) -> String {
        guard let value = value(key) else { throw missing(key) }
        guard let text = value.string else { throw malformed(key, "is not a string") }
        return text
    }

    func bytes(_ key: String, count: Int? = nil) throws(TagImageError) -> [UInt8] {
        let text = try text(key)
        guard let bytes = [UInt8](hexadecimal: text.utf8) else {
            throw malformed(key, "must be pairs of hexadecimal digits")
        }
        if let count, bytes.count != count { throw malformed(key, "has \(bytes.count) bytes instead of \(count)") }
        return bytes
    }

    func number(_ key: String, in range: ClosedRange<Int>) throws(TagImageError) -> Int {
        guard let number = value(key)?.integer, range.contains(number) else {
            throw malformed(key, "is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func flag(_ key: String) throws(TagImageError) -> Bool {
        guard let flag = value(key)?.bool else { throw malformed(key, "is neither true nor false") }
        return flag
    }

    /// Returns an array of integers; if `count` is nil, of any length.
    func numbers(_ key: String, count: Int? = nil, upTo limit: Int) throws(TagImageError) -> [Int] {
        let numbers = value(key)?.array?.map { $0.integer ?? -1 }
        guard let numbers, numbers.count == count ?? numbers.count, numbers.allSatisfy({ (0...limit).contains($0) })
        else { throw malformed(key, "must be \(count.map { "\($0) " } ?? "")numbers from 0 to \(limit)") }
        return numbers
    }

    // MARK: Objects

    var keys: [String] { members.map(\.key) }

    var texts: [(key: String, keyText: [UInt8], value: [UInt8])] {
        members.map { ($0.key, Array(bytes[$0.keyRange]), Array(bytes[$0.value.range])) }
    }

    func range(_ key: String) -> Range<Int>? { value(key)?.range }

    /// Returns the members of an object; empty when the key is missing or its value is not an object.
    func object(_ key: String) -> JSONFields {
        guard case .object(let members)? = value(key)?.content else { return JSONFields(bytes, []) }
        return JSONFields(bytes, members)
    }

    /// Returns the members of an object whose values are strings.
    func strings(_ key: String) throws(TagImageError) -> [(key: String, value: String)] {
        guard value(key) != nil else { throw missing(key) }
        var strings: [(key: String, value: String)] = []
        for member in object(key).members {
            guard let text = member.value.string else {
                throw error(.malformed, key, "\"\(member.key)\" is not a string.")
            }
            strings.append((member.key, text))
        }
        guard !strings.isEmpty else { throw malformed(key, "is not an object with members") }
        return strings
    }
}
