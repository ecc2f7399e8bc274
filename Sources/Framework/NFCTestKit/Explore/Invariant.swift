// SPDX-License-Identifier: Apache-2.0

/// A condition that has to hold after each run of a flow.
///
/// ```swift
/// Invariant("the counter is never lost") { run in
///     run.tags.first?.after == nil ? "the tag is gone" : nil
/// }
/// ```
public struct Invariant: Sendable {
    /// The result of checking one run.
    public enum Verdict: Sendable, Hashable {
        /// The invariant holds.
        case holds
        /// The invariant does not hold; with a sentence about the problem.
        case broken(String)
        /// The run has nothing to check; with a few words about what is missing. A report lists an invariant that no
        /// run could check.
        case nothingToCheck(String)
    }

    /// The condition, in a few words.
    public let name: String
    let check: @Sendable (FlowRun) async -> Verdict

    /// Creates an invariant.
    ///
    /// - Parameters:
    ///   - name: the condition, in a few words.
    ///   - check: returns the problem of a run; nil when there is none.
    public init(_ name: String, _ check: @escaping @Sendable (FlowRun) async -> String?) {
        self.init(name, judging: { run in await check(run).map { .broken($0) } ?? .holds })
    }

    /// Creates an invariant that some runs can't check.
    ///
    /// - Parameters:
    ///   - name: the condition, in a few words.
    ///   - check: checks a run.
    public init(_ name: String, judging check: @escaping @Sendable (FlowRun) async -> Verdict) {
        self.name = name
        self.check = check
    }
}

extension [Invariant] {
    /// All invariants except the given ones: `Invariant.all.except(.nothingLeaks)`.
    public func except(_ left: Invariant...) -> [Invariant] {
        filter { invariant in !left.contains { $0.name == invariant.name } }
    }
}
