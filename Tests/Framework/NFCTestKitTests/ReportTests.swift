// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import TagTrace
import TestThreads
import Testing

/// What an exploration reports, and how it looks for the simplest failure.
@Suite(.timeLimit(.minutes(10))) struct ReportTests {
    // MARK: The simplest run

    /// The line that is left of a failing one, and how many runs were made.
    private static func simplest(
        _ line: String,
        failingWhere isBroken: @escaping @Sendable (String) -> Bool = { _ in true }
    ) async throws -> String {
        let mine = Invariant("mine") { $0.replay.map { isBroken($0.description) } == true ? "it is not" : nil }
        let failure = try await failure(.replay(FaultScript(line)), invariants: [mine]) { field -> Int in
            _ = try? await LinkReader.run(field)
            return 0
        }
        return "\(failure?.replay?.description ?? "none") after \(failure?.runs ?? 0)"
    }

    @Test(arguments: [
        ("silence@1", "loss@1 after 3"), ("slip@1:5ms", "loss@1 after 3"), ("cancel@1", "cancel@1 after 2"),
        ("tear@1:old", "tear@1:old after 2"),
        // A fault less comes before a plainer one.
        ("nak@1+flip@2", "loss@2 after 4"), ("loss@1,loss@2", "loss@2 after 3"),
        // The seed stays.
        ("nak@1+cancel@2#7", "cancel@2#7 after 3"), ("flip@1#7", "loss@1#7 after 3"),
    ]) func `failing line: is made simpler by the shortest way`(line: String, simplest: String) async throws {
        let left = try await Self.simplest(line)
        #expect(left == simplest)
    }

    @Test func `failing line of which all is needed: only the tag's return is left out`() async throws {
        let left = try await Self.simplest("loss@1,loss@2") { $0.hasPrefix("loss@1") && $0.hasSuffix("loss@2") }
        #expect(left == "loss@1+loss@2 after 7")
    }

    @Test func `failing noise: one fault is left, with the seed`() async throws {
        let error = await #expect(throws: ExplorationFailure.self) {
            try await explore(.noise(runs: 50, faults: 4), near: linkTag, seed: 5) { field in
                _ = try await LinkClient.run(field, bug: .silentEnd)
            }
        }
        let line = try #require(error?.replay?.description)
        #expect(!line.contains("+") && line.hasSuffix("#5"), "\(line)")
    }

    @Test func `failure that does not happen again: is reported as not in every run`() async throws {
        let count = RunCount()
        let once = Invariant("it is luck") { run in
            run.replay == "cancel@3" && count.begin() == 1 ? "it had none" : nil
        }
        let failure = try await failure(.cancels, invariants: [once]) { field in
            try await LinkClient.persist(field)
            return true
        }
        #expect(failure?.finding.hasPrefix("it had none; not in every run") == true, "\(failure?.finding as Any)")
        #expect(failure?.runs == 4)
    }

    @Test func `run that never ends: is not made again`() async throws {
        let runs = RunCount()
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(.replay("cancel@1"), near: linkTag, grace: .milliseconds(50), invariants: []) { field in
                let number = runs.begin()
                _ = try? await LinkReader.run(field)
                if number == 2 { let _: Int = try await field.completion("never") { _ in } }
            }
        }
        #expect(failure?.invariant == "the flow ends" && failure?.replay == "cancel@1")
        #expect(failure?.runs == 2 && runs.value == 2)
    }

    // MARK: The failure

    @Test func `flow that throws without faults: does not work`() async throws {
        let failure = try await failure(.losses, invariants: []) { field -> Int in
            _ = try? await LinkReader.run(field)
            throw CocoaError(.userCancelled)
        }
        #expect(failure?.invariant == "the flow works" && failure?.runs == 1 && failure?.replay == nil)
        #expect(failure?.line.hasSuffix("; without any fault, in the first run") == true)
    }

    @Test func `mistake of the test itself: is thrown as it is`() async {
        await #expect(throws: FieldError(.unknownProduct, "")) {
            try await explore(.losses, near: linkTag) { field in _ = try await field.bring("NTAG2155") }
        }
    }

    @Test func `failure in words: its line, and the last forty lines of its trace`() async throws {
        let mine = Invariant("mine") { _ in "it is not" }
        let failure = try #require(
            try await failure(.losses, invariants: [mine]) { field -> Int in
                _ = try? await LinkReader.run(field)
                for number in 0..<50 { field.note("note \(number)") }
                return 0
            }
        )
        let trace = failure.run.trace.description.split(separator: "\n", omittingEmptySubsequences: false)
        let lines = failure.description.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(trace.count > 50 && lines.count == 42)
        #expect(lines.prefix(2) == ["mine: it is not; without any fault, in the first run", "…"])
        #expect(lines.suffix(40).elementsEqual(trace.suffix(40)))
    }

    // MARK: The report

    @Test func `report: counts exchanges, writes and runs, and what never happened`() async throws {
        let runs = RunCount()
        let report = try await explore(.losses, near: linkTag, invariants: []) { field in
            // Every third run is over before anything can happen.
            if runs.begin() % 3 == 2 { return }
            _ = try await LinkClient.run(field)
        }
        let losses = try #require(report.attempts.first)
        let missed = (report.runs + 1) / 3
        #expect(report.runs == runs.value && losses.runs == report.runs - 1 && losses.runs == report.exchanges + 1)
        #expect(report.writes > 3 && losses.runs - losses.happened == missed)
        #expect(
            report.description.hasPrefix(
                "\(report.runs) runs of a flow of \(report.exchanges) exchanges and \(report.writes) writes, "
            )
        )
        #expect(report.description.contains("Tried: \(losses.runs) losses (\(missed) never happened)."))
    }

    @Test func `report: names the invariants that no run could check`() async throws {
        let report = try await explore(.cancels, near: linkTag) { _ = try await LinkReader.run($0) }
        #expect(
            report.unchecked.map(\.description) == [
                "no message is lost: no NDEF was written", "an error is always shown: the flow never failed by itself",
                "the memory is intact: no memory was written",
                "the result is the same: the flow returned no value in a run with faults",
            ]
        )
        #expect(report.description.contains("Not checked: no message is lost: no NDEF was written; "))
    }

    @Test func `own invariant: is unchecked when no run at all can check it`() async throws {
        let nothing = Invariant.Verdict.nothingToCheck("nothing was there")
        let rows: [([Invariant.Verdict], isUnchecked: Bool)] = [
            ([nothing, nothing, nothing], true), ([nothing, nothing, .holds], false),
            ([nothing, .holds, nothing], false),
            ([.holds, nothing, nothing], false),
        ]
        for (verdicts, isUnchecked) in rows {
            let left = Locked(verdicts)
            let mine = Invariant("mine", judging: { _ in left.withLock { $0.isEmpty ? .holds : $0.removeFirst() } })
            let report = try await explore([.replay("flip@1"), .replay("nak@1")], near: linkTag, invariants: [mine]) {
                _ = try? await LinkReader.run($0)
            }
            #expect(report.unchecked.map(\.description) == (isUnchecked ? ["mine: nothing was there"] : []))
        }
    }

}
