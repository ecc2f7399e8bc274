// SPDX-License-Identifier: Apache-2.0

/// Writes JSON (RFC 8259) on one line, keys in the order in which they are given.
package enum JSONLine {
    /// A value.
    package enum Value: Sendable {
        case string(String)
        case number(Int64)
        case bool(Bool)
        case null
        case array([Value])
        case object([(String, Value)])

        package static func number(_ value: Int) -> Value { .number(Int64(value)) }
    }

    /// The text of a value, without a line feed.
    package static func text(_ value: Value) -> String {
        var result = ""
        append(value, to: &result)
        return result
    }

    private static func append(_ value: Value, to result: inout String) {
        switch value {
        case .string(let string): append(string, to: &result)
        case .number(let number): result += String(number)
        case .bool(let bool): result += bool ? "true" : "false"
        case .null: result += "null"
        case .array(let values):
            result += "["
            for (index, value) in values.enumerated() {
                if index > 0 { result += "," }
                append(value, to: &result)
            }
            result += "]"
        case .object(let members):
            result += "{"
            for (index, (key, value)) in members.enumerated() {
                if index > 0 { result += "," }
                append(key, to: &result)
                result += ":"
                append(value, to: &result)
            }
            result += "}"
        }
    }

    private static func append(_ string: String, to result: inout String) {
        result += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where needsEscape(scalar.value):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        result += "\""
    }

    /// Controls, and the two separators that end a line for some readers.
    private static func needsEscape(_ value: UInt32) -> Bool {
        value < 0x20 || (0x7F...0x9F).contains(value) || value == 0x2028 || value == 0x2029
    }
}
