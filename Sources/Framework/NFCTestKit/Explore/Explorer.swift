// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import NFCSessions

struct Explorer {
    private struct CompletedRun {
        var run: FlowRun
        var isVirtual: Bool
        var writes: Int
        var sessions: Int
        var connections: Int
        var objects: LivingObjects
    }

    private let settings: FieldSettings
    private let invariants: [Invariant]
    private let flow: @Sendable (TestField) async throws -> FlowResult?

    private var runs = 0
    private var first: FlowRun?
    private var attempts: [ExplorationReport.Attempt] = []
    private let readings = TagReadings()
    /// The run without faults on the second tag, which is made when it is first needed.
    private var replacement: FlowRun.Replacement?
    private let printedLines = PrintedLines()
    /// The text that the process writes if it ends during a run.
    private var note: RunNote?
    /// The invariants that no run could check so far, each with the reason.
    private var unchecked: [String: String] = [:]
    private var checkedNames: Set<String> = []
    /// The last run, if some of its objects are still alive. The next run may replace and free them.
    private var possibleLeak: (run: FlowRun, objects: LivingObjects)?
    private var progress: ExplorationProgress?
    /// Whether any run had work that can't be tracked: other threads, timers, sockets.
    private var hasUntracked = false

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

    private mutating func explore(_ exploration: Exploration) async throws -> ExplorationReport {
        let note = RunNote.take()
        defer { note.giveBack() }
        self.note = note
        let completed = try await make(nil)
        if let failure = try await failure(of: completed) { throw failure }
        if completed.isVirtual, completed.run.trace.exchanges.isEmpty {
            let problem = "the flow made no exchange with a tag: it ended too early, or it created no session"
            throw nothingTried(completed.run, problem)
        }
        first = completed.run
        if completed.isVirtual {
            let chosen = Self.replayOfProcess.map { Exploration.replay($0) } ?? exploration
            let course = Exploration.Course(
                answered: completed.run.trace.exchanges.map { (try? $0.answer?.get()) != nil },
                writes: completed.writes,
                sessions: completed.sessions,
                connections: completed.connections,
                seed: settings.seed
            )
            if !chosen.parts.contains(where: \.hasRuns) {
                throw nothingTried(completed.run, "the exploration has no runs: add some, such as .everyLoss")
            }
            progress = ExplorationProgress(planned: chosen.parts.reduce(0) { $0 + $1.runCount(after: course) })
            defer { progress?.end() }
            for part in chosen.parts { try await explore(part, after: course) }
            if let failure = try await leakOfLastRun() { throw try await shrunk(failure) }
        }
        return ExplorationReport(
            runs: runs,
            first: completed.run,
            writes: completed.writes,
            attempts: attempts,
            unchecked: invariants.compactMap { invariant in
                unchecked[invariant.name].map { ExplorationReport.Unchecked(invariant: invariant.name, reason: $0) }
            },
            suggestions: exploration.triesEverything && completed.isVirtual ? Self.suggestions(after: completed) : []
        )
    }

    /// What a flow that passed everything does not try.
    private static func suggestions(after first: CompletedRun) -> [String] {
        var suggestions: [String] = []
        if first.run.result == nil {
            suggestions.append("return what the app read or reports, so that the values of the runs are compared")
        }
        if first.sessions < 2 {
            suggestions.append("scan again with the same object (field.twice), so that state of the first scan shows")
        }
        let other = first.writes > 0 ? "a tag that is locked (.readOnly) or full" : "a tag that holds something else"
        suggestions.append("write a test with \(other), and expect an error there")
        return suggestions
    }

    /// The replay line in `NFC_REPLAY`; nil when the variable is not set.
    private static var replayOfProcess: FaultScript? {
        environmentValue("NFC_REPLAY").flatMap { $0.isEmpty ? nil : FaultScript($0) }
    }

