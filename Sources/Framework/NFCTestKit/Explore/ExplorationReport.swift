// SPDX-License-Identifier: Apache-2.0

/// The result of an exploration in which nothing failed.
public struct ExplorationReport: Sendable, CustomStringConvertible {
    /// The runs that tried one kind of fault.
    public struct Attempt: Sendable, Hashable {
        /// The kind of fault, such as `losses` or `pairs of losses`.
        public let name: String
        /// The number of runs.
        public internal(set) var runs: Int
        /// The number of runs in which the fault happened. In the other runs, the flow ended before the fault.
        public internal(set) var happened: Int
    }

    /// An invariant that could not be checked in any run.
    public struct Unchecked: Sendable, Hashable, CustomStringConvertible {
        /// The invariant's name, see ``Invariant/name``.
        public let invariant: String
        /// Why the runs could not check the invariant.
        public let reason: String

        public var description: String { "\(invariant): \(reason)" }
    }

    /// The number of runs, including the run without faults.
    public let runs: Int
    /// The run without faults.
    public let first: FlowRun
    /// The number of commands in the run without faults that programmed a tag's memory.
    public let writes: Int
    /// The runs with faults, grouped by kind of fault, in the order in which the kinds were first tried.
    public let attempts: [Attempt]

    /// The invariants that no run could check.
    public let unchecked: [Unchecked]
    /// What the flow does not try, such as a second scan. Empty if the exploration has not tried
    /// ``Exploration/everything``.
    public let suggestions: [String]

    /// The number of exchanges in the run without faults.
    public var exchanges: Int { first.trace.exchanges.count }

    public var description: String {
        let tried = attempts.map { attempt in
            let missed = attempt.runs - attempt.happened
            return "\(attempt.runs) \(attempt.name)" + (missed == 0 ? "" : " (\(missed) never happened)")
        }
        let missing = unchecked.isEmpty ? "" : " Not checked: \(unchecked.map(\.description).joined(separator: "; "))."
        let advice = suggestions.isEmpty ? "" : " To find more: \(suggestions.joined(separator: "; "))."
        return """
            \(runs) runs of a flow of \(exchanges) exchanges and \(writes) writes, and nothing failed. \
            Tried: \(tried.isEmpty ? "nothing" : tried.joined(separator: ", ")).\(missing)\(advice)
            """
    }
}

/// The first run that failed.
public struct ExplorationFailure: Error, Sendable, CustomStringConvertible {
    /// The run that failed.
    public let run: FlowRun
    /// The broken invariant, see ``Invariant/name``; or "the flow ends" when the flow does not end.
    public let invariant: String
    /// A description of the problem.
    public let finding: String
    /// The number of runs, including those that simplified the failing run.
    public let runs: Int
    /// The file and the line of the call of `explore`, such as `TicketAppTests/TicketTests.swift:29`.
    public internal(set) var place = ""

    init(_ run: FlowRun, invariant: String, finding: String, runs: Int) {
        self.run = run
        self.invariant = invariant
        self.finding = finding
        self.runs = runs
    }

    /// The faults that make the run fail; nil when it fails without faults.
    public var replay: FaultScript? { run.replay }

    /// One line with the failure and how to replay it.
    public var line: String {
        let what = "\(invariant): \(finding)"
        guard let replay else { return "\(what); without any fault, in the first run" }
        return "\(what); run \(runs); replay: explore(.replay(\"\(replay)\")) or NFC_REPLAY='\(replay)'"
    }

    /// The ``place`` and the failure's ``line``, what the code does that a field can't follow, the rows of each fault,
    /// and the end of the trace.
    public var description: String {
        let start = place.isEmpty ? line : "\(place): \(line)"
        return ([start] + run.advice + [run.trace.table(last: 40)]).joined(separator: "\n")
    }
}
