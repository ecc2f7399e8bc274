// SPDX-License-Identifier: Apache-2.0
package import FleetMQTT
package import FleetModel
package import FleetSpool
import NFCSessions
import TagProtocols

/// Takes jobs, gives each to one tag, and reports what became of it. The journal in the spool comes first in all of it.
package actor JobDesk {
    /// What a desk needs.
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
    /// Called with events after they were stored.
    let onStored: @Sendable ([StoredEvent]) -> Void
    var board = JobBoard()
    var lists = AllowLists()
    var readers: Set<FleetName> = []
    /// Refusals of nonsense, which anybody can send.
    var refusals = MinuteLimit(10)
    /// Outcomes that are sent again.
    var repetitions = MinuteLimit(100)
    /// The log of what anybody can send.
    let strangersLog: LimitedLog
    /// Jobs that need no tag and are in the journal, but could not be done yet: not in an earlier run, or not stored.
    private var interrupted: [Job] = []
    /// Outcomes that could not be stored. They are tried again.
    private var unstored: [JobOutcome] = []
    var timer: Task<Void, Never>?
    var working = 0
    var isClosed = false

    package init(_ parts: Parts, onStored: @escaping @Sendable ([StoredEvent]) -> Void) {
        self.parts = parts
        strangersLog = LimitedLog(parts.log, about: "jobs", loop: parts.loop)
        self.onStored = onStored
    }

    /// Takes up what an earlier run has left.
    package func begin() async throws(SpoolError) {
        let open = try await parts.spool.openJobs()
        board = JobBoard(open.filter(\.job.work.needsTag))
        interrupted = open.map(\.job).filter { !$0.work.needsTag }
        lists = try await parts.spool.allowLists()
        scheduleSweep()
    }

    /// Notes the readers that the node has, and does what an earlier run was about to do.
    package func note(readers: Set<FleetName>) async {
        self.readers = readers
        await takeUpInterrupted()
        scheduleSweep()
    }

    /// Does the interrupted jobs whose reader is there. The readers are noted one after the other, so the others wait.
    private func takeUpInterrupted() async {
        let now = Timestamp.now
        let jobs = interrupted.filter { hasReader(of: $0) || $0.deadline <= now }
        interrupted.removeAll(where: jobs.contains)
        for job in jobs {
            do throws(SpoolError) {
                try await start(job, now: now)
            } catch {
                postpone(job, error)
            }
        }
    }

    private func hasReader(of job: Job) -> Bool { job.reader.map(readers.contains) ?? true }

    /// Keeps a job that could not be done. It is tried again.
    func postpone(_ job: Job, _ error: SpoolError) {
        parts.log("spool", "The job \(job.id) can't be done, and is tried again: \(error.reason)")
        interrupted.append(job)
        scheduleSweep()
    }

    /// Whether a tag is allowed at a reader; nil when there is no list.
    package func allows(_ uid: [UInt8], at reader: FleetName) -> Bool? { lists.allows(uid, at: reader) }

    // MARK: Time

    func scheduleSweep() {
        timer?.cancel()
        let again = Timestamp.now + Self.pause
        var limits = interrupted.map { hasReader(of: $0) ? again : $0.deadline }
        if !unstored.isEmpty { limits.append(again) }
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
        let outcomes = unstored + board.sweep(now: Timestamp.now)
        unstored = []
        for outcome in outcomes { await finish(outcome) }
        await takeUpInterrupted()
        scheduleSweep()
    }

    /// Stores the outcome of a job that has left the board, now or when the disk takes it.
    func finish(_ outcome: JobOutcome) async {
        do throws(SpoolError) {
            try await end(outcome)
        } catch {
            parts.log("spool", "The end of a job can't be stored, and is tried again: \(error.reason)")
            unstored.append(outcome)
            scheduleSweep()
        }
    }

    /// How long an outcome that could not be stored waits, in milliseconds.
    private static let pause: Int64 = 5_000

    /// Gives no more jobs to tags, and waits a second for the work that has begun.
    package func close() async {
        isClosed = true
        timer?.cancel()
        strangersLog.reportLeftOut()
        for _ in 0..<50 where working > 0 { try? await Task.sleep(for: .milliseconds(20)) }
    }
}
