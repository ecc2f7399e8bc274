// SPDX-License-Identifier: Apache-2.0
public import NFCSessions

/// Runs a flow without faults, then again with each fault of an exploration. Each run has a new field with new tags.
///
/// ```swift
/// try await explore(.everyLoss, near: .product("NTAG215", holding: .uri("https://example.com"))) { field in
///     try await field.completion("write") { app.write("Hello", completion: $0) }.get()
/// }
/// ```
///
/// The flow throws the errors that the app under test reports. An error does not make a run fail, but a broken
/// invariant does. A run also fails when the flow never ends, or makes no exchange at all.
///
/// The first failing run ends the exploration. It is then simplified for as long as it still fails. If `NFC_REPLAY` is
/// in the environment, only that run is made. On a reader there are no faults, and only one run.
///
/// - Parameters:
///   - exploration: the faults.
///   - tags: the tags that are near from the start.
///   - app: the app's property list and entitlements.
///   - seed: the source of everything random.
///   - limit: the field's time limit of a run. A run that has not ended by then is abandoned, and fails.
///   - grace: how long nothing has to happen, in real time, before a session's time limit may pass. Nil stands for a
///     second in the first run, and for zero in the others, unless the flow uses threads, timers or sockets that the
///     test kit can't count.
///   - busyPolicy: what happens to a session that begins while the previous session's sheet is still disappearing.
///   - invariants: what has to hold after each run, including the one without faults.
///   - reader: the reader on which the test runs.
///   - flow: the code to explore. It must not keep state from one run to the next.
/// - Returns: the number of runs, and what the first one did.
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

/// Runs a flow that returns a value without faults, then again with each fault of an exploration.
///
/// A run that does not throw has to return the same value as the run without faults, see ``Invariant/sameResult``.
/// Everything else is the same as for a flow that returns nothing.
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
///   - app: the app's property list and entitlements.
///   - seed: the source of everything random.
///   - limit: the field's time limit of a run. A run that has not ended by then is abandoned, and fails.
///   - grace: how long nothing has to happen, in real time, before a session's time limit may pass.
///   - busyPolicy: what happens to a session that begins while the previous session's sheet is still disappearing.
///   - invariants: what has to hold after each run.
///   - reader: the reader on which the test runs.
///   - flow: the code to explore. It must not keep state from one run to the next.
/// - Returns: the number of runs, and what the first one did.
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
