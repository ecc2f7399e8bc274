// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing

@Suite(.timeLimit(.minutes(10))) struct `What a flow returns` {
    /// What is said when a flow returns another value in the runs with a fault.
    private static func finding<Value: Equatable & Sendable>(_ first: Value, _ later: Value) async throws -> String? {
        let runs = Locked(0)
        return try await `What is checked after a run`.failure(.replay("flip@1"), invariants: [.sameResult]) { field in
            _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
            return runs.withLock { runs in
                runs += 1
                return runs == 1
            } ? first : later
        }?.finding
    }

    @Test func `It is shown in words, and bytes in two digits each`() async throws {
        #expect(try await Self.finding(1, 1) == nil)
        #expect(try await Self.finding("a", "b") == "the flow returned b, and without faults a")
        #expect(try await Self.finding(Int?.some(3), nil) == "the flow returned nil, and without faults 3")
        #expect(try await Self.finding([1, 2], []) == "the flow returned [], and without faults [1, 2]")
        #expect(try await Self.finding([["a"], []], [nil]) == "the flow returned [nil], and without faults [[a], []]")
        #expect(
            try await Self.finding(Data([0, 0x0F, 0x10, 0xFF]), Data())
                == "the flow returned <>, and without faults <00 0f 10 ff>"
        )
    }

    @Test func `It may be another one where the person cancelled`() async throws {
        let failure = try await `What is checked after a run`.failure(.cancels, invariants: [.sameResult]) {
            field -> String? in
            try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
        }
        #expect(failure == nil, "\(failure?.finding ?? "passed")")
    }

    @Test func `Of many bytes the first 32 are shown, with their number`() async throws {
        let bytes = [UInt8](0xA0...0xC0)
        let shown = bytes.prefix(32).map { String($0, radix: 16) }.joined(separator: " ")
        #expect(
            try await Self.finding(Array(bytes.dropLast()), bytes)
                == "the flow returned <\(shown) …, 33 bytes>, and without faults <\(shown)>"
        )
    }

    /// A value whose words do not say all of it.
    private struct Silent: Equatable, Sendable, CustomStringConvertible {
        var number: Int
        var description: String { "the same" }
    }

    @Test func `Values that differ and read the same are said to`() async throws {
        #expect(
            try await Self.finding(Silent(number: 1), Silent(number: 2))
                == "the flow returned another value than without faults; in words both are the same"
        )
        #expect(try await Self.finding(Silent(number: 1), Silent(number: 1)) == nil)
    }

    @Test func `What throws in the run without faults does not work`() async throws {
        let failure = try await `What is checked after a run`.failure(.losses, invariants: []) { field -> Int in
            _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
            throw CocoaError(.userCancelled)
        }
        #expect(failure?.invariant == "the flow works" && failure?.finding.hasPrefix("it threw ") == true)
        #expect(failure?.runs == 1 && failure?.replay == nil)
        #expect(failure?.line.hasSuffix("; without any fault, in the first run") == true)
    }

    @Test func `A mistake in the flow's own test is thrown as it is, and is no finding about the flow`() async {
        await #expect(throws: FieldError(.unknownProduct, "")) {
            try await explore(.losses, near: `What is checked after a run`.link) { field in
                _ = try await field.bring("NTAG2155")
            }
        }
    }

    @Test func `A flow that meets no tag, and one without runs, try nothing`() async throws {
        let none = try await `What is checked after a run`.failure(.losses, invariants: []) { _ in 0 }
        #expect(none?.invariant == "something is tried" && none?.runs == 1)
        #expect(none?.finding == "the flow made no exchange with a tag: it ended before, or it made no session")
        let empty =
            try await `What is checked after a run`.failure([], invariants: []) { field -> Int in
                _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
                return 0
            }
        #expect(empty?.finding == "the exploration has no runs: give one such as .everyLoss")
    }

    @Test func `What an invariant of one's own says counts, and what it can't check is reported once it never could`()
        async throws
    {
        let flow: @Sendable (TestField) async throws -> Int = { field in
            _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
            return 0
        }
        let broken = try await `What is checked after a run`.failure(
            .replay("flip@1"),
            invariants: [Invariant("mine") { run in run.replay == nil ? nil : "it is not" }],
            flow
        )
        #expect(broken?.invariant == "mine" && broken?.finding == "it is not" && broken?.replay == "loss@1")
        #expect(broken?.line.contains("mine: it is not; run ") == true)
        func unchecked(_ verdicts: [Invariant.Verdict]) async throws -> [String] {
            let left = Locked(verdicts)
            let invariant = Invariant(
                "mine",
                judging: { _ in left.withLock { $0.isEmpty ? .holds : $0.removeFirst() } }
            )
            let tag = `What is checked after a run`.link
            return try await explore([.replay("flip@1"), .replay("nak@1")], near: tag, invariants: [invariant]) {
                field in
                _ = try await flow(field)
            }.unchecked.map(\.description)
        }
        let nothing = Invariant.Verdict.nothingToCheck("nothing was there")
        #expect(try await unchecked([nothing, nothing, nothing]) == ["mine: nothing was there"])
        #expect(try await unchecked([nothing, nothing, .holds]) == [])
        #expect(try await unchecked([nothing, .holds, nothing]) == [])
        #expect(try await unchecked([.holds, nothing, nothing]) == [])
    }

    @Test func `Noise has as many faults as are asked for, and at least one`() async throws {
        for (faults, count) in [(4, 4), (1, 1), (0, 1), (-1, 1)] {
            let lines = Lines()
            let report = try await explore(
                .noise(runs: 5, faults: faults),
                near: `What is checked after a run`.link,
                seed: 3,
                invariants: [lines.invariant]
            ) { field in
                _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
            }
            #expect(report.runs == 6)
            for line in lines.all.dropFirst() {
                #expect(line.hasSuffix("#3") && line.split { $0 == "+" || $0 == "," }.count == count, "\(line)")
            }
        }
    }

    @Test func `Noise is of four kinds, at every exchange`() async throws {
        let lines = Lines()
        let report = try await explore(
            .noise(runs: 40, faults: 8),
            near: `What is checked after a run`.link,
            seed: 1,
            invariants: [lines.invariant]
        ) { field in
            _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
        }
        let faults = lines.all.dropFirst().flatMap { $0.dropLast(2).split(separator: "+") }
        #expect(faults.count == 320)
        let (kinds, places) = (faults.map { $0.prefix { $0 != "@" } }, faults.map { $0.drop { $0 != "@" }.dropFirst() })
        #expect(Set(kinds.map(String.init)) == ["loss", "silence", "nak", "flip"])
        #expect(Set(places.compactMap { Int($0) }) == Set(1...report.exchanges))
    }

    /// The run that is left of a failing one, and how many runs were made.
    private static func simplest(
        _ line: String,
        failingWhere isBroken: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        let failure = try await `What is checked after a run`.failure(
            .replay(FaultScript(line)),
            invariants: [Invariant("mine") { $0.replay.map { isBroken($0.description) } == true ? "it is not" : nil }]
        ) { field -> Int in
            _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
            return 0
        }
        return "\(failure?.replay?.description ?? "none") after \(failure?.runs ?? 0)"
    }

    @Test(arguments: [
        ("silence@1", "loss@1 after 3"), ("nak@1", "loss@1 after 3"), ("flip@1", "loss@1 after 3"),
        ("slip@1:5ms", "loss@1 after 3"), ("cancel@1", "cancel@1 after 2"), ("tear@1:old", "tear@1:old after 2"),
        // A fault less comes before a plainer one.
        ("nak@1+flip@2", "loss@2 after 4"), ("loss@1,loss@2", "loss@2 after 3"),
        // The seed stays.
        ("nak@1+cancel@2#7", "cancel@2#7 after 3"), ("flip@1#7", "loss@1#7 after 3"),
    ]) func `A failing run is made simpler by the shortest way`(line: String, simplest: String) async throws {
        let left = try await Self.simplest(line) { _ in true }
        #expect(left == simplest)
    }

    @Test func `Of two losses that are needed the tag need not come back between them`() async throws {
        let simplest = try await Self.simplest("loss@1,loss@2") { $0.hasPrefix("loss@1") && $0.hasSuffix("loss@2") }
        #expect(simplest == "loss@1+loss@2 after 7")
    }

    @Test func `A run that never ends is not made again to see whether it always does`() async throws {
        let runs = Locked(0)
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(
                .replay("cancel@1"),
                near: `What is checked after a run`.link,
                grace: .milliseconds(50),
                invariants: []
            ) { field in
                let number = runs.withLock { runs in
                    runs += 1
                    return runs
                }
                _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
                if number == 2 { let _: Int = try await field.completion("never") { _ in } }
            }
        }
        #expect(failure?.invariant == "the flow ends" && failure?.runs == 2 && runs.withLock { $0 } == 2)
        #expect(failure?.finding.contains("not in every run") == false && failure?.replay == "cancel@1")
    }

    @Test func `A failure has its line and the last forty lines of its trace`() async throws {
        let mine = Invariant("mine") { _ in "it is not" }
        let found = try await `What is checked after a run`.failure(.losses, invariants: [mine]) { field -> Int in
            _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
            for number in 0..<50 { field.note("note \(number)") }
            return 0
        }
        let failure = try #require(found)
        let trace = failure.run.trace.description.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(trace.count > 50)
        let lines = failure.description.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "mine: it is not; without any fault, in the first run" && lines.count == 42)
        #expect(lines.dropFirst().first == "…" && lines.suffix(40).elementsEqual(trace.suffix(40)))
    }

    @Test func `A message that differs in its last letter alone is another one`() async throws {
        let text = "https://example.com/" + String(repeating: "x", count: 90)
        let failure = try await `What is checked after a run`.failure(
            .losses,
            near: .product("NTAG215", holding: .uri(text + "a")),
            invariants: [.noMessageLost]
        ) { field -> Bool in
            _ = try? await field.completion("write") { Writer(text + "b", bug: .lies).start($0) }.get()
            return true
        }
        #expect(failure?.invariant == Invariant.noMessageLost.name)
        #expect(failure?.finding.hasSuffix("holds URI \(text)a, and the flow ended as if all were well") == true)
    }
}
