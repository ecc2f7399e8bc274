// SPDX-License-Identifier: Apache-2.0

/// What has to hold after each run of a flow.
///
/// ```swift
/// Invariant("the counter is never lost") { run in
///     run.tags.first?.after == nil ? "the tag is gone" : nil
/// }
/// ```
public struct Invariant: Sendable {
    /// What a look at one run shows.
    public enum Verdict: Sendable, Hashable {
        /// It holds.
        case holds
        /// It does not; in a sentence that says what is wrong.
        case broken(String)
        /// The run has nothing to look at; in a few words that say what is missing. A report names what no run has.
        case nothingToCheck(String)
    }

    /// What has to hold, in a few words.
    public let name: String
    let check: @Sendable (FlowRun) async -> Verdict

    /// Creates an invariant.
    ///
    /// - Parameters:
    ///   - name: what has to hold, in a few words.
    ///   - check: says what is wrong with a run; nil when all is well.
    public init(_ name: String, _ check: @escaping @Sendable (FlowRun) async -> String?) {
        self.init(name, judging: { run in await check(run).map { .broken($0) } ?? .holds })
    }

    /// Creates an invariant that not every run has something to show for.
    ///
    /// - Parameters:
    ///   - name: what has to hold, in a few words.
    ///   - check: looks at a run.
    public init(_ name: String, judging check: @escaping @Sendable (FlowRun) async -> Verdict) {
        self.name = name
        self.check = check
    }
}

extension [Invariant] {
    /// All but the named ones: `Invariant.all.except(.nothingLeaks)`.
    public func except(_ left: Invariant...) -> [Invariant] {
        filter { invariant in !left.contains { $0.name == invariant.name } }
    }
}
