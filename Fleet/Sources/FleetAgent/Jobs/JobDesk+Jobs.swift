// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetSpool

/// Accepting jobs.
extension JobDesk {
    /// Handles a received job message.
    package func take(_ payload: [UInt8]) async {
        let node = parts.spool.node
        let now = Timestamp.now
        do throws(JobRefusal) {
            guard parts.acceptsJobs else {
                throw JobKeys.naming(JobRefusal(.notAccepted, "This node does not accept jobs."), payload)
            }
            try await take(try parts.keys.open(payload, node: node, now: now), now: now)
        } catch {
            await refuse(error, now: now)
        }
    }

    /// Counts messages that get no outcome of their own, and reports them together a little later.
    func noteDropped(_ count: Int) {
        dropped += count
        guard !isDropReportDue else { return }
        isDropReportDue = true
        parts.loop.after(Self.dropReportDelay) { [weak self] in
            guard let self else { return }
            Task { await self.reportDropped() }
        }
    }

    /// Short enough that a sender still notices the report, and long enough that there are few reports.
    private static let dropReportDelay = Duration.seconds(10)

    /// Reports the messages without an outcome of their own.
    func reportDropped() async {
        isDropReportDue = false
        guard dropped > 0 else { return }
        let count = dropped
        dropped = 0
        let reason = """
            \(count) messages have no outcome of their own, because this node received more than it can handle or answer. \
            Send fewer at a time.
            """
        untrustedJobLog("jobs-dropped", reason, [.init("count", .integer(count))])
        let now = Timestamp.now
        var event = JobOutcome(JobRefusal(.tooManyJobs, reason)).event(parts.naming, time: now)
        event.members.append(.init("count", .integer(count)))
        guard let stored = try? await parts.spool.append([(.bridge, event)]) else {
            dropped += count
            return
        }
        onStored(stored.events)
    }

    private func refuse(_ error: JobRefusal, now: Int64) async {
        untrustedJobLog(
            "job-refused",
            "A job was refused: \(error.reason)",
            [.init("code", .string(error.code.description))]
        )
        // Anyone can send invalid jobs. Their outcomes must not fill the spool.
        guard refusals.allows(now: now) else { return noteDropped(1) }
        // The ID may belong to someone else's job, so the journal is not changed.
        var outcome = JobOutcome(error)
        (outcome.job, outcome.message) = (nil, error.reason)
        var event = outcome.event(parts.naming, time: now)
        if let job = error.job { event.members.insert(.init("job", .string(job)), at: 0) }
        guard let stored = try? await parts.spool.append([(.bridge, event)]) else { return }
        onStored(stored.events)
    }

    private func take(_ job: Job, now: Int64) async throws(JobRefusal) {
        // Check the room before a new job is in the journal, so that endless new jobs do not fill the disk. A job that
        // has already ended needs no room: its outcome is sent again.
        var isRefused = false
        let hasRoom = !job.work.needsTag || (try? board.checkRoom(for: job)) != nil
        do throws(SpoolError) {
            switch try await parts.spool.accept(job, hasRoom: hasRoom) {
            case .refused: isRefused = true
            case .new:
                do throws(SpoolError) {
                    try await start(job, now: now)
                } catch {
                    postpone(job, error)
                }
            case .waiting: untrustedJobLog("job-again", "The job \(job.id) was received again, and is waiting.")
            case .ended(let members): try await repeatOutcome(members, now: now)
            }
        } catch {
            throw JobRefusal(.init(error.code.description), error.reason, job: job.id)
        }
        guard isRefused else { return }
        if job.work.needsTag { try board.checkRoom(for: job) }
        let reason =
            "The journal has no room for the job. Cancel waiting jobs, send earlier deadlines, or raise limit_mb."
        throw JobRefusal(.tooManyJobs, reason, job: job.id)
    }

    private func repeatOutcome(_ members: JSONValue, now: Int64) async throws(SpoolError) {
        guard repetitions.allows(now: now) else { return }
        var list = (members.objectMembers ?? []).filter { $0.name != "repeated" }
        list.append(.init("repeated", true))
        let subject = members["uid"]?.text ?? members["uid_hash"]?.text
        let event = FleetEvent(.outcome, time: now, subject: subject, members: list)
        onStored(try await parts.spool.append([(.bridge, event)]).events)
    }

    /// Performs a journaled job now, or queues it until its tag arrives.
    ///
    /// - Throws: ``SpoolError`` if an allow-list change can't be stored. The list is then unchanged.
    func start(_ job: Job, now: Int64) async throws(SpoolError) {
        parts.log("job", "The job \(job.id) (\(job.work.name)) was received.", [.init("job", .string(job.id))])
        guard job.deadline > now else { return await finish(JobOutcome(.expired, job: job.id, kind: job.work.name)) }
        do throws(JobRefusal) {
            if let reader = job.reader, !readers.contains(reader) {
                throw JobRefusal(.unknownReader, "The node has no reader \(reader).")
            }
            // Report a missing secret immediately, rather than when a tag arrives.
            if case .protect(.named(let name)) = job.work { _ = try parts.secrets.secret(name) }
            switch job.work {
            case .write, .protect, .lock:
                try board.add(job)
                scheduleSweep()
                return
            case .indicate:
                throw JobRefusal(.noIndicator, "No reader of this node has lights that can be controlled.")
            case .cancel(let id): try await cancel(id)
            case .allow(let change):
                guard lists.hasRoom(for: change, at: job.reader) else {
                    let reason =
                        "An allow list has at most \(AllowLists.maximumCount) UIDs. Replace it, or remove some."
                    throw JobRefusal(.badJob, reason)
                }
            }
        } catch {
            return await finish(JobOutcome(error, of: job))
        }
        let done = JobOutcome(.done, job: job.id, kind: job.work.name)
        guard case .allow(let change) = job.work else { return await finish(done) }
        try await end(done, applying: (change, job.reader))
        lists.apply(change, to: job.reader)
    }

    private func cancel(_ id: String) async throws(JobRefusal) {
        guard let entry = board.entries.first(where: { $0.job.id == id }) else {
            throw JobRefusal(.badJob, "The job \(id) is not waiting on this node.")
        }
        guard entry.beginning == nil else {
            throw JobRefusal(.badJob, "The job \(id) has started on a tag, so it can't be cancelled.")
        }
        board.end(id)
        await finish(JobOutcome(JobRefusal(.cancelled, "The job was cancelled.", job: id), of: entry.job))
    }

    func end(
        _ outcome: JobOutcome,
        applying change: (change: Job.AllowChange, reader: FleetName?)? = nil
    ) async throws(SpoolError) {
        let event = outcome.event(parts.naming, time: Timestamp.now)
        let stored = try await parts.spool.end(outcome, event, applying: change)
        let id = outcome.job ?? ""
        parts.log("job-ended", "The job \(id) has ended: \(outcome.result.rawValue).", [.init("job", .string(id))])
        onStored(stored.map { [$0] } ?? [])
    }
}
