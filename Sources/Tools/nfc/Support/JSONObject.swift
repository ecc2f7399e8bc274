// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// A value in a command's JSON output.
protocol JSONValue {
    func write(to writer: inout JSONWriter)
}

extension Bool: JSONValue {
    func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Int: JSONValue {
    func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension String: JSONValue {
    func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Array: JSONValue where Element: JSONValue {
    func write(to writer: inout JSONWriter) {
        writer.beginArray()
        for element in self { element.write(to: &writer) }
        writer.endArray()
    }
}

/// A JSON object that preserves the order of its members. Nil is written as `null`.
struct JSONObject: JSONValue, ExpressibleByDictionaryLiteral {
    private var members: [(key: String, value: (any JSONValue)?)]

    init(dictionaryLiteral members: (String, (any JSONValue)?)...) {
        self.members = members.map { (key: $0.0, value: $0.1) }
    }

    mutating func append(_ key: String, _ value: (any JSONValue)?) { members.append((key, value)) }

    static func + (first: JSONObject, second: JSONObject) -> JSONObject {
        var object = first
        object.members += second.members
        return object
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
    }

    func writeMembers(to writer: inout JSONWriter) {
        for (key, value) in members {
            writer.key(key)
            if let value { value.write(to: &writer) } else { writer.value(nil as String?) }
        }
    }

    /// The object as one line, including the line end.
    var line: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        writer.newLine()
        return writer.text
    }

    func print() { StandardOutput.write(line) }
}

/// Prints a result, as JSON or as lines for people. The lines go to standard error if the image `out` goes to standard
/// output.
func printResult(
    json: Bool,
    beside out: String? = nil,
    _ object: @autoclosure () -> JSONObject,
    _ lines: @autoclosure () -> [String]
) {
    guard !json else { return object().print() }
    for line in lines() { printLine(line, beside: out) }
}
