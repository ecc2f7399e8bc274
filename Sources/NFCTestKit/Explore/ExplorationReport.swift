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

    /// How many runs were made, with the one without faults.
    public let runs: Int
    /// The run without faults.
    public let first: FlowRun
    /// How many commands of it programmed a tag's memory.
    public let writes: Int
    /// What the runs with faults tried, in the order in which it was tried first.
    public let attempts: [Attempt]

    /// How many exchanges the run without faults made.
    public var exchanges: Int { first.trace.exchanges.count }

    public var description: String {
        let tried = attempts.map { attempt in
            let missed = attempt.runs - attempt.happened
            return "\(attempt.runs) \(attempt.name)" + (missed == 0 ? "" : " (\(missed) never happened)")
        }
        return """
            \(runs) runs of a flow of \(exchanges) exchanges and \(writes) writes, and nothing failed. \
            Tried: \(tried.isEmpty ? "nothing" : tried.joined(separator: ", ")).
            """
    }
}
