// SPDX-License-Identifier: Apache-2.0
import TextSafety

extension ConfigValue {
    /// Parses JSON and records the position of each value. Skips a byte order mark at the start.
    ///
    /// - Throws: ``FormatError`` with the line, if the text is not one JSON value or is nested too deeply.
    static func json(_ bytes: [UInt8]) throws(FormatError) -> ConfigValue {
        var cursor = ByteCursor(bytes)
        let start = cursor.offset
        do throws(JSONReader.Problem) {
            let range = start..<bytes.count
            return ConfigValue(try JSONReader.read(bytes, in: range, maximumDepth: ByteCursor.deepest), &cursor)
        } catch {
            cursor.advance(error.offset)
            throw cursor.error("The JSON is not valid: \(error.reason).")
        }
    }

    /// - Parameter cursor: a position before the value. Only moves forward, because values are visited in order.
    private init(_ node: JSONNode, _ cursor: inout ByteCursor) {
        cursor.advance(node.range.lowerBound - cursor.offset)
        let position = cursor.position
        let content: Content
        switch node.content {
        case .null: content = .other("null")
        case .bool(let value): content = .boolean(value)
        case .number(let text): content = .number(text)
        case .string(let utf8): content = .string(String(decoding: utf8, as: UTF8.self))
        case .array(let elements):
            var values: [ConfigValue] = []
            for element in elements { values.append(ConfigValue(element, &cursor)) }
            content = .array(values)
        case .object(let members):
            var entries: [Entry] = []
            for member in members {
                cursor.advance(member.keyRange.lowerBound - cursor.offset)
                let (position, offset) = (cursor.position, cursor.offset)
                let value = ConfigValue(member.value, &cursor)
                entries.append(Entry(key: member.key, position: position, offset: offset, value: value))
            }
            content = .dictionary(entries)
        }
        self.init(content, position, range: node.range)
    }
}
