// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool
import NFCSessions
import TagProtocols

/// Matching jobs with tags.
extension JobDesk {
    /// Returns the job for a tag that has arrived; nil if there is none. The journal then records its start.
    func order(for uid: [UInt8], at reader: FleetName) async -> WorkOrder? {
        guard !isClosed, let entry = board.next(for: uid, at: reader, now: Timestamp.now) else { return nil }
        if let beginning = entry.beginning {
            board.begin(entry.job.id, with: beginning)
            return WorkOrder(job: entry.job, beginning: beginning, isResumed: true)
        }
        var needsSerial = false
        if case .write(let template, _) = entry.job.work { needsSerial = template.needsSerial }
        // Reserved before the await, so that no other reader can take the job.
        var beginning = JobBoard.Beginning(reader: reader, uid: uid, serial: nil)
        board.begin(entry.job.id, with: beginning)
        do throws(SpoolError) {
            let id = entry.job.id
            beginning.serial = try await parts.spool.begin(id, at: reader, with: uid, takingSerial: needsSerial)
        } catch {
            parts.log("spool", "A job can't start: \(error.reason)")
            board.release(entry.job.id)
            return nil
        }
        board.begin(entry.job.id, with: beginning)
        return WorkOrder(job: entry.job, beginning: beginning, isResumed: false)
    }

    /// Returns the job that was interrupted when this tag was lost; nil if there is none.
    func resume(_ uid: [UInt8], at reader: FleetName) -> WorkOrder? {
        let lostEntry = board.entries.first {
            $0.beginning?.uid == uid && $0.beginning?.reader == reader && $0.limit != nil
        }
        guard !isClosed, let entry = lostEntry, let beginning = entry.beginning else { return nil }
        board.begin(entry.job.id, with: beginning)
        return WorkOrder(job: entry.job, beginning: beginning, isResumed: true)
    }

    /// Performs a job with a tag.
    ///
    /// - Throws: ``TagError`` if the tag was lost. The job is then retried when the tag returns.
    nonisolated func work(_ order: WorkOrder, with tag: WatchedTag) async throws(TagError) {
        await beginWork()
        let work = TagWork(order: order, node: parts.spool.node) {
            [secrets = parts.secrets] (name) throws(JobRefusal) in
            try secrets.secret(name)
        }
        let result = await work.perform(on: tag)
        await finish(order, result)
        if case .lost = result { throw TagError(.tagLost, "The tag left before its job was finished.") }
    }

    private func beginWork() { runningJobCount += 1 }

    private func finish(_ order: WorkOrder, _ result: WorkResult) async {
        runningJobCount -= 1
        switch result {
        case .ended(let outcome):
            board.end(order.job.id)
            await finish(outcome)
        case .lost(let state):
            board.lose(order.job.id, tagState: state, now: Timestamp.now)
            scheduleSweep()
            do throws(SpoolError) {
                try await parts.spool.note(state, of: order.job.id)
            } catch {
                parts.log("spool", "The state in which a job left its tag can't be stored: \(error.reason)")
            }
        }
    }
}
