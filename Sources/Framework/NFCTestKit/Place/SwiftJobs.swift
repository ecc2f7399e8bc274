// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// Jobs of tasks that run next on the thread that starts them. Most jobs end as soon as they have started another job,
/// and waking a thread for that takes longer than a whole run of a short flow.
///
/// A job that does not end soon passes its kept job to the other threads: as soon as it waits, or at the next check of
/// ``RestMonitor``. A job that other work starts, such as a completion handler, is postponed in ``TestTracker``.
@safe enum SwiftJobs {
    /// A job and its queue, as addresses.
    struct Job: Sendable {
        private let job: UInt
        private let queue: UInt

        init(_ job: DispatchLibrary.Pointer, of queue: DispatchLibrary.Pointer) {
            self.job = UInt(bitPattern: job)
            self.queue = UInt(bitPattern: queue)
        }

        var pointer: DispatchLibrary.Pointer? { unsafe DispatchLibrary.Pointer(bitPattern: job) }

        /// Puts the job on its queue.
        func enqueue() {
            guard let queue = unsafe DispatchLibrary.Pointer(bitPattern: queue) else { return }
            unsafe DispatchLibrary.async(queue, pointer, CarriedWork.run)
        }
    }

    /// A job, and the work for which it is kept.
    private struct Kept {
        let owner: ObjectIdentifier
        let job: Job
        /// Whether the monitor has seen the job before.
        var isOld = false
    }

    private static let kept = Locked<[Kept]>([])
    /// The address of the function of Swift's runtime that runs a job, and the last address that was another function.
    private static let known = Locked<(job: UInt, other: UInt)>((0, 0))
    private static let mainQueue = unsafe UInt(
        bitPattern: dlsym(UnsafeMutableRawPointer(bitPattern: -1), "_dispatch_main_q")
    )

    /// Whether a function runs a task's job on a concurrent queue.
    static func isJob(_ function: @escaping DispatchLibrary.Function, of queue: DispatchLibrary.Pointer) -> Bool {
        guard UInt(bitPattern: queue) != mainQueue else { return false }
        let pointer = unsafe unsafeBitCast(function, to: DispatchLibrary.Pointer.self)
        let number = UInt(bitPattern: pointer)
        let last = known.withLock { $0 }
        if number == last.job { return true }
        if number == last.other { return false }
        let isJob = unsafe Symbols.isIn("libswift_Concurrency", pointer)
        known.withLock { if isJob { $0.job = number } else { $0.other = number } }
        return isJob
    }

    /// Keeps a job for the thread that runs some work; false when the work already has a kept job.
    static func keep(_ job: Job, after work: CarriedWork) -> Bool {
        let owner = ObjectIdentifier(work)
        let entry = Kept(owner: owner, job: job)
        return kept.withLock { kept in
            guard !kept.contains(where: { $0.owner == owner }) else { return false }
            kept.append(entry)
            return true
        }
    }

    /// The job that was kept for the thread of some work; nil when there is none.
    static func next(after work: CarriedWork) -> DispatchLibrary.Pointer? {
        let owner = ObjectIdentifier(work)
        let job = kept.withLock { kept -> Job? in
            guard let index = kept.firstIndex(where: { $0.owner == owner }) else { return nil }
            return kept.remove(at: index).job
        }
        return unsafe job.flatMap { unsafe $0.pointer }
    }

    /// Passes the job that was kept for some work to other threads.
    static func release(after work: CarriedWork?) {
        guard let work else { return }
        release { $0.owner == ObjectIdentifier(work) }
    }

    /// Passes jobs to other threads that were already kept at the previous call.
    static func releaseOld() {
        release { $0.isOld }
        kept.withLock { kept in for index in kept.indices { kept[index].isOld = true } }
    }

    private static func release(where isMeant: (Kept) -> Bool) {
        let jobs = kept.withLock { kept in
            let jobs = kept.filter(isMeant)
            if !jobs.isEmpty { kept.removeAll(where: isMeant) }
            return jobs
        }
        for entry in jobs { entry.job.enqueue() }
    }
}
