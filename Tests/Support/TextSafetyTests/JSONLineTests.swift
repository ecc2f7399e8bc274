// SPDX-License-Identifier: Apache-2.0
import Testing
import TextSafety

@Suite("A line with an object")
struct JSONLineTests {
    private func line(_ text: String, allowsNull: Bool = false) throws(JSONLine.Failure) -> JSONLine {
        let bytes = Array(text.utf8)
        return try JSONLine(bytes, 0..<bytes.count, allowsNull: allowsNull)
    }

    @Test("JSON line: each value is read as its own type only")
    func kinds() throws {
        let line = try line(#"{"s":"é","n":-7,"b":false,"l":["a","b"],"e":[]}"#)
        #expect(["s", "n", "b", "l", "x"].map { line.string($0) } == ["é", nil, nil, nil, nil])
        #expect(["s", "n", "b", "l", "x"].map { line.number($0) } == [nil, -7, nil, nil, nil])
        #expect(["s", "n", "b", "l", "x"].map { line.bool($0) } == [nil, nil, false, nil, nil])
        #expect(["s", "n", "b", "l", "x"].map { line.strings($0) } == [nil, nil, nil, ["a", "b"], nil])
        #expect(line.strings("e") == [])
        #expect(line["s"] != nil && line["e"] != nil && line["x"] == nil)
    }

    @Test("JSON line: null counts as a missing member where it is allowed, and is refused elsewhere")
    func null() throws {
        let line = try line(#"{"a":null,"b":1}"#, allowsNull: true)
        #expect(line["a"] == nil && line.string("a") == nil && line.strings("a") == nil)
        #expect(line.number("b") == 1)
        let error = #expect(throws: JSONLine.Failure.self) { try self.line(#"{"a":null}"#) }
        #expect(error?.reason == #""a" has a value of the wrong type."#)
        // It counts as a value of the key all the same, and no list has one.
        for text in [#"{"a":null,"a":1}"#, #"{"a":[null]}"#] {
            #expect(throws: JSONLine.Failure.self) { try self.line(text, allowsNull: true) }
        }
    }

    @Test("JSON line: an error shows an untrusted key with its invisible characters escaped")
    func keys() {
        for (text, reason) in [
            ("{\"a\":1.5}", "\"a\" has a value of the wrong type."),
            ("{\"\u{202E}a\":1,\"b\":0,\"\u{202E}a\":2}", "\"\\u{202e}a\" occurs twice."),
            ("{\"\\u001b\":{}}", "\"\\u{1b}\" has a value of the wrong type."),
        ] {
            let error = #expect(throws: JSONLine.Failure.self) { try line(text) }
            #expect(error?.reason == reason)
        }
    }
}
