// SPDX-License-Identifier: Apache-2.0
import TextSafety

extension JSONValue {
    /// The value as one line of UTF-8. Invisible characters are escaped, so that terminals can show the line.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.text.reserveCapacity(512)
        write(to: &writer)
        return writer.text
    }

    /// The value as one line of text.
    package var line: String { String(decoding: bytes, as: UTF8.self) }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.value(nil as String?)
        case .bool(let value): writer.value(value)
        case .integer(let number): writer.value(number)
        case .number(let number): writer.value(number)
        case .string(let text): writer.value(text)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.key(member.name)
                member.value.write(to: &writer)
            }
            writer.endObject()
        }
    }
}
