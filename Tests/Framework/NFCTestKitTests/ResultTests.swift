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

    @Test func `Of many bytes 32 are shown, with their number`() async throws {
        let bytes = [UInt8](repeating: 0xAA, count: 33)
        let shown = [String](repeating: "aa", count: 32).joined(separator: " ")
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
