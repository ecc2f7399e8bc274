// SPDX-License-Identifier: Apache-2.0

/// The jobs that wait for a tag, in the order in which they came. The journal on disk has the same.
package struct JobBoard: Sendable {
    /// The most jobs that wait.
    package static let maximumCount = 1000
    /// How long a tag that was lost may take to come back, in milliseconds.
    package static let patience: Int64 = 10_000

    /// What a job has begun with. It can't be changed any more.
    package struct Beginning: Sendable, Hashable {
        package var reader: FleetName
        package var uid: [UInt8]
        /// The serial number of this job, for ever.
        package var serial: Int64?
        /// What the tag was left with, as far as the work went.
        package var tagState: JobOutcome.TagState

        package init(reader: FleetName, uid: [UInt8], serial: Int64?, tagState: JobOutcome.TagState = .uncertain) {
            self.reader = reader
            self.uid = uid
            self.serial = serial
            self.tagState = tagState
        }
    }

    /// A job, and how far it is.
    package struct Entry: Sendable, Hashable {
        package var job: Job
        /// Nil while it waits for its tag.
        package var beginning: Beginning?
        /// Until when the tag that was lost may come back; nil while the work goes on.
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
    /// - Parameter entries: what an earlier run has left. A job that had begun waits for its tag until its deadline.
    package init(_ entries: [Entry] = []) {
        self.entries = entries.map { entry in
            var entry = entry
            if entry.beginning != nil { entry.limit = entry.job.deadline }
            return entry
        }
    }

    /// Whether a job is on the board.
    package func contains(_ id: String) -> Bool { entries.contains { $0.job.id == id } }

    /// Adds a job at the end.
    ///
    /// - Throws: ``JobRefusal`` with `tooManyJobs`.
    package mutating func add(_ job: Job) throws(JobRefusal) {
        try checkRoom(for: job)
        entries.append(Entry(job))
    }

    /// Checks that one more job can wait.
    ///
    /// - Throws: ``JobRefusal`` with `tooManyJobs`.
    package func checkRoom(for job: Job) throws(JobRefusal) {
        guard entries.count < Self.maximumCount else {
            throw JobRefusal(.tooManyJobs, "\(Self.maximumCount) jobs wait already. Take some back first.", job: job.id)
        }
    }

    /// Returns the job for a tag that has come: one that had begun with it, or else the first that waits and fits.
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

    /// Notes that a job works with a tag.
    package mutating func begin(_ id: String, with beginning: Beginning) {
        guard let index = entries.firstIndex(where: { $0.job.id == id }) else { return }
        entries[index].beginning = beginning
        entries[index].limit = nil
    }

    /// Notes that a job could not begin. It waits again.
    package mutating func release(_ id: String) {
        guard let index = entries.firstIndex(where: { $0.job.id == id }) else { return }
        entries[index].beginning = nil
    }

    /// Notes that the tag of a job was lost.
    ///
    /// - Parameter tagState: what the tag was left with.
    package mutating func lose(_ id: String, tagState: JobOutcome.TagState, now: Int64) {
        guard let index = entries.firstIndex(where: { $0.job.id == id }) else { return }
        entries[index].beginning?.tagState = tagState
        entries[index].limit = min(now + Self.patience, entries[index].job.deadline)
    }

    /// Removes a job that has ended.
    package mutating func end(_ id: String) { entries.removeAll { $0.job.id == id } }

    /// Removes what nobody waits for any more, and returns the outcomes.
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
        outcome.message = "The tag left before the work was done, and did not come back."
        return outcome
    }

    /// The next time at which ``sweep(now:)`` has something to do; nil when nothing waits.
    package var nextLimit: Int64? {
        entries.compactMap { $0.beginning == nil ? $0.job.deadline : $0.limit }.min()
    }
}
