// SPDX-License-Identifier: Apache-2.0
import TextSafety

extension JSON {
    /// The value on one line, with object members sorted by name. Invisible characters in strings are escaped, so that
    /// text from a tag can't change how the line looks.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The UTF-8 bytes of ``text``.
    public var bytes: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.text
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.value(nil as String?)
        case .bool(let flag): writer.value(flag)
        case .int(let number): writer.value(number)
        case .double(let number): writer.value(number)
        case .string(let text): writer.value(text)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                writer.key(name)
                value.write(to: &writer)
            }
            writer.endObject()
        }
    }
}
