// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TestThreads
import Testing

/// What an exploration reports, and how it looks for the simplest failure.
@Suite(.timeLimit(.minutes(10))) struct ReportTests {
    // MARK: The simplest run

    @Test(arguments: [
        ("silence@1", "loss@1 after 3"), ("slip@1:5ms", "loss@1 after 3"), ("cancel@1", "cancel@1 after 2"),
        ("tear@1:old", "tear@1:old after 2"),
        // A fault less comes before a plainer one.
        ("nak@1+flip@2", "loss@2 after 4"), ("loss@1,loss@2", "loss@2 after 3"),
        // The seed stays.
        ("nak@1+cancel@2#7", "cancel@2#7 after 3"), ("flip@1#7", "loss@1#7 after 3"),
    ]) func `failing replay line: the report has the simplest line that still fails, after as few runs as possible`(
        line: String,
        simplest: String
    ) async throws {
        let mine = Invariant("mine") { $0.replay == nil ? nil : "it is not" }
        let failure = try await failure(.replay(FaultScript(line)), invariants: [mine]) { field -> Int in
            _ = try? await LinkReader.run(field)
            return 0
        }
        #expect("\(failure?.replay?.description ?? "none") after \(failure?.runs ?? 0)" == simplest)
    }

    @Test func `failure that does not happen in the second run: reported as intermittent`() async throws {
        let count = RunCount()
        let once = Invariant("it is luck") { run in
            run.replay == "cancel@3" && count.begin() == 1 ? "it had none" : nil
        }
        let failure = try await failure(.cancels, invariants: [once]) { field in
            try await LinkClient.persist(field)
            return true
        }
        let finding = failure?.finding
        #expect(finding?.hasPrefix("it had none; this failure is intermittent") == true, "\(finding as Any)")
        #expect(failure?.runs == 4)
    }

    @Test func `run that never ends: not repeated`() async throws {
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

    @Test func `flow that throws without any fault: breaks the invariant "the flow works" in the first run`()
        async throws
    {
        let failure = try await failure(.losses, invariants: []) { field -> Int in
            _ = try? await LinkReader.run(field)
            throw CocoaError(.userCancelled)
        }
        #expect(failure?.invariant == "the flow works" && failure?.runs == 1 && failure?.replay == nil)
        #expect(failure?.line.hasSuffix("; without any fault, in the first run") == true)
    }

    @Test func `flow without a tag: the failure says that none came near`() async {
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(.losses) { field in try await LinkClient.runToLimit(field) }
        }
        #expect(failure?.finding.contains("no tag came near") == true, "\(failure?.finding ?? "")")
    }

    @Test func `flow that polls until the session's limit: reported in the first run`() async throws {
        let failure = try await failure(.everything) { field -> String in
            _ = await EagerClient.scan(field)
            return ""
        }
        #expect(failure?.invariant == "the flow ends" && failure?.runs == 1)
        #expect(failure?.finding.hasPrefix("it polls without end: it made ") == true, "\(failure?.finding ?? "")")
    }

    @Test(.ownThreads) func `exploration of more than 5,000 runs: says how many, and how long they take`() async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let runs = RunCount()
            let some = Invariant("some runs are enough") { _ in runs.begin() == 150 ? "they are" : nil }
            for count in [5000, 5001] {
                _ = try await failure(.noise(runs: count), invariants: [some]) { try? await LinkReader.run($0) }
            }
        }
        let lines = try said(result).split(separator: "\n").filter { $0.contains("this exploration makes") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("makes 5001 runs, which takes about ") == true, "\(lines)")
    }

    /// How a client reads a clock that does not follow the field's time.
    enum Reading: String, CaseIterable, Sendable {
        case date = "Date()"
        case continuousClock = "ContinuousClock.now"
        case suspendingClock = "SuspendingClock.now"
        case dispatchTime = "DispatchTime.now()"
        case uptime = "ProcessInfo.systemUptime"

        /// Whether some seconds have passed since the last call.
        func isOver() -> Bool {
            switch self {
            case .date: Date() > Date(timeIntervalSinceNow: 5)
            case .continuousClock: ContinuousClock.now > ContinuousClock.now + .seconds(5)
            case .suspendingClock: SuspendingClock().now > SuspendingClock.now + .seconds(5)
            case .dispatchTime: DispatchTime.now().uptimeNanoseconds > 5_000_000_000_000_000_000
            case .uptime: ProcessInfo.processInfo.systemUptime > 5_000_000_000
            }
        }
    }

    @Test(arguments: Reading.allCases + [nil])
    func `time limit by a clock of the system: the failure names the clock`(reading: Reading?) async throws {
        let broken = Invariant("mine") { _ in "it is broken" }
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(.losses, near: linkTag, invariants: [broken]) { field in
                for _ in 0..<3 {
                    try await Task.sleep(for: .seconds(1))
                    if reading?.isOver() == true { return }
                }
                _ = try await LinkReader.run(field)
            }
        }
        let advice = failure.map { "\($0)" }?.split(separator: "\n").filter { $0.contains("follow the field's time") }
        #expect(advice?.count == (reading == nil ? 0 : 1))
        if let reading { #expect(advice?.first?.contains("reads \(reading.rawValue), ") == true) }
    }

    @Test func `timer on a run loop that does not run: the failure says so`() async {
        let error = await #expect(throws: FieldError.self) {
            try await withField(grace: .milliseconds(50)) { field in
                try await field.completion("timer") { done in
                    DispatchQueue.main.async {
                        RunLoop.main.add(Timer(timeInterval: 1, repeats: false) { _ in done(()) }, forMode: .default)
                    }
                }
            }
        }
        #expect(error?.reason.contains("A Timer was added to a run loop that does not run") == true)
    }

    @Test func `wrong call of the test kit in a flow: its error is thrown unchanged`() async {
        await #expect(throws: FieldError(.unknownProduct, "")) {
            try await explore(.losses, near: linkTag) { field in _ = try await field.bring("NTAG2155") }
        }
    }

    // MARK: The report

    @Test func `report: counts exchanges, writes, runs, and the runs whose fault never happened`() async throws {
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

    @Test func `report of an exploration of everything: suggests what the flow should return, show or write`()
        async throws
    {
        let report = try await explore(.everything, near: linkTag) { _ = try await LinkReader.run($0) }
        #expect(report.suggestions.count == 3)
        #expect(report.description.contains(" To find more: return what the app read"))
        let full = try await explore(.everything, near: linkTag, invariants: []) { field -> String in
            _ = try? await LinkReader.run(field)
            return try await LinkReader.run(field)
        }
        #expect(full.suggestions.count == 1)
        #expect(try await explore(.losses, near: linkTag) { _ = try await LinkReader.run($0) }.suggestions.isEmpty)
    }

    @Test func `report: names the invariants that no run could check`() async throws {
        let report = try await explore(.cancels, near: linkTag) { _ = try await LinkReader.run($0) }
        #expect(
            report.unchecked.map(\.description) == [
                "no message is lost: no NDEF was written", "an error is always shown: the flow never failed on its own",
                "the memory is intact: no memory was written",
                "the result is the same: the flow returned no value in a run with faults",
            ]
        )
        #expect(report.description.contains("Not checked: no message is lost: no NDEF was written; "))
    }
}
