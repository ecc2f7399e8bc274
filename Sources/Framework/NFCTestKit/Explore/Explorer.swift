// SPDX-License-Identifier: Apache-2.0
import NFCSessions

/// Makes the runs of an exploration.
struct Explorer {
    /// A run, and further results of its field.
    private struct Made {
        var run: FlowRun
        var isVirtual: Bool
        var writes: Int
        var sessions: Int
        var connections: Int
        /// The objects that were created in the run, and may still be alive.
        var objects: LivingObjects
    }

    private let settings: FieldSettings
    private let invariants: [Invariant]
    private let flow: @Sendable (TestField) async throws -> FlowResult?

    private var runs = 0
    private var first: FlowRun?
    private var attempts: [ExplorationReport.Attempt] = []
    private let readings = TagReadings()
    private let printedLines = PrintedLines()
    /// What the process writes if it ends during a run.
    private var note: RunNote?
    /// The invariants that no run could check so far, and why.
    private var unchecked: [String: String] = [:]
    private var checked: Set<String> = []
    /// The last run, if some of its objects are still alive: the next run may replace them.
    private var suspect: (run: FlowRun, objects: LivingObjects)?
    /// Whether any run had work that can't be counted: other threads, timers, sockets.
    private var hasUncounted = false

    static func explore(
        _ exploration: Exploration,
        _ settings: FieldSettings,
        _ invariants: [Invariant],
        _ flow: @escaping @Sendable (TestField) async throws -> FlowResult?
    ) async throws -> ExplorationReport {
        var settings = settings
        for (index, tag) in settings.tags.enumerated() {
            settings.tags[index] = try await tag.prepared(seed: settings.seed &+ UInt64(index))
        }
        var explorer = Explorer(settings: settings, invariants: invariants, flow: flow)
        return try await explorer.explore(exploration)
    }

    private init(
        settings: FieldSettings,
        invariants: [Invariant],
        flow: @escaping @Sendable (TestField) async throws -> FlowResult?
    ) {
        self.settings = settings
        self.invariants = invariants
        self.flow = flow
    }

    private mutating func explore(_ exploration: Exploration) async throws -> ExplorationReport {
        let note = RunNote.take()
        defer { note.giveBack() }
        self.note = note
        let made = try await make(nil)
        if let failure = try await failure(of: made) { throw failure }
        if made.isVirtual, made.run.trace.exchanges.isEmpty {
            throw nothingTried(made.run, "the flow made no exchange with a tag: it ended before, or it made no session")
        }
        first = made.run
        if made.isVirtual {
            let asked = Self.replayOfProcess.map { Exploration.replay($0) } ?? exploration
            let course = Exploration.Course(
                answered: made.run.trace.exchanges.map { (try? $0.answer?.get()) != nil },
                writes: made.writes,
                sessions: made.sessions,
                connections: made.connections,
                seed: settings.seed
            )
            if !asked.parts.contains(where: \.hasRuns) {
                throw nothingTried(made.run, "the exploration has no runs: give one such as .everyLoss")
            }
            for part in asked.parts { try await explore(part, after: course) }
            if let failure = try await leakOfLastRun() { throw try await shrunk(failure) }
        }
        return ExplorationReport(
            runs: runs,
            first: made.run,
            writes: made.writes,
            attempts: attempts,
            unchecked: invariants.compactMap { invariant in
                unchecked[invariant.name].map { ExplorationReport.Unchecked(invariant: invariant.name, reason: $0) }
            }
        )
    }

    /// The line in `NFC_REPLAY`; nil when there is none.
    private static var replayOfProcess: FaultScript? {
        environmentValue("NFC_REPLAY").flatMap { $0.isEmpty ? nil : FaultScript($0) }
    }