    private mutating func explore(_ part: Exploration.Part, after course: Exploration.Course) async throws {
        for script in try part.runs(course) {
            let run = try await attempt(script, as: part)
            if part.mustHappen, run.happened.isEmpty { throw Self.staleReplay(script, run) }
            let exchanges = run.trace.exchanges.count
            guard part.losesTwice, !run.happened.isEmpty, let slip = script.steps.first, slip.position < exchanges
            else { continue }
            for position in (slip.position + 1)...exchanges {
                let loss = FaultScript.Step(kind: .loss, position: slip.position, comesBack: true)
                let last = FaultScript.Step(kind: .loss, position: position)
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
            "\(script)" had no effect: the run made \(run.trace.exchanges.count) exchanges, and none of the faults \
            happened. The app or its test has changed since: explore again without NFC_REPLAY and .replay.
            """,
            trace: run.trace
        )
    }

    /// Makes a run that must not fail.
    private mutating func attempt(_ script: FaultScript, as part: Exploration.Part) async throws -> FlowRun {
        let completed = try await make(script)
        if let failure = try await failure(of: completed) { throw try await shrunk(failure) }
        let index = attempts.firstIndex { $0.name == part.name } ?? attempts.count
        if index == attempts.count { attempts.append(ExplorationReport.Attempt(name: part.name, runs: 0, happened: 0)) }
        attempts[index].runs += 1
        if !completed.run.happened.isEmpty { attempts[index].happened += 1 }
        progress?.addRun()
        return completed.run
    }

    /// Simplifies a failing run for as long as it still fails.
    private mutating func shrunk(_ failure: ExplorationFailure) async throws -> ExplorationFailure {
        var failure = failure
        let isLeak = failure.invariant == Invariant.nothingLeaks.name
        var candidates = failure.replay?.simpler ?? []
        while let next = candidates.first {
            candidates.removeFirst()
            possibleLeak = nil
            let completed = try await make(next)
            var found = try await self.failure(of: completed)
            if found == nil, isLeak { found = try await leakOfLastRun() }
            if let found {
                failure = found
                candidates = next.simpler
            }
        }
        let finding = failure.finding + (try await isAlways(failure) ? "" : Self.race)
        return ExplorationFailure(failure.run, invariant: failure.invariant, finding: finding, runs: runs)
    }

    private static let race =
        "; this failure is intermittent (the same line passed when it was run again), so look for a race"

    /// Repeats a run without counting it, and returns whether it fails again. A run that ended with a field error is
    /// not repeated, nor is a run that leaks, because leaks show only in the next run. For these, returns true.
    private mutating func isAlways(_ failure: ExplorationFailure) async throws -> Bool {
        guard !(failure.run.error is FieldError), failure.invariant != Invariant.nothingLeaks.name else { return true }
        possibleLeak = nil
        let completed = try await make(failure.replay)
        runs -= 1
        return try await self.failure(of: completed) != nil
    }

    /// The failure of a run, or a leak of the run before; nil when neither failed.
    private mutating func failure(of completed: CompletedRun) async throws -> ExplorationFailure? {
        let run = completed.run
        let last = possibleLeak
        // On a real reader, only one run is made, and leaks would show only in the next run.
        possibleLeak = completed.isVirtual && !completed.objects.alive.isEmpty ? (run, completed.objects.alive) : nil
        if let last, let leak = await leak(of: last.run, last.objects.alive.without(completed.objects)) { return leak }
        if let error = run.error as? FieldError {
            return ExplorationFailure(run, invariant: "the flow ends", finding: error.reason, runs: runs)
        }
        if first == nil, let finding = run.endlessPolling {
            return ExplorationFailure(run, invariant: "the flow ends", finding: finding, runs: runs)
        }
        if run.replay == nil, let error = run.error {
            let finding = "it threw \(error)" + (run.missingTag.map { ". \($0)" } ?? "")
            return ExplorationFailure(run, invariant: "the flow works", finding: finding, runs: runs)
        }
        for invariant in invariants {
            switch await invariant.check(run) {
            case .holds:
                checkedNames.insert(invariant.name)
                unchecked[invariant.name] = nil
            case .nothingToCheck(let reason):
                if !checkedNames.contains(invariant.name) { unchecked[invariant.name] = reason }
            case .broken(let finding):
                return ExplorationFailure(run, invariant: invariant.name, finding: finding, runs: runs)
            }
        }
        return nil
    }

    // MARK: Leaks

    private var looksForLeaks: Bool { invariants.contains { $0.name == Invariant.nothingLeaks.name } }

    /// Finds the objects that the last run never frees, by making one more run, which is not counted.
    private mutating func leakOfLastRun() async throws -> ExplorationFailure? {
        guard looksForLeaks, let last = possibleLeak else { return nil }
        possibleLeak = nil
        let completed = try await make(nil)
        runs -= 1
        return await leak(of: last.run, last.objects.alive.without(completed.objects))
    }

    private func leak(of run: FlowRun, _ objects: LivingObjects) async -> ExplorationFailure? {
        guard looksForLeaks, !objects.isEmpty else { return nil }
        // A thread may have finished its work and not yet released its objects. Work in real time takes longer.
        for _ in 0..<(hasUntracked ? 600 : 60) {
            if objects.alive.isEmpty { return nil }
            try? await Task.sleep(for: .milliseconds(5))
        }
        var run = run
        run.leaks = objects.alive.names
        guard case .broken(let finding) = await Invariant.nothingLeaks.check(run) else { return nil }
        return ExplorationFailure(run, invariant: Invariant.nothingLeaks.name, finding: finding, runs: runs)
    }

    // MARK: Runs

    /// Runs the flow once.
    ///
    /// - Parameters:
    ///   - script: the faults; nil for none.
    ///   - tag: a tag to use in place of the first one.
    private mutating func make(_ script: FaultScript?, near tag: TagSpec? = nil) async throws -> CompletedRun {
        try Task.checkCancellation()
        var settings = settings
        if let tag { settings.tags[0] = tag }
        if let script, script.steps.contains(where: { $0.kind == .swap }) { try await makeReplacement() }
        runs += 1
        // The first run shows whether all work can be tracked. If so, later runs don't wait for untracked work.
        let hasGrace = settings.grace != nil || runs == 1 || hasUntracked
        let field = try await TestField.opened(settings, hasGrace: hasGrace)
        let name = script.map { "the run with \($0)" } ?? "a run without faults"
        field.tracker.sharePrintedLines(printedLines, of: name)
        note?.begin(script, in: field.tracker)
        field.state.withLock { [note] state in
            state.runNote = note
            state.createdObjects = LivingObjects()
        }
        defer {
            // An abandoned flow must not write to the note of the next run.
            field.state.withLock { state in
                if let note = state.runNote.take() { note.end() }
            }
        }
        if first == nil || tag != nil { field.watchMemory() }
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
        hasUntracked = hasUntracked || field.tracker.work.hasUntracked
        run.goal = first?.tags
        run.goalResult = first?.result
        run.goalText = first?.successText
        run.replacement = script == nil ? nil : replacement
        run.courses = (tag == nil ? first?.courses : nil) ?? field.state.withLock { $0.courses ?? [] }
        var completed = CompletedRun(
            run: run,
            isVirtual: field.virtual != nil,
            writes: field.virtual?.writeCount ?? 0,
            sessions: field.environment.arbiter.requestCount,
            connections: field.state.withLock { $0.connections },
            objects: field.state.withLock { $0.createdObjects ?? LivingObjects() }
        )
        if looksForLeaks, !(run.error is FieldError) { completed.run.nextDelay = await field.nextDelayAfterOthers() }
        field.close()
        try field.checkRecording()
        if let error = run.error as? FieldError, ![.neverEnds, .queueIsBlocked].contains(error.code) { throw error }
        return completed
    }

    /// Runs the flow without faults on the second tag alone, once.
    private mutating func makeReplacement() async throws {
        guard replacement == nil, let spec = settings.tags.first else { return }
        let tag = try await spec.make(seed: settings.seed)
        let run = try await make(nil, near: try await spec.companion(of: tag, seed: settings.seed, isChanged: true)).run
        runs -= 1
        replacement = FlowRun.Replacement(
            after: run.tags.first?.after,
            result: run.result,
            course: run.courses.first ?? MemoryCourse([])
        )
    }

    private func companion(for script: FaultScript, in field: TestField) async throws -> NearbyTag? {
        let isSwapped = script.steps.contains { $0.kind == .swap }
        guard isSwapped || script.steps.contains(where: { $0.kind == .second }), let spec = settings.tags.first,
            let tag = field.tags.first
        else { return nil }
        return try await field.makeCompanion(
            try await spec.companion(of: tag.virtual, seed: settings.seed, isChanged: isSwapped)
        )
    }
}

/// Announces an exploration with many runs, and shows its progress on a terminal.
struct ExplorationProgress {
    /// The number of runs above which an exploration is announced.
    private static let limit = 5000
    /// How many runs are made before the announcement, to know how long a run takes.
    private static let sample = 100

    private let planned: Int
    private var runs = 0
    private let start = ContinuousClock.now
    private var lastShown = Duration.zero
    private let isTerminal = isatty(STDERR_FILENO) == 1

    init(planned: Int) { self.planned = planned }

    mutating func addRun() {
        guard planned > Self.limit else { return }
        runs += 1
        let elapsed = start.duration(to: .now)
        let rest = elapsed / runs * max(planned - runs, 0)
        if runs == Self.sample {
            Self.write(
                """
                NFCTestKit: this exploration makes \(planned) runs, which takes about \(Self.text(for: rest)). A shorter \
                flow or fewer kinds of faults need fewer runs.

                """
            )
        } else if isTerminal, runs > Self.sample, elapsed - lastShown >= .seconds(1) {
            lastShown = elapsed
            Self.write("\r\(runs) of \(planned) runs, about \(Self.text(for: rest)) left\u{1B}[K")
        }
    }

    func end() {
        if lastShown > .zero { Self.write("\r\u{1B}[K") }
    }

    private static func text(for time: Duration) -> String {
        let seconds = time.components.seconds
        return seconds < 120 ? "\(max(seconds, 1)) s" : "\((seconds + 30) / 60) min"
    }

    private static func write(_ text: String) { OutputDescriptor.standardError.write(text) }
}

extension TestField {
    /// Waits for the flow's remaining work, such as ending sessions and repeated calls of completion handlers. Returns
    /// whether a session is still open.
    fileprivate func leavesSessionOpen() async -> Bool {
        guard drivenClock != nil else {
            await releaseReader()
            return !environment.arbiter.isIdle
        }
        // If only the caller's own job is running, no work remains.
        let work = tracker.work
        if !environment.arbiter.isIdle || work.queued > 0 || work.running > 1 || work.hasUntracked { await settle() }
        // A tag that comes or leaves ends that wait, although the end of an invalidated session was not yet reported.
        if !environment.arbiter.isIdle { await wait(for: SessionLimits.phone.endReport) }
        return !environment.arbiter.isIdle
    }

    /// Lets the delays pass that the flow has left behind, such as a retry after a second, for as long as its objects
    /// live, because the work after a delay may still need them.
    ///
    /// - Returns: the end of the next delay, if the app begins delays again and again; nil when none is left.
    fileprivate func nextDelayAfterOthers() async -> Duration? {
        guard let clock = drivenClock, clock.nextDelay != nil else { return nil }
        _ = try? await run { field in
            for _ in 0..<1000 {
                guard let end = clock.nextDelay, end <= field.limit, field.hasLivingObjects else { return }
                await field.wait(for: max(end - clock.now, .zero))
            }
        }
        return clock.nextDelay
    }

    private var hasLivingObjects: Bool { state.withLock { $0.createdObjects?.alive.isEmpty == false } }
}
