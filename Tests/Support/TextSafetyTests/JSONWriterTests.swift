// SPDX-License-Identifier: Apache-2.0
import Testing
import TextSafety

@Suite struct `Writing JSON` {
    private func text(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.text, as: UTF8.self)
    }

    @Test func `JSON writer: every kind of value is read again as it was written`() throws {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("a\u{202E}", "\"\\\n\u{FE0F}\u{1F600}")
        writer.key("\u{E9}\"")
        writer.beginArray()
        writer.value(-12)
        writer.value(2.5)
        writer.value(true)
        writer.value(nil as String?)
        writer.beginArray()
        writer.endArray()
        writer.hex([0xAB, 0x01])
        writer.endArray()
        writer.endObject()
        guard case .object(let members) = try JSONReader.read(writer.text, maximumDepth: 3).content else {
            return #expect(Bool(false))
        }
        #expect(members[0].value.string == "\"\\\n\u{FE0F}\u{1F600}")
        #expect(members[1].key == "\u{E9}\"")
        let elements = try #require(members[1].value.array)
        #expect(elements[0].integer == -12 && elements[2].bool == true && elements[5].string == "ab01")
        if case .number(let number) = elements[1].content { #expect(number == "2.5") } else { #expect(Bool(false)) }
        if case .null = elements[3].content {} else { #expect(Bool(false)) }
        #expect(elements[4].array?.isEmpty == true)
    }

    @Test func `JSON writer: infinity and NaN are null`() {
        #expect(text { $0.value(Double.infinity) } == "null" && text { $0.value(Double.nan) } == "null")
        #expect(text { $0.value(1.0) } == "1.0" && text { $0.value(-0.1) } == "-0.1")
    }

    @Test(arguments: [0, 9, 10, 11, -1, -9, Int.min, Int.max])
    func `JSON writer: integers from Int.min to Int.max are written in decimal`(number: Int) {
        #expect(text { $0.value(number) } == "\(number)")
    }

    @Test func `JSON writer: bytes are hexadecimal digits, also those of a slice`() {
        let bytes: [UInt8] = [0xAB, 0x01, 0xF0]
        let object = text {
            $0.beginObject()
            $0.member("a", hex: bytes)
            $0.member("b", hex: bytes[1...])
            $0.member("c", hex: bytes[3...])
            $0.endObject()
        }
        #expect(object == #"{"a":"ab01f0","b":"01f0","c":""}"#)
    }

    @Test func `JSON writer: flags are true, false or null`() {
        let object = text {
            $0.beginObject()
            $0.member("a", true)
            $0.member("b", nil as Bool?)
            $0.member("c", false)
            $0.member("d", false as Bool?)
            $0.member("e", true as Bool?)
            $0.endObject()
        }
        #expect(object == #"{"a":true,"b":null,"c":false,"d":false,"e":true}"#)
    }

    @Test func `JSON writer: embedded JSON stays on its line, with commas around it`() {
        let line = text {
            $0.beginObject()
            $0.key("a")
            $0.value(json: "{\"b\":\n\"\u{202E}\"}")
            $0.member("c", 1)
            $0.endObject()
            $0.newLine()
            $0.value("d")
        }
        #expect(line == #"{"a":{"b": "\u202e"},"c":1}"# + "\n\"d\"")
    }

    @Test(arguments: [(["a\n", "b"], #"["a\u000a","b"]"#), ([], "[]"), (nil, "null")] as [([String]?, String)])
    func `JSON writer: a list of strings is an array, a missing list is null`(values: [String]?, expected: String) {
        #expect(text { $0.values(values) } == expected)
        let member = text {
            $0.beginObject()
            $0.key("a")
            $0.values(values)
            $0.member("b", 1)
            $0.endObject()
        }
        #expect(member == #"{"a":\#(expected),"b":1}"#)
    }
}
