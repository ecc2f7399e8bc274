// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import Testing

/// A baseline is a JSON file, and says where it is wrong.
@Suite struct JSONFileTests {
    private func error(_ text: String) -> FormatError? {
        do throws(FormatError) {
            _ = try Baseline(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test func `Malformed JSON: the reason, with line and column`() {
        let missing = error("{\"findings\": [\n  x]}")
        #expect(missing?.reason == "The JSON is not valid: no JSON value starts here.")
        #expect(missing?.position == Position(line: 2, column: 3))
        #expect(error("\u{FEFF}{\n}\n}")?.position == Position(line: 3, column: 1))
        #expect(error("[1,]")?.position == Position(line: 1, column: 4))
    }

    @Test func `Baseline with a wrong value: the error has line and column, also after a byte order mark`() {
        let text = "\u{FEFF}{\"version\": [1,\n2], \"findings\": [\n\n {\"id\": \"X\"}]}"
        #expect(error(text)?.reason == "A finding has no id, file or line.")
        #expect(error(text)?.position == Position(line: 4, column: 2))
        #expect(error("{\"findings\": [{\"id\": \"\\u0041\", \"file\": \"b\", \"line\": \"c\", \"count\": 2}]}") == nil)
    }

    @Test func `JSON file: values nested up to a limit are read`() {
        func nested(_ depth: Int) -> String {
            let inner = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
            return "{\"findings\": [], \"more\": \(inner)}"
        }
        #expect(error(nested(128)) == nil)
        #expect(error(nested(129))?.reason == "The JSON is not valid: the values are nested too deeply.")
    }
}
