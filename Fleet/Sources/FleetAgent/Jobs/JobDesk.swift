// SPDX-License-Identifier: Apache-2.0
package import FleetMQTT
package import FleetModel
package import FleetSpool
import NFCSessions
import TagProtocols

/// Accepts jobs, gives each job to one tag, and reports the outcome. Each step is first written to the journal.
package actor JobDesk {
    /// The dependencies of a job desk.
    package struct Parts: Sendable {
        package var spool: Spool
        package var naming: TagNaming
        package var keys: JobKeys
        package var secrets: SecretsFolder
        package var acceptsJobs: Bool
        package var log: AgentLog
        package var loop: EventLoop

        package init(
            spool: Spool,
            naming: TagNaming = TagNaming(),
            keys: JobKeys = JobKeys(),
            secrets: SecretsFolder = SecretsFolder(nil),
            acceptsJobs: Bool = true,
            log: AgentLog = .silent,
            loop: EventLoop = .agents
        ) {
            self.spool = spool
            self.naming = naming
            self.keys = keys
            self.secrets = secrets
            self.acceptsJobs = acceptsJobs
            self.log = log
            self.loop = loop
        }
    }

    nonisolated let parts: Parts
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe parts.loop.asUnownedSerialExecutor() }
    /// Called with events after they have been stored.
    let onStored: @Sendable ([StoredEvent]) -> Void
    var board = JobBoard()
    var lists = AllowLists()
    var readers: Set<FleetName> = []
    /// Limits outcomes for invalid jobs, because anyone can send them.
    var refusals = MinuteLimit(10)
    /// Limits outcomes that are sent again.
    var repetitions = MinuteLimit(100)
    /// How many messages have no outcome of their own, and have not been reported yet.
    var dropped = 0
    var isDropReportDue = false
    /// A rate-limited log for messages that anyone can cause.
    let untrustedJobLog: LimitedLog
    /// Journaled jobs that need no tag and are not done yet, because of a restart or a storage error.
    private var interruptedJobs: [Job] = []
    /// Outcomes that could not be stored and will be retried.
    private var unstoredOutcomes: [JobOutcome] = []
    var timer: Task<Void, Never>?
    var runningJobCount = 0
    var isClosed = false

    package init(_ parts: Parts, onStored: @escaping @Sendable ([StoredEvent]) -> Void) {
        self.parts = parts
        untrustedJobLog = LimitedLog(parts.log, about: "jobs", loop: parts.loop)
        self.onStored = onStored
    }

    /// Resumes the jobs left by an earlier run.
    package func begin() async throws(SpoolError) {
        let open = try await parts.spool.openJobs()
        board = JobBoard(open.filter(\.job.work.needsTag))
        interruptedJobs = open.map(\.job).filter { !$0.work.needsTag }
        lists = try await parts.spool.allowLists()
        scheduleSweep()
    }

    /// Records the node's readers, and continues jobs interrupted in an earlier run.
    package func note(readers: Set<FleetName>) async {
        self.readers = readers
        await resumeInterruptedJobs()
        scheduleSweep()
    }

    /// Continues the interrupted jobs whose reader exists. Readers are added one by one, so other jobs keep waiting.
    private func resumeInterruptedJobs() async {
        let now = Timestamp.now
        let jobs = interruptedJobs.filter { hasReader(of: $0) || $0.deadline <= now }
        interruptedJobs.removeAll(where: jobs.contains)
        for job in jobs {
            do throws(SpoolError) {
                try await start(job, now: now)
            } catch {
                postpone(job, error)
            }
        }
    }

    private func hasReader(of job: Job) -> Bool { job.reader.map(readers.contains) ?? true }

    /// Queues a job that could not be done for another attempt.
    func postpone(_ job: Job, _ error: SpoolError) {
        parts.log("spool", "The job \(job.id) failed and will be retried: \(error.reason)")
        interruptedJobs.append(job)
        scheduleSweep()
    }

    /// Whether a tag is on a reader's allow list; nil if there is no list.
    package func allows(_ uid: [UInt8], at reader: FleetName) -> Bool? { lists.allows(uid, at: reader) }

    // MARK: Time

    func scheduleSweep() {
        timer?.cancel()
        let retryTime = Timestamp.now + Self.pause
        var limits = interruptedJobs.map { hasReader(of: $0) ? retryTime : $0.deadline }
        if !unstoredOutcomes.isEmpty { limits.append(retryTime) }
        if let limit = board.nextLimit { limits.append(limit) }
        guard let limit = limits.min(), !isClosed else { return }
        let delay = min(max(limit - Timestamp.now, 20), 3_600_000)
        timer = Task { [weak self] in
            try? await Task.sleep(for: .milliseconds(delay))
            guard !Task.isCancelled else { return }
            await self?.sweep()
        }
    }

    private func sweep() async {
        let outcomes = unstoredOutcomes + board.sweep(now: Timestamp.now)
        unstoredOutcomes = []
        for outcome in outcomes { await finish(outcome) }
        await resumeInterruptedJobs()
        scheduleSweep()
    }

    /// Stores the outcome of a job that has left the board. If storing fails, retries later.
    func finish(_ outcome: JobOutcome) async {
        do throws(SpoolError) {
            try await end(outcome)
        } catch {
            parts.log("spool", "The outcome of a job can't be stored. Trying again: \(error.reason)")
            unstoredOutcomes.append(outcome)
            scheduleSweep()
        }
    }

    /// How long to wait before retrying, in milliseconds.
    private static let pause: Int64 = 5_000

    /// Assigns no more jobs to tags, and waits up to a second for running jobs.
    package func close() async {
        isClosed = true
        timer?.cancel()
        await reportDropped()
        untrustedJobLog.reportOmittedLines()
        for _ in 0..<50 where runningJobCount > 0 { try? await Task.sleep(for: .milliseconds(20)) }
    }
}
