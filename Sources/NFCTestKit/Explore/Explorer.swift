// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagLink

/// Makes the runs of an exploration.
struct Explorer {
    let tags: [TagSpec]
    let app: AppProperties?
    let seed: UInt64
    let limit: Duration
    let grace: Duration?
    let invariants: [Invariant]
    let reader: TestReader
    let flow: @isolated(any) @Sendable (TestField) async throws -> Void

    private var runs = 0
    private var first: FlowRun?
    /// Whether a run so far had work that no count shows: other threads, timers, sockets.
    private var hasUncounted = false

    init(
        tags: [TagSpec],
        app: AppProperties?,
        seed: UInt64,
        limit: Duration,
        grace: Duration?,
        invariants: [Invariant],
        reader: TestReader,
        flow: @escaping @isolated(any) @Sendable (TestField) async throws -> Void
    ) {
        self.tags = tags
        self.app = app
        self.seed = seed
        self.limit = limit
        self.grace = grace
        self.invariants = invariants
        self.reader = reader
        self.flow = flow
    }

    mutating func explore(_ exploration: Exploration) async throws -> ExplorationReport {
        let (run, isVirtual, writes) = try await run(nil)
        if let failure = await failure(of: run) { throw failure }
        if isVirtual, run.trace.exchanges.isEmpty {
            throw ExplorationFailure(
                run,
                invariant: "something is tried",
                finding: "the flow made no exchange with a tag: it ended before, or it made no session",
                runs: runs
            )
        }
        first = run
        var report = ExplorationReport(runs: runs, first: run, writes: writes)
        guard isVirtual else { return report }

        let asked = environmentValue("NFC_REPLAY").map { Exploration.replay(FaultScript($0)) } ?? exploration
        let answered = run.trace.exchanges.map { (try? $0.answer?.get()) != nil }
        for replay in try asked.runs(answered: answered, writes: writes, seed: seed) {
            if let failure = try await failure(with: replay) { throw try await shrunk(failure) }
        }
        report.runs = runs
        return report
    }

    /// Makes a failing run simpler, as long as it fails.
    private mutating func shrunk(_ failure: ExplorationFailure) async throws -> ExplorationFailure {
        var failure = failure
        var candidates = failure.replay?.simpler ?? []
        while let next = candidates.first {
            candidates.removeFirst()
            if let simpler = try await self.failure(with: next) {
                failure = simpler
                candidates = next.simpler
            }
        }
        return ExplorationFailure(failure.run, invariant: failure.invariant, finding: failure.finding, runs: runs)
    }

    private mutating func failure(with replay: FaultScript) async throws -> ExplorationFailure? {
        await failure(of: try await run(replay).run)
    }

    /// What does not hold after a run.
    private func failure(of run: FlowRun) async -> ExplorationFailure? {
        if let error = run.error as? FieldError {
            return ExplorationFailure(run, invariant: "the flow ends", finding: error.reason, runs: runs)
        }
        if run.replay == nil, let error = run.error {
            return ExplorationFailure(run, invariant: "the flow works", finding: "it threw \(error)", runs: runs)
        }
        for invariant in invariants {
            if let finding = await invariant.check(run) {
                return ExplorationFailure(run, invariant: invariant.name, finding: finding, runs: runs)
            }
        }
        return nil
    }

    private mutating func run(_ replay: FaultScript?) async throws -> (run: FlowRun, isVirtual: Bool, writes: Int) {
        try Task.checkCancellation()
        runs += 1
        // The first run shows whether all that goes on is counted: then no other waits for what can't come.
        let isShortWhenCounted = grace == nil && runs > 1 && !hasUncounted
        let field = try await TestField.opened(
            tags,
            app: app,
            seed: seed,
            limit: limit,
            grace: Grace(duration: grace ?? .seconds(1), isShortWhenCounted: isShortWhenCounted),
            reader: reader
        )
        if let replay { field.virtual?.arm(replay.faults) }
        let error: (any Error)?
        var isOpen = false
        do {
            (error, isOpen) = try await field.run { [flow] field in
                var error: (any Error)?
                do {
                    try await flow(field)
                } catch let thrown {
                    error = thrown
                }
                return (error, await field.leavesSessionOpen())
            }
        } catch let thrown {
            error = thrown
        }
        var run = FlowRun(field, replay: replay, error: error, leavesSessionOpen: isOpen)
        hasUncounted = hasUncounted || field.place.work.hasUncounted
        run.goal = first?.tags
        run.goalReachesLimit = first?.reachesLimit ?? false
        let writes = field.virtual?.writeCount ?? 0
        field.close()
        if let error = error as? FieldError, ![.neverEnds, .queueIsBlocked].contains(error.code) { throw error }
        return (run, field.virtual != nil, writes)
    }
}

extension TestField {
    /// Whether a session is open when all is done that a flow left behind: sessions that end, and completion handlers
    /// that are called a second time.
    fileprivate func leavesSessionOpen() async -> Bool {
        guard drivenClock != nil else {
            await letGoOfReader()
            return !environment.arbiter.isIdle
        }
        // The caller's own job may be all that is left.
        let work = place.work
        if !environment.arbiter.isIdle || work.queued > 0 || work.running > 1 || work.hasUncounted { await settle() }
        return !environment.arbiter.isIdle
    }
}
