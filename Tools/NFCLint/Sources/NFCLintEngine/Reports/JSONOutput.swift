// SPDX-License-Identifier: Apache-2.0
import TextSafety

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
        var writer = JSONWriter()
        write(value, to: &writer)
        return String(decoding: writer.text, as: UTF8.self)
    }

    private static func write(_ value: Value, to writer: inout JSONWriter) {
        switch value {
        case .text(let text): writer.value(text)
        case .number(let number): writer.value(number)
        case .boolean(let flag): writer.value(flag)
        case .null: writer.value(nil as String?)
        case .list(let values):
            writer.beginArray()
            for value in values { write(value, to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for (key, value) in members {
                writer.key(key)
                write(value, to: &writer)
            }
            writer.endObject()
        }
    }
}
