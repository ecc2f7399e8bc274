// SPDX-License-Identifier: Apache-2.0
import Planting
import Testing

@Suite("What literals become")
struct LiteralTests {
    @Test(
        "A number becomes one beside it, a mask loses its lowest bit, and both fit into the same type",
        arguments: [
            ("0", "1"), ("1", "2"), ("2", "1"), ("16", "15"), ("17", "18"), ("255", "254"), ("65_535", "65534"),
            ("-1", "0"),
            ("0x80", "0x00"), ("0xFF", "0xFE"), ("0x0F", "0x0E"), ("0x00", "0x01"), ("0b101", "0b100"),
        ]
    )
    func numbers(text: String, expected: String) {
        #expect(mutants(.literal, in: "x = \(text)") == ["\(text) → \(expected)"])
    }

    @Test("Truth is turned round, but not that of an endless loop")
    func truth() {
        #expect(mutants(.literal, in: "x = true; f(false)") == ["true → false", "false → true"])
        #expect(mutants(.literal, in: "while true { g() }").isEmpty)
    }

    @Test("A set of options loses its last")
    func options() {
        #expect(mutants(.element, in: "x = [.a, .b]") == ["[.a, .b] → [.a]"])
        #expect(mutants(.element, in: "x = [a, b]; y = [.a]").isEmpty)
    }

    @Test(
        "Patterns, raw values, defaults, attributes, macros, text and conditions of the compiler stay",
        arguments: [
            "enum E: Int { case a = 1, b = 2 }", "func f(x: Int = 1) {}", "@available(macOS 15, *) func f() {}",
            "let x = #expect(1 == 2)", #"let x = "\(1 + 2)""#, "#if swift(>=6)\n#endif",
            "@inlinable public func f() -> Int { 1 + 2 }", "func f() { switch x { case 1: break; default: break } }",
        ]
    )
    func nothing(source: String) {
        #expect(SourcePlaces(source: source).places == [])
    }

    @Test("What is in a branch of #if is planted")
    func conditional() {
        #expect(SourcePlaces(source: "#if DEBUG\nlet x = 1\n#endif\n").places.map(\.line) == [2])
    }
}
