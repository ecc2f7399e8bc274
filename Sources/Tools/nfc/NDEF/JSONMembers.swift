// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// The members of a JSON object, read by key and type. If a key occurs twice, the last value counts. Errors name the record
/// and the key.
struct JSONMembers {
    let members: [String: JSONNode.Content]
    /// The index of the record that contains the object.
    let record: Int

    init(_ value: JSONNode.Content, record: Int) throws(InputError) {
        guard case .object(let members) = value else {
            throw InputError(name: "bad-record", offset: record, message: "Record \(record) is not an object.")
        }
        self.members = Dictionary(members.map { ($0.key, $0.value.content) }) { _, last in last }
        self.record = record
    }

    /// Whether the object has the member, and it isn't null.
    func has(_ key: String) -> Bool {
        switch members[key] {
        case nil, .null: false
        default: true
        }
    }

    func error(_ key: String, _ what: String) -> InputError {
        InputError(name: "bad-record", offset: record, message: "In record \(record), '\(key)' \(what).")
    }

    func string(_ key: String) throws(InputError) -> String {
        guard let text = try optionalString(key) else { throw error(key, "is missing") }
        return text
    }

    func optionalString(_ key: String) throws(InputError) -> String? {
        switch members[key] {
        case nil, .null: return nil
        case .string(let utf8): return String(decoding: utf8, as: UTF8.self)
        default: throw error(key, "must be a string")
        }
    }

    func number<Number: FixedWidthInteger>(_ key: String, _ type: Number.Type) throws(InputError) -> Number {
        guard let number = try optionalNumber(key, type) else { throw error(key, "is missing") }
        return number
    }

    func optionalNumber<Number: FixedWidthInteger>(
        _ key: String,
        _ type: Number.Type
    ) throws(InputError) -> Number? {
        switch members[key] {
        case nil, .null: return nil
        case .number(let text):
            // 2.0 and 1e2 are whole numbers too.
            guard let number = Double(text).flatMap(Number.init(exactly:)) else {
                throw error(key, "must be a whole number of \(Number.min) to \(Number.max)")
            }
            return number
        default: throw error(key, "must be a number")
        }
    }

    func bool(_ key: String) throws(InputError) -> Bool {
        switch members[key] {
        case nil, .null: return false
        case .bool(let value): return value
        default: throw error(key, "must be true or false")
        }
    }

    /// Bytes in hex; empty when the member is missing.
    func hex(_ key: String) throws(InputError) -> [UInt8] {
        switch members[key] {
        case nil, .null: return []
        case .string(let utf8): return try bytes(utf8, key)
        default: throw error(key, "must be a string")
        }
    }

    func bytes(_ text: String, _ key: String) throws(InputError) -> [UInt8] { try bytes(Array(text.utf8), key) }

    private func bytes(_ utf8: [UInt8], _ key: String) throws(InputError) -> [UInt8] {
        switch HexText.bytes(utf8[...]) {
        case .success(let bytes): return bytes
        case .failure: throw error(key, "must be hex, two digits per byte")
        }
    }

    func array(_ key: String) throws(InputError) -> [JSONNode.Content] {
        switch members[key] {
        case nil, .null: return []
        case .array(let elements): return elements.map(\.content)
        default: throw error(key, "must be an array")
        }
    }

    func strings(_ key: String) throws(InputError) -> [String] {
        var strings: [String] = []
        for value in try array(key) {
            guard case .string(let utf8) = value else { throw error(key, "must be an array of strings") }
            strings.append(String(decoding: utf8, as: UTF8.self))
        }
        return strings
    }

    /// The objects of an array.
    ///
    /// - Parameters:
    ///   - key: the array's key.
    ///   - known: the keys that the objects can have.
    func objects(_ key: String, of known: [String]) throws(InputError) -> [JSONMembers] {
        var objects: [JSONMembers] = []
        for value in try array(key) {
            guard case .object = value else { throw error(key, "must be an array of objects") }
            let object = try JSONMembers(value, record: record)
            try object.check(known)
            objects.append(object)
        }
        return objects
    }

    /// Refuses a member that nothing reads, because its content would be lost.
    ///
    /// - Parameter known: the keys that the object can have.
    func check(_ known: [String]) throws(InputError) {
        guard let key = members.keys.filter({ has($0) && !known.contains($0) }).min() else { return }
        throw error(key, "is unknown here; known are \(known.joined(separator: ", "))")
    }
}
