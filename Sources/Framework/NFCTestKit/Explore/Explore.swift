// SPDX-License-Identifier: Apache-2.0
public import NFCRuntime
import TagLink
import VirtualTags

/// Runs a flow without faults, then again and again with every fault of an exploration, each time in a new field with new
/// tags.
///
/// ```swift
/// try await explore(.everyLoss, near: .product("NTAG215", holding: .uri("https://example.com"))) { field in
///     try await field.completion("write") { app.write("Hello", completion: $0) }.get()
/// }
/// ```
///
/// The flow throws what the app under test reports: an error is no failure of a run, a broken invariant is. So is a
/// flow that never ends, or that makes no exchange at all. The first failing run ends the exploration; it is made simpler as long as it goes on failing.
/// With `NFC_REPLAY` in the environment that run alone is made. On a reader there are no faults, and one run.
///
/// - Parameters:
///   - exploration: the faults.
///   - tags: the tags that are near from the start.
///   - app: what the app declares of itself.
///   - seed: where all that is random comes from.
///   - limit: the field's time at which a run that has not ended is left behind, and fails.
///   - grace: how long nothing happens, in real time, before a session's limit passes. Nil for a second in the first run, and
///     none in the others unless the flow uses threads, timers or sockets that the test kit can't count.
///   - busyPolicy: what happens to a session that begins while the sheet of the last one is still leaving.
///   - invariants: what has to hold after each run, also after the one without faults.
///   - reader: what the test runs on.
///   - flow: what is explored. It has no state that outlives a run.
/// - Returns: how many runs were made, and what the first one did.
/// - Throws: ``ExplorationFailure`` with the first failing run, or ``FieldError``.
@discardableResult
public func explore(
    _ exploration: Exploration,
    near tags: TagSpec...,
    app: AppProperties? = nil,
    seed: UInt64 = 0,
    limit: Duration = .seconds(600),
    grace: Duration? = nil,
    busyPolicy: SessionArbiter.BusyPolicy = .queue,
    invariants: [Invariant] = Invariant.all,
    reader: TestReader = .ofProcess,
    _ flow: @escaping @isolated(any) @Sendable (TestField) async throws -> Void
) async throws -> ExplorationReport {
    let settings = Explorer.Settings(
        tags: try await prepared(tags, seed: seed),
        app: app,
        seed: seed,
        limit: limit,
        grace: grace,
        busyPolicy: busyPolicy,
        invariants: invariants,
        reader: reader
    )
    var explorer = Explorer(settings) { field in
        try await flow(field)
        return nil
    }
    return try await explorer.explore(exploration)
}

/// Runs a flow that returns a value without faults, then again and again with every fault of an exploration.
///
/// A run that does not throw has to return what the run without faults returned, see ``Invariant/sameResult``. All else is as in
/// the form whose flow returns nothing.
///
/// ```swift
/// try await explore(.everyLoss, near: .product("NTAG215", holding: .uri("https://example.com"))) { _ in
///     try await app.readLink()
/// }
/// ```
///
/// - Parameters:
///   - exploration: the faults.
///   - tags: the tags that are near from the start.
///   - app: what the app declares of itself.
///   - seed: where all that is random comes from.
///   - limit: the field's time at which a run that has not ended is left behind, and fails.
///   - grace: how long nothing happens, in real time, before a session's limit passes.
///   - busyPolicy: what happens to a session that begins while the sheet of the last one is still leaving.
///   - invariants: what has to hold after each run.
///   - reader: what the test runs on.
///   - flow: what is explored. It has no state that outlives a run.
/// - Returns: how many runs were made, and what the first one did.
/// - Throws: ``ExplorationFailure`` with the first failing run, or ``FieldError``.
@discardableResult
public func explore<Value: Equatable & Sendable>(
    _ exploration: Exploration,
    near tags: TagSpec...,
    app: AppProperties? = nil,
    seed: UInt64 = 0,
    limit: Duration = .seconds(600),
    grace: Duration? = nil,
    busyPolicy: SessionArbiter.BusyPolicy = .queue,
    invariants: [Invariant] = Invariant.all,
    reader: TestReader = .ofProcess,
    _ flow: @escaping @isolated(any) @Sendable (TestField) async throws -> Value
) async throws -> ExplorationReport {
    let settings = Explorer.Settings(
        tags: try await prepared(tags, seed: seed),
        app: app,
        seed: seed,
        limit: limit,
        grace: grace,
        busyPolicy: busyPolicy,
        invariants: invariants,
        reader: reader
    )
    var explorer = Explorer(settings) { field in FlowResult(try await flow(field)) }
    return try await explorer.explore(exploration)
}

private func prepared(_ tags: [TagSpec], seed: UInt64) async throws(FieldError) -> [TagSpec] {
    var prepared: [TagSpec] = []
    for (index, tag) in tags.enumerated() {
        prepared.append(try await tag.prepared(seed: seed &+ UInt64(index)))
    }
    return prepared
}

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
    /// What does not hold, see ``Invariant/name``; "the flow ends" where it does not.
    public var invariant: String { contents.invariant }
    /// What is wrong.
    public var finding: String { contents.finding }
    /// How many runs were made, also to make the failing one simpler.
    public var runs: Int { contents.runs }
    /// The faults that make it fail; nil when it fails without any.
    public var replay: FaultScript? { contents.run.replay }

    /// One line that says what failed and replays it.
    public var line: String {
        let what = "\(invariant): \(finding)"
        guard let replay else { return "\(what); without any fault, in the first run" }
        return "\(what); run \(runs); replay: explore(.replay(\"\(replay)\")) or NFC_REPLAY='\(replay)'"
    }

    /// The line, and the end of the trace.
    public var description: String { "\(line)\n\(run.trace.table(last: 40))" }
}
