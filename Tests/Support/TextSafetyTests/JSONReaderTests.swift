// SPDX-License-Identifier: Apache-2.0
import Testing
import TextSafety

@Suite struct `Reading JSON` {
    @Test(
        arguments: [
            ([0x00], "the text is not UTF-8"), ([0x01], "no JSON value starts"), ([0x7F], "no JSON value starts"),
            ([0x80], "the text is not UTF-8"), ([0xFF], "the text is not UTF-8"), ([0x78], "no JSON value starts"),
            (Array("tru".utf8), "no JSON value starts"), (Array("-".utf8), "the number is not valid JSON"),
            (Array("01".utf8), "the number is not valid JSON"),
            (Array("1.".utf8), "the number is not valid JSON"),
            (Array("1e".utf8), "the number is not valid JSON"), (Array("1 2".utf8), "there is extra text"),
            (Array("-01".utf8), "the number is not valid JSON"),
            (Array(#""\u+041""#.utf8), "the escape is not valid JSON"),
            (Array(#""\u-000""#.utf8), "the escape is not valid JSON"),
            (Array(#""\ud800""#.utf8), "the escape is half of a surrogate pair"),
            (Array(#""\x""#.utf8), "the escape is not valid JSON"),
            ([0x22, 0x1F, 0x22], "a string has a control character"), ([0x22, 0xC3, 0x22], "the text is not UTF-8"),
            (Array(#""a"#.utf8), "a string does not end"), (Array(#""a\"#.utf8), "a string does not end"),
            (Array("{1:2}".utf8), "a key in quotes"), (Array(#"{"a" 1}"#.utf8), "a colon is missing"),
            (Array(#"{"a":1"#.utf8), "the JSON ends too early"), (Array(#"{"a":1]"#.utf8), "a comma or } is missing"),
            (Array("[1}".utf8), "a comma or ] is missing"), ([], "the JSON ends too early"),
        ] as [([UInt8], String)]
    )
    func `JSON reader: malformed text is refused with its reason`(_ bytes: [UInt8], _ reason: String) {
        do throws(JSONReader.Problem) {
            _ = try JSONReader.read(bytes, maximumDepth: 2)
            Issue.record("it is read")
        } catch {
            #expect(error.reason.hasPrefix(reason))
            #expect((0...bytes.count).contains(error.offset))
        }
    }

    @Test("JSON reader: an error's offset is the first invalid character, or the quote of invalid UTF-8")
    func places() {
        let cases: [([UInt8], Int)] = [
            (Array("-01".utf8), 3), (Array("[1.]".utf8), 3), (Array("[1e+]".utf8), 4), (Array("[-]".utf8), 1),
            (Array("[1, ".utf8) + [0x22, 0xC3, 0x22, 0x5D], 4),
            (Array("[\"".utf8) + [0xC3] + Array("\\n\"]".utf8), 1),
            (Array("[\"\\n".utf8) + [0xC3] + Array("\"]".utf8), 1),
        ]
        for (bytes, offset) in cases {
            let error = #expect(throws: JSONReader.Problem.self) { try JSONReader.read(bytes, maximumDepth: 1) }
            #expect(error?.offset == offset, "\(bytes)")
        }
    }

    @Test func `JSON reader: each escape is read as its character, and half a surrogate pair is refused`() throws {
        let text = #""\"\\\/\b\f\n\r\t\u0041\u00e9\ud83c\udf89\u001f""#
        let content = try JSONReader.read(Array(text.utf8), maximumDepth: 0)
        #expect(content.string == "\"\\/\u{8}\u{c}\n\r\tA\u{e9}\u{1f389}\u{1f}")
        // The first and the last pair.
        let pairs = try JSONReader.read(Array(#""\ud800\udc00\udbff\udfff""#.utf8), maximumDepth: 0)
        #expect(pairs.string == "\u{10000}\u{10FFFF}")
        // A low surrogate behind a high one alone.
        for half in [#""\ud83c\u0041""#, #""\ud800\udbff""#, #""\ud800\ue000""#, #""\udf89""#] {
            #expect(throws: JSONReader.Problem.self) { try JSONReader.read(Array(half.utf8), maximumDepth: 0) }
        }
    }

    @Test func `JSON reader: each value has its range in the text, and repeated keys are kept`() throws {
        let text = Array(#" {"a" : [1, -2.50e+3], "\u0061":{"b":null} } "#.utf8)
        let node = try JSONReader.read(text, maximumDepth: 2)
        func part(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }
        guard case .object(let members) = node.content else { return #expect(Bool(false)) }
        #expect(members.map(\.key) == ["a", "a"])
        #expect(members.map { part($0.keyRange) } == [#""a""#, #""\u0061""#])
        #expect(members.map { part($0.value.range) } == ["[1, -2.50e+3]", #"{"b":null}"#])
        #expect(members[0].value.array?.map(\.integer) == [1, nil])
        #expect(members[0].value.array.map { $0.map { part($0.range) } } == ["1", "-2.50e+3"])
    }

    @Test func `JSON reader: a text with more values than the limit is refused`() throws {
        let text = Array(#"{"a":[0,{}],"b":null}"#.utf8)
        #expect(throws: Never.self) { try JSONReader.read(text, maximumDepth: 9, maximumCount: 5) }
        for count in 0..<5 {
            #expect(throws: JSONReader.Problem.self) { try JSONReader.read(text, maximumDepth: 9, maximumCount: count) }
        }
    }

    @Test func `JSON reader: each digit is part of a number`() throws {
        #expect(try JSONReader.read(Array("1234567890".utf8), maximumDepth: 0).integer == 1_234_567_890)
    }

    @Test func `JSON reader: only the given range is read, and offsets count from its start`() throws {
        let text = Array(#"xx"a\"#.utf8) + Array(#"n"]"#.utf8)
        #expect(try JSONReader.read(text, in: 2..<7, maximumDepth: 0).string == "a\n")
        for end in 2..<7 {
            let error = #expect(throws: JSONReader.Problem.self) {
                try JSONReader.read(text, in: 2..<end, maximumDepth: 0)
            }
            #expect(error?.offset == end - 2)
        }
    }

    @Test(arguments: ["[", "{\"a\":"]) func `JSON reader: values nested deeper than the limit are refused`(
        _ begin: String
    ) throws {
        let end = begin == "[" ? "]" : "}"
        func nested(_ depth: Int) -> [UInt8] {
            let inner = depth == 0 ? "" : "1"
            return Array((String(repeating: begin, count: depth) + inner + String(repeating: end, count: depth)).utf8)
        }
        _ = try JSONReader.read(nested(5), maximumDepth: 5)
        let error = #expect(throws: JSONReader.Problem.self) { try JSONReader.read(nested(6), maximumDepth: 5) }
        #expect(error?.reason == "the values are nested too deeply" && error?.offset == 5 * begin.utf8.count)
    }
}
