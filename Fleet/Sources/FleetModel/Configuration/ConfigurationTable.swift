// SPDX-License-Identifier: Apache-2.0
import TOMLKit

/// A table of a configuration file. Records which keys are read, so that unknown keys can be reported.
struct ConfigurationTable {
    private let path: String
    private let members: [JSONValue.Member]
    private var readKeys: Set<String> = []

    /// Parses a TOML document.
    init(toml text: String) throws(ConfigurationError) {
        let json: String
        do {
            json = try TOMLTable(string: text).convert(to: .json)
        } catch let error as TOMLParseError {
            throw ConfigurationError("Line \(error.source.begin.line): \(error.description)")
        } catch {
            throw ConfigurationError("This is not a TOML document: \(error)")
        }
        do throws(JSONFailure) {
            self.init(try JSONValue(parsing: Array(json.utf8)), path: "")
        } catch {
            throw ConfigurationError("The configuration contains values of an unsupported type.")
        }
    }

    private init(_ value: JSONValue, path: String) {
        members = value.objectMembers ?? []
        self.path = path
    }

    private mutating func value(_ name: String) -> JSONValue? {
        readKeys.insert(name)
        return members.first { $0.name == name }?.value
    }

    private func fails(_ name: String, _ what: String) -> ConfigurationError {
        ConfigurationError("\(path)\(name) must be \(what).")
    }

    mutating func string(_ name: String) throws(ConfigurationError) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.text, !text.isEmpty else { throw fails(name, "a string that is not empty") }
        return text
    }

    /// Reads an absolute path.
    mutating func file(_ name: String) throws(ConfigurationError) -> String? {
        guard let text = try string(name) else { return nil }
        guard text.hasPrefix("/"), !text.utf8.contains(0) else { throw fails(name, "an absolute path") }
        return text
    }

    mutating func bool(_ name: String) throws(ConfigurationError) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let bool = value.bool else { throw fails(name, "true or false") }
        return bool
    }

    mutating func int(_ name: String, in range: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
        guard let value = value(name) else { return nil }
        guard let number = value.int, range.contains(number) else {
            throw fails(name, "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func strings(_ name: String) throws(ConfigurationError) -> [String]? {
        guard let value = value(name) else { return nil }
        guard let elements = value.elements else { throw fails(name, "a list of strings") }
        let texts = elements.compactMap(\.text)
        guard texts.count == elements.count else { throw fails(name, "a list of strings") }
        return texts
    }

    /// Reads a table of strings, keyed by name.
    mutating func map(_ name: String) throws(ConfigurationError) -> [String: String] {
        guard let value = value(name) else { return [:] }
        var map: [String: String] = [:]
        for member in value.objectMembers ?? [] { map[member.name] = member.value.text }
        guard let count = value.objectMembers?.count, count == map.count else {
            throw fails(name, "a table of strings")
        }
        return map
    }

    mutating func name(_ name: String) throws(ConfigurationError) -> FleetName? {
        guard let value = value(name) else { return nil }
        guard let result = value.text.flatMap(FleetName.init) else {
            throw fails(name, "a string of 1 to 64 ASCII letters, digits, - and _")
        }
        return result
    }

    /// Reads a table. A missing table counts as empty.
    mutating func table<Value>(
        _ name: String,
        _ read: (inout ConfigurationTable) throws(ConfigurationError) -> Value
    ) throws(ConfigurationError) -> Value {
        let value = value(name)
        guard value == nil || value?.objectMembers != nil else { throw fails(name, "a table") }
        var table = ConfigurationTable(value ?? .object([]), path: "\(path)\(name).")
        let result = try read(&table)
        try table.finish()
        return result
    }

    /// Reads an array of tables.
    mutating func tables<Value>(
        _ name: String,
        _ read: (inout ConfigurationTable) throws(ConfigurationError) -> Value
    ) throws(ConfigurationError) -> [Value] {
        guard let value = value(name) else { return [] }
        guard let elements = value.elements else { throw fails(name, "a list of tables, written as [[\(name)]]") }
        var results: [Value] = []
        for element in elements {
            guard element.objectMembers != nil else { throw fails(name, "a list of tables, written as [[\(name)]]") }
            var table = ConfigurationTable(element, path: "\(path)\(name).")
            results.append(try read(&table))
            try table.finish()
        }
        return results
    }

    /// Throws if the table contains an unknown key.
    func finish() throws(ConfigurationError) {
        for member in members where !readKeys.contains(member.name) {
            throw ConfigurationError("The key \(path)\(member.name) is unknown. Remove it, or check its spelling.")
        }
    }
}
