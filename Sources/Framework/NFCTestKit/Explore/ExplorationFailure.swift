// SPDX-License-Identifier: Apache-2.0

/// The first run that failed.
public struct ExplorationFailure: Error, Sendable, CustomStringConvertible {
    private final class Contents: Sendable {
        let run: FlowRun
        let invariant: String
        let finding: String
        let runs: Int

        init(_ run: FlowRun, _ invariant: String, _ finding: String, _ runs: Int) {
            self.run = run
            self.invariant = invariant
            self.finding = finding
            self.runs = runs
        }
    }

    private let contents: Contents

    init(_ run: FlowRun, invariant: String, finding: String, runs: Int) {
        contents = Contents(run, invariant, finding, runs)
    }

    /// The run that failed.
    public var run: FlowRun { contents.run }
    /// The broken invariant, see ``Invariant/name``; or "the flow ends" when the flow does not end.
    public var invariant: String { contents.invariant }
    /// The problem, in words.
    public var finding: String { contents.finding }
    /// The number of runs, including those that simplified the failing run.
    public var runs: Int { contents.runs }
    /// The faults that make the run fail; nil when it fails without faults.
    public var replay: FaultScript? { contents.run.replay }

    /// One line with the failure and how to replay it.
    public var line: String {
        let what = "\(invariant): \(finding)"
        guard let replay else { return "\(what); without any fault, in the first run" }
        return "\(what); run \(runs); replay: explore(.replay(\"\(replay)\")) or NFC_REPLAY='\(replay)'"
    }

    /// The line, and the end of the trace.
    public var description: String { "\(line)\n\(run.trace.table(last: 40))" }
}
