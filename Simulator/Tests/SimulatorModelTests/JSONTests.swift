// SPDX-License-Identifier: Apache-2.0
import SimulatorModel
import Testing

@Suite struct JSONTests {
    @Test(
        "JSON: each kind of value is the same after writing and parsing",
        arguments: [
            JSON.null, true, -12, 1.5, "text \"quoted\" \\ \n \u{0} \u{1F600} ü", [1, [2], []],
            ["a": ["b": nil], "": "x"],
        ]
    )
    func roundTrip(_ value: JSON) throws {
        #expect(try JSON(parsing: value.bytes) == value)
    }

    @Test("JSON text: invisible characters are escaped")
    func escapes() {
        #expect(JSON.string("a\u{202E}b\u{1B}").text == "\"a\\u202eb\\u001b\"")
    }

    @Test("JSON cut at any byte: refused")
    func truncated() {
        let text = Array(#"{"a":[1,-2.5e3,"x\u00e9\ud83d\ude00",true,null],"b":{}}"#.utf8)
        for count in 0..<text.count {
            #expect(throws: JSON.Problem.self) { try JSON(parsing: text[..<count]) }
        }
    }

    @Test(
        "Malformed JSON: refused",
        arguments: ["", "01", "1.", "+1", "\"\\ud800\"", "\"\u{1}\"", "{a:1}", "[1,]", "{} {}", "nul", "1e999", "'x'"]
    )
    func malformed(_ text: String) {
        #expect(throws: JSON.Problem.self) { try JSON(parsing: text) }
    }

    @Test("JSON: values are parsed up to a limit of nesting, and refused beyond", arguments: ["[", "{\"a\":"])
    func nesting(_ begin: String) throws {
        let end = begin == "[" ? "]" : "}"
        func nested(_ depth: Int) -> String {
            String(repeating: begin, count: depth) + "1" + String(repeating: end, count: depth)
        }
        _ = try JSON(parsing: nested(JSON.maximumDepth))
        let problem = #expect(throws: JSON.Problem.self) { try JSON(parsing: nested(JSON.maximumDepth + 1)) }
        #expect(problem?.reason == "The values are nested too deeply.")
        #expect(problem?.offset == JSON.maximumDepth * begin.utf8.count)
    }

    @Test("JSON: a text with more values than the limit is refused")
    func count() throws {
        func list(_ count: Int) -> String { "[" + Array(repeating: "0", count: count).joined(separator: ",") + "]" }
        #expect(try JSON(parsing: list(Limits.values - 1)).array?.count == Limits.values - 1)
        let problem = #expect(throws: JSON.Problem.self) { try JSON(parsing: list(Limits.values)) }
        #expect(problem?.reason == "There are too many values.")
    }

    @Test("JSON: the last of two equal keys wins, integers are exact, and errors have a reason and an offset")
    func details() throws {
        #expect(
            try JSON(parsing: #"{"a":1,"b":2.0,"a":9007199254740993}"#) == ["a": .int(9_007_199_254_740_993), "b": 2.0]
        )
        let problem = #expect(throws: JSON.Problem.self) { try JSON(parsing: #"{"a" 1}"#) }
        #expect(problem?.reason == "A colon is missing after the key." && problem?.offset == 5)
        let large = #expect(throws: JSON.Problem.self) { try JSON(parsing: "[1e999]") }
        #expect(large?.reason == "The number is too large." && large?.offset == 6)
    }

    @Test("JSON that is not UTF-8: refused")
    func notUTF8() {
        #expect(throws: JSON.Problem.self) { try JSON(parsing: [0x22, 0xFF, 0x22]) }
    }
}
