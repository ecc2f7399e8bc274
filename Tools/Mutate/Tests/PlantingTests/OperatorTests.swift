// SPDX-License-Identifier: Apache-2.0
import Planting
import Testing

@Suite("What operators become")
struct OperatorTests {
    @Test(
        "A comparison moves by one, or is turned round",
        arguments: [
            ("x = a < b", "a < b → a <= b"), ("x = a <= b", "a <= b → a < b"), ("x = a > b", "a > b → a >= b"),
            ("x = a >= b", "a >= b → a > b"), ("x = a == b", "a == b → a != b"), ("x = a !== b", "a !== b → a === b"),
        ]
    )
    func comparison(body: String, expected: String) {
        #expect(mutants(.comparison, in: body) == [expected])
    }

    @Test(
        "Arithmetic and bits",
        arguments: [
            (Place.Kind.arithmetic, "x = a + b", "a + b → a - b"), (.arithmetic, "x = a &- b", "a &- b → a &+ b"),
            (.bits, "x = a << b", "a << b → a >> b"), (.bits, "x = a & b", "a & b → a | b"),
            (.bits, "x = ~a", "~a → a"),
            (.logic, "x = a && b", "a && b → a || b"), (.fallback, "x = a ?? b", "a ?? b → b"),
            (.arithmetic, "a += b", "a += b → a -= b"), (.bits, "a.x |= b", "a.x |= b → a.x &= b"),
            (.range, "x = a..<b", "b → a..<(b) - 1"), (.range, "x = a...b.c", "b.c → a...(b.c) - 1"),
        ]
    )
    func operators(kind: Place.Kind, body: String, expected: String) {
        #expect(mutants(kind, in: body) == [expected])
    }

    @Test("An order for sorting stays")
    func sorting() {
        #expect(mutants(.comparison, in: "x = a.sorted { $0.b < $1.b }").isEmpty)
    }

    @Test("What joins text or lists stays")
    func joins() {
        #expect(mutants(.arithmetic, in: #"x = "a" + b; y = b + [1]; y += [2]; z = a + b + "c""#).isEmpty)
    }

    @Test("The operands of an operator are those of its precedence")
    func precedence() {
        #expect(mutants(.arithmetic, in: "x = a + b * c") == ["a + b * c → a - b * c", "b * c → b + c"])
        #expect(mutants(.logic, in: "x = a || b && c") == ["a || b && c → a && (b && c)", "b && c → b || c"])
    }

    @Test("Both operators of logic keep their operands together")
    func groups() throws {
        let source = "let x = a && b || c\n"
        let place = try #require(SourcePlaces(source: source).places.first { $0.after == "(a && b) && c" })
        #expect(planted(place, in: source) == "let x = (__mutantIsOn(7) ? ((a && b) && c) : (a && b || c))\n")
    }
}
