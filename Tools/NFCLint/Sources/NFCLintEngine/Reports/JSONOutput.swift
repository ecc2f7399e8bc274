// SPDX-License-Identifier: Apache-2.0

/// Writes JSON on one line.
enum JSONOutput {
    indirect enum Value {
        case text(String)
        case number(Int)
        case boolean(Bool)
        case null
        case list([Value])
        case object([(String, Value)])
    }

    static func line(_ value: Value) -> String {
        var output = ""
        write(value, to: &output)
        return output
    }

    private static func write(_ value: Value, to output: inout String) {
        switch value {
        case .text(let text): write(text, to: &output)
        case .number(let number): output += "\(number)"
        case .boolean(let flag): output += flag ? "true" : "false"
        case .null: output += "null"
        case .list(let values):
            output += "["
            for (index, value) in values.enumerated() {
                if index > 0 { output += "," }
                write(value, to: &output)
            }
            output += "]"
        case .object(let members):
            output += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { output += "," }
                write(member.0, to: &output)
                output += ":"
                write(member.1, to: &output)
            }
            output += "}"
        }
    }

    private static func write(_ text: String, to output: inout String) {
        output += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": output += "\\\""
            case "\\": output += "\\\\"
            case "\n": output += "\\n"
            default:
                // Invisible characters are escaped.
                let isHidden =
                    scalar.properties.generalCategory == .format || scalar.value < 0x20
                    || (0x7F...0x9F).contains(scalar.value)
                if isHidden, scalar.value < 0x10000 {
                    let digits = String(scalar.value, radix: 16)
                    output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    output.unicodeScalars.append(scalar)
                }
            }
        }
        output += "\""
    }
}