    private mutating func explore(_ part: Exploration.Part, after course: Exploration.Course) async throws {
        for script in try part.runs(course) {
            let run = try await attempt(script, as: part)
            if part.hasToHappen, run.happened.isEmpty { throw Self.staleReplay(script, run) }
            let exchanges = run.trace.exchanges.count
            guard part.losesTwice, !run.happened.isEmpty, let slip = script.steps.first, slip.place < exchanges else {
                continue
            }
            for place in (slip.place + 1)...exchanges {
                let loss = FaultScript.Step(kind: .loss, place: slip.place, comesBack: true)
                let last = FaultScript.Step(kind: .loss, place: place)
                _ = try await attempt(FaultScript([loss, last], seed: settings.seed), as: part)
            }
        }
    }

    private func nothingTried(_ run: FlowRun, _ finding: String) -> ExplorationFailure {
        ExplorationFailure(run, invariant: "something is tried", finding: finding, runs: runs)
    }

    private static func staleReplay(_ script: FaultScript, _ run: FlowRun) -> FieldError {
        FieldError(
            .badReplay,
            """
            "\(script)" replays nothing: the run made \(run.trace.exchanges.count) exchanges, and none of the faults happened in \
            it. The app or its test has changed since: explore again without NFC_REPLAY and .replay.
            """,
            trace: run.trace
        )
    }

    /// Makes a run that must not fail.
    private mutating func attempt(_ script: FaultScript, as part: Exploration.Part) async throws -> FlowRun {
        let made = try await make(script)
        if let failure = try await failure(of: made) { throw try await shrunk(failure) }
        let index = attempts.firstIndex { $0.name == part.name } ?? attempts.count
        if index == attempts.count { attempts.append(ExplorationReport.Attempt(name: part.name, runs: 0, happened: 0)) }
        attempts[index].runs += 1
        if !made.run.happened.isEmpty { attempts[index].happened += 1 }
        return made.run
    }

    /// Simplifies a failing run for as long as it still fails.
    private mutating func shrunk(_ failure: ExplorationFailure) async throws -> ExplorationFailure {
        var failure = failure
        let isLeak = failure.invariant == Invariant.nothingLeaks.name
        var candidates = failure.replay?.simpler ?? []
        while let next = candidates.first {
            candidates.removeFirst()
            suspect = nil
            let made = try await make(next)
            var found = try await self.failure(of: made)
            if found == nil, isLeak { found = try await leakOfLastRun() }
            if let found {
                failure = found
                candidates = next.simpler
            }
        }
        let finding = failure.finding + (try await isAlways(failure) ? "" : Self.race)
        return ExplorationFailure(failure.run, invariant: failure.invariant, finding: finding, runs: runs)
    }

    private static let race = "; not in every run, for the same line passed when it was run again: look for a race"

    /// Whether a run fails again when it is repeated. The repetition is not counted. Not checked for a run that ended
    /// with a field error, or for a leak, which shows only in the next run: for these it is true.
    private mutating func isAlways(_ failure: ExplorationFailure) async throws -> Bool {
        guard !(failure.run.error is FieldError), failure.invariant != Invariant.nothingLeaks.name else { return true }
        suspect = nil
        let made = try await make(failure.replay)
        runs -= 1
        return try await self.failure(of: made) != nil
    }

    /// The failure of a run, or of the run before.
    private mutating func failure(of made: Made) async throws -> ExplorationFailure? {
        let run = made.run
        let last = suspect
        // On a reader there is no next run that would show leaks.
        suspect = made.isVirtual && !made.objects.alive.isEmpty ? (run, made.objects.alive) : nil
        if let last, let failure = await leak(of: last.run, last.objects.alive.without(made.objects)) { return failure }
        if let error = run.error as? FieldError {
            return ExplorationFailure(run, invariant: "the flow ends", finding: error.reason, runs: runs)
        }
        if run.replay == nil, let error = run.error {
            return ExplorationFailure(run, invariant: "the flow works", finding: "it threw \(error)", runs: runs)
        }
        for invariant in invariants {
            switch await invariant.check(run) {
            case .holds:
                checked.insert(invariant.name)
                unchecked[invariant.name] = nil
            case .nothingToCheck(let reason):
                if !checked.contains(invariant.name) { unchecked[invariant.name] = reason }
            case .broken(let finding):
                return ExplorationFailure(run, invariant: invariant.name, finding: finding, runs: runs)
            }
        }
        return nil
    }

