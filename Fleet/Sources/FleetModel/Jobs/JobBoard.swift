// SPDX-License-Identifier: Apache-2.0

/// The jobs that wait for a tag, in order of arrival. The journal on disk has the same jobs.
package struct JobBoard: Sendable {
    /// The maximum number of waiting jobs.
    package static let maximumCount = 1000
    /// How long a lost tag may take to return, in milliseconds.
    package static let patience: Int64 = 10_000

    /// The tag assigned to a job. It can't be changed afterwards.
    package struct Beginning: Sendable, Hashable {
        package var reader: FleetName
        package var uid: [UInt8]
        /// The job's serial number, which is never used again.
        package var serial: Int64?
        /// The last known state of the tag.
        package var tagState: JobOutcome.TagState

        package init(reader: FleetName, uid: [UInt8], serial: Int64?, tagState: JobOutcome.TagState = .uncertain) {
            self.reader = reader
            self.uid = uid
            self.serial = serial
            self.tagState = tagState
        }
    }

    /// A job and its progress.
    package struct Entry: Sendable, Hashable {
        package var job: Job
        /// The assigned tag; nil while the job waits for a tag.
        package var beginning: Beginning?
        /// The time by which a lost tag must return; nil while work is in progress.
        package var limit: Int64?

        package init(_ job: Job, beginning: Beginning? = nil, limit: Int64? = nil) {
            self.job = job
            self.beginning = beginning
            self.limit = limit
        }
    }

    private(set) package var entries: [Entry]

    /// Creates a board.
    ///
    /// - Parameter entries: the jobs left by an earlier run. Started jobs wait for their tag until their deadline.
    package init(_ entries: [Entry] = []) {
        self.entries = entries.map { entry in
            var entry = entry
            if entry.beginning != nil { entry.limit = entry.job.deadline }
            return entry
        }
    }

    /// Appends a job.
    ///
    /// - Throws: ``JobRefusal`` with `tooManyJobs` if the board is full.
    package mutating func add(_ job: Job) throws(JobRefusal) {
        try checkRoom(for: job)
        entries.append(Entry(job))
    }

    /// Checks that the board has space for another job.
    ///
    /// - Throws: ``JobRefusal`` with `tooManyJobs` if the board is full.
    package func checkRoom(for job: Job) throws(JobRefusal) {
        guard entries.count < Self.maximumCount else {
            let reason = "\(Self.maximumCount) jobs are waiting already. Cancel some first."
            throw JobRefusal(.tooManyJobs, reason, job: job.id)
        }
    }

    /// Returns the job for an arrived tag: the job already started with this tag, or the first waiting job that fits.
    package func next(for uid: [UInt8], at reader: FleetName, now: Int64) -> Entry? {
        if let begun = entries.first(where: { $0.beginning?.uid == uid && $0.beginning?.reader == reader }) {
            return begun
        }
        return entries.first { entry in
            entry.job.work.needsTag && entry.beginning == nil && entry.job.deadline > now
                && (entry.job.reader ?? reader) == reader
                && (entry.job.uid ?? uid) == uid
        }
    }

    /// Records that a job is working with a tag.
    package mutating func begin(_ id: String, with beginning: Beginning) {
        guard let index = entries.firstIndex(where: { $0.job.id == id }) else { return }
        entries[index].beginning = beginning
        entries[index].limit = nil
    }

    /// Returns a job that could not start to the waiting jobs.
    package mutating func release(_ id: String) {
        guard let index = entries.firstIndex(where: { $0.job.id == id }) else { return }
        entries[index].beginning = nil
    }

    /// Records that a job's tag was lost.
    ///
    /// - Parameter tagState: the last known state of the tag.
    package mutating func lose(_ id: String, tagState: JobOutcome.TagState, now: Int64) {
        guard let index = entries.firstIndex(where: { $0.job.id == id }) else { return }
        entries[index].beginning?.tagState = tagState
        entries[index].limit = min(now + Self.patience, entries[index].job.deadline)
    }

    /// Removes a job that has ended.
    package mutating func end(_ id: String) { entries.removeAll { $0.job.id == id } }

    /// Removes jobs that have timed out, and returns their outcomes.
    package mutating func sweep(now: Int64) -> [JobOutcome] {
        var outcomes: [JobOutcome] = []
        entries.removeAll { entry in
            if let beginning = entry.beginning {
                guard let limit = entry.limit, limit <= now else { return false }
                outcomes.append(Self.lost(entry.job, beginning))
                return true
            }
            guard entry.job.deadline <= now else { return false }
            outcomes.append(JobOutcome(.expired, job: entry.job.id, kind: entry.job.work.name))
            return true
        }
        return outcomes
    }

    private static func lost(_ job: Job, _ beginning: Beginning) -> JobOutcome {
        var outcome = JobOutcome(.tagLost, job: job.id, kind: job.work.name)
        outcome.reader = beginning.reader
        outcome.uid = beginning.uid
        outcome.serial = beginning.serial
        outcome.tagState = beginning.tagState
        outcome.message = "The tag left before the work was finished, and did not return."
        return outcome
    }

    /// The next time at which to call ``sweep(now:)``; nil if no job is waiting.
    package var nextLimit: Int64? {
        entries.compactMap { $0.beginning == nil ? $0.job.deadline : $0.limit }.min()
    }
}
