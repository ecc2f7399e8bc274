// SPDX-License-Identifier: Apache-2.0

/// What an exploration found when nothing failed.
public struct ExplorationReport: Sendable, CustomStringConvertible {
    /// How many runs tried one thing.
    public struct Attempt: Sendable, Hashable {
        /// What they tried, such as `losses` or `pairs of losses`.
        public let name: String
        /// How many they were.
        public internal(set) var runs: Int
        /// In how many of them it happened. In the others the flow had ended before.
        public internal(set) var happened: Int
    }

    /// An invariant that no run had anything to show for.
    public struct Unchecked: Sendable, Hashable, CustomStringConvertible {
        /// Its name, see ``Invariant/name``.
        public let invariant: String
        /// What was missing.
        public let reason: String

        public var description: String { "\(invariant): \(reason)" }
    }

    /// How many runs were made, with the one without faults.
    public let runs: Int
    /// The run without faults.
    public let first: FlowRun
    /// How many commands of it programmed a tag's memory.
    public let writes: Int
    /// What the runs with faults tried, in the order in which it was tried first.
    public let attempts: [Attempt]

    /// What was asked for and could not be checked, because no run had anything to look at.
    public let unchecked: [Unchecked]

    /// How many exchanges the run without faults made.
    public var exchanges: Int { first.trace.exchanges.count }

    public var description: String {
        let tried = attempts.map { attempt in
            let missed = attempt.runs - attempt.happened
            return "\(attempt.runs) \(attempt.name)" + (missed == 0 ? "" : " (\(missed) never happened)")
        }
        let missing = unchecked.isEmpty ? "" : " Not checked: \(unchecked.map(\.description).joined(separator: "; "))."
        return """
            \(runs) runs of a flow of \(exchanges) exchanges and \(writes) writes, and nothing failed. \
            Tried: \(tried.isEmpty ? "nothing" : tried.joined(separator: ", ")).\(missing)
            """
    }
}
