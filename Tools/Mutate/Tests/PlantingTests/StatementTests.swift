// SPDX-License-Identifier: Apache-2.0
import Planting
import Testing

@Suite("What statements become")
struct StatementTests {
    @Test("A call, an assignment, and a call whose result is not used are left out")
    func dropped() {
        #expect(
            mutants(.statement, in: "try await a.b()\nx = 1\n_ = c()\nfatalError()") == [
                "try await a.b() → ", "x = 1 → ", "_ = c() → ",
            ]
        )
    }

    @Test("What concerns other tasks is a kind of its own", arguments: ["lock()", "a.notifyAll()", "task.cancel()"])
    func synchronization(call: String) {
        #expect(mutants(.synchronization, in: "a = b\n\(call)").first == "\(call) → ")
        #expect(mutants(.statement, in: call).isEmpty)
    }

    @Test("A lone expression that is returned, and first values in an initializer, stay")
    func kept() {
        #expect(mutants(.statement, in: "g()", of: "func f() -> Int").isEmpty)
        #expect(mutants(.statement, in: "a.reserveCapacity(2)").isEmpty)
        #expect(SourcePlaces(source: "var x: Int { g() }").places.isEmpty)
        #expect(SourcePlaces(source: "struct S { init(a: A) { x = a } }").places.isEmpty)
    }

    @Test("Exits are left out where what follows compiles")
    func exits() {
        #expect(
            mutants(.exit, in: "if a { throw b }\nfor c in d { continue }") == [
                "throw b → ", "for c in d { continue } → return; for c in d { continue }", "continue → ",
            ]
        )
        #expect(mutants(.exit, in: "guard a else { throw b }").isEmpty)
        #expect(mutants(.exit, in: "switch a { case .b: break; default: c() }").isEmpty)
    }

    @Test("Two calls in a row exchange their places")
    func order() {
        #expect(mutants(.order, in: "a()\nb()\nb()") == ["a(); b() → b(); a()"])
    }

    @Test("A function without a result returns before its end, in front of each statement but the first")
    func earlyReturn() throws {
        #expect(mutants(.exit, in: "a()\nx = 1") == ["x = 1 → return; x = 1"])
        #expect(mutants(.exit, in: "a()\nreturn x", of: "func f() -> Int").isEmpty)
        let source = "func f() {\n    a()\n    b()\n}\n"
        let place = try #require(SourcePlaces(source: source).places.first { $0.kind == .exit })
        #expect(planted(place, in: source) == "func f() {\n    a()\n    if __mutantIsOn(7) { return }; b()\n}\n")
    }

    @Test("A result becomes nothing, or the opposite")
    func results() {
        #expect(mutants(.result, in: "return x", of: "func f() -> Int?") == ["return x → return nil; return x"])
        #expect(mutants(.result, in: "return x", of: "func f() -> [Int]") == ["return x → return []; return x"])
        #expect(mutants(.result, in: "return x", of: "func f() -> Bool") == ["x → !(x)"])
        #expect(mutants(.result, in: "return nil", of: "func f() -> Int?").isEmpty)
    }
}