    // MARK: What is not freed

    private var looksForLeaks: Bool { invariants.contains { $0.name == Invariant.nothingLeaks.name } }

    /// Finds the objects that the last run never frees. This takes one more run, which is not counted.
    private mutating func leakOfLastRun() async throws -> ExplorationFailure? {
        guard looksForLeaks, let last = suspect else { return nil }
        suspect = nil
        let made = try await make(nil)
        runs -= 1
        return await leak(of: last.run, last.objects.alive.without(made.objects))
    }

    private func leak(of run: FlowRun, _ objects: LivingObjects) async -> ExplorationFailure? {
        guard looksForLeaks, !objects.isEmpty else { return nil }
        // A thread that has finished its work may be about to release its objects.
        for _ in 0..<60 {
            if objects.alive.isEmpty { return nil }
            try? await Task.sleep(for: .milliseconds(5))
        }
        var run = run
        run.leaks = objects.alive.names
        guard case .broken(let finding) = await Invariant.nothingLeaks.check(run) else { return nil }
        return ExplorationFailure(run, invariant: Invariant.nothingLeaks.name, finding: finding, runs: runs)
    }

    // MARK: Runs

    private mutating func make(_ script: FaultScript?) async throws -> Made {
        try Task.checkCancellation()
        runs += 1
        // The first run shows whether everything is counted. If so, no other run has to wait for uncounted work.
        let hasGrace = settings.grace != nil || runs == 1 || hasUncounted
        let field = try await TestField.opened(settings, hasGrace: hasGrace)
        field.place.sharePrintedLines(printedLines)
        note?.begin(script, in: field.place)
        field.state.withLock { [note] state in
            state.runNote = note
            state.made = LivingObjects()
        }
        defer {
            // An abandoned flow must not add anything to the note of the next run.
            field.state.withLock { state in
                if let note = state.runNote.take() { note.end() }
            }
        }
        if first == nil { field.watchMemory() }
        if let script { field.arm(script, companion: try await companion(for: script, in: field)) }
        var result: Result<FlowResult?, any Error>
        var isOpen = false
        do {
            (result, isOpen) = try await field.run { [flow] field in
                (await Result { try await flow(field) }, await field.leavesSessionOpen())
            }
        } catch {
            result = .failure(error)
        }
        var run = FlowRun(field, replay: script, result: result, leavesSessionOpen: isOpen, readings: readings)
        hasUncounted = hasUncounted || field.place.work.hasUncounted
        run.goal = first?.tags
        run.goalResult = first?.result
        run.courses = first?.courses ?? field.state.withLock { $0.courses ?? [] }
        let made = Made(
            run: run,
            isVirtual: field.virtual != nil,
            writes: field.virtual?.writeCount ?? 0,
            sessions: field.environment.arbiter.requestCount,
            connections: field.state.withLock { $0.connections },
            objects: field.state.withLock { $0.made ?? LivingObjects() }
        )
        field.close()
        try field.checkRecording()
        if let error = run.error as? FieldError, ![.neverEnds, .queueIsBlocked].contains(error.code) { throw error }
        return made
    }

    /// The second tag, if the script has one.
    private func companion(for script: FaultScript, in field: TestField) async throws -> NearbyTag? {
        guard script.steps.contains(where: { $0.kind == .second }), let spec = settings.tags.first,
            let tag = field.tags.first
        else { return nil }
        return try await field.makeCompanion(try await spec.companion(of: tag.virtual, seed: settings.seed))
    }
}

extension TestField {
    /// Whether a session is still open after the flow's remaining work: sessions that are ending, and completion
    /// handlers that are called a second time.
    fileprivate func leavesSessionOpen() async -> Bool {
        guard drivenClock != nil else {
            await releaseReader()
            return !environment.arbiter.isIdle
        }
        // The remaining work may be only the caller's own job.
        let work = place.work
        if !environment.arbiter.isIdle || work.queued > 0 || work.running > 1 || work.hasUncounted { await settle() }
        return !environment.arbiter.isIdle
    }
}
