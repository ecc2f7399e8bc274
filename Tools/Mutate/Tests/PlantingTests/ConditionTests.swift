// SPDX-License-Identifier: Apache-2.0
import Planting
import Testing

@Suite("What conditions and calls become")
struct ConditionTests {
    @Test("A condition is negated once; a guard lets all pass, an if nothing")
    func conditions() {
        #expect(mutants(.condition, in: "if a == b, !c {}") == ["a == b → !(a == b)", "!c → !(!c)"])
        #expect(mutants(.branch, in: "if a {}") == ["a → false"])
        #expect(mutants(.branch, in: "guard a, let b else { return }") == ["a → true"])
        #expect(mutants(.comparison, in: "if a == b {}").isEmpty)
        #expect(mutants(.condition, in: "x = a ? b : c") == ["a → !(a)"])
    }

    @Test("A condition with try and await is an argument, where both may stand")
    func effects() throws {
        let source = "func f() { guard try await g() else { return } }"
        let place = try #require(SourcePlaces(source: source).places.first { $0.kind == .branch })
        #expect(planted(place, in: source) == "func f() { guard __mutantHolds(7, try await g()) else { return } }")
    }

    @Test("Neighbours of one kind exchange their places")
    func arguments() {
        #expect(mutants(.arguments, in: "x = f(a, to: b, 1)") == ["f(a, to: b, 1) → f(b, to: a, 1)"])
        #expect(mutants(.arguments, in: "x = f(a, a); y = g(h(), b)").isEmpty)
    }

    @Test("The other end of a collection")
    func members() {
        #expect(mutants(.member, in: "x = a.first?.b") == ["a.first → a.last"])
        #expect(mutants(.member, in: "x = a.prefix(3)") == ["a.prefix(3) → a.suffix(3)"])
        #expect(mutants(.member, in: "x = min(a, b)") == ["min(a, b) → max(a, b)"])
        #expect(mutants(.member, in: "x = .first").isEmpty)
    }

    @Test("Corners weigh more than the straight way, and tables less")
    func weights() throws {
        let corner = try #require(places(in: "guard a else { x = 1; return }").first { $0.kind == .statement })
        let straight = try #require(places(in: "x = a").first { $0.kind == .statement })
        let table = try #require(places(in: "x = [1, 2, 3, 4, 5, 6, 7, 8]").first { $0.kind == .literal })
        #expect(corner.weight > straight.weight && straight.weight > table.weight)
    }

    @Test("Offsets count bytes, and lines begin at 1")
    func offsets() throws {
        let source = "// é\nlet x = 5\n"
        let place = try #require(SourcePlaces(source: source).places.first)
        #expect(place.line == 2)
        #expect(planted(place, in: source) == "// é\nlet x = (__mutantIsOn(7) ? 6 : 5)\n")
    }
}

@Suite("Comments that skip a place")
struct SkipTests {
    @Test(
        "With a reason, on the line or above it, the line has no places",
        arguments: [
            "let x = 5  // mutate: equivalent, because nobody reads it\nlet y = 6\n",
            "// mutate: equivalent, because nobody\n// ever reads it\nlet x = 5\nlet y = 6\n",
        ]
    )
    func skipped(source: String) {
        let found = SourcePlaces(source: source)
        #expect(found.places.map(\.before) == ["6"])
        #expect(found.skipped == 1)
        #expect(found.skipsWithoutReason == [])
    }

    @Test("With kinds of bugs, only those are left out")
    func kinds() {
        let source = "let x = 5 < y  // mutate: equivalent literal, because nobody reads it\n"
        let all = SourcePlaces(source: "let x = 5 < y\n").places.map(\.kind)
        #expect(Set(all) == [.literal, .comparison])
        #expect(SourcePlaces(source: source).places.map(\.kind) == [.comparison])
        let both = source.replacing("literal", with: "literal comparison")
        #expect(SourcePlaces(source: both).places.isEmpty)
        #expect(SourcePlaces(source: both).skipped == all.count)
    }

    @Test(
        "Without one, or with a kind that there is not, it is an error",
        arguments: [
            "// mutate: equivalent", "// mutate: equivalent, because", "// mutate: no",
            "// mutate: equivalent number, because nobody reads it", "// mutate: equivalently, because nobody reads it",
        ]
    )
    func bare(comment: String) {
        #expect(SourcePlaces(source: "\(comment)\nlet x = 5\n").skipsWithoutReason == [1])
    }
}
