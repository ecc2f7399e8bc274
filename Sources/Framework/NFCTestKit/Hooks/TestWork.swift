// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions
import TagLink

/// A block or a function that code of a test has put on a queue. It belongs to the test, and is counted until it
/// returns.
@safe final class TestWork: TestScope {
    private let place: TestTracker
    private let context: DispatchLibrary.Pointer?
    /// Nil for a block; then `context` is the block.
    private let function: DispatchLibrary.Function?
    /// The address of the queue of a task's job; nil for other work.
    private(set) var jobQueue: UInt?

    override var work: TestWork? { self }
    override var isOfThread: Bool { false }
    /// The group that the work has entered, until it returns. libdispatch keeps a group for as long as it is entered.
    private let group: DispatchLibrary.Pointer?

    private init(
        _ owner: (environment: NFCEnvironment, place: TestTracker),
        _ context: DispatchLibrary.Pointer?,
        _ function: DispatchLibrary.Function?,
        group: DispatchLibrary.Pointer?
    ) {
        place = owner.place
        unsafe self.context = context
        unsafe self.function = function
        unsafe self.group = group
        super.init(owner.environment)
    }

    /// Wraps a function of a test, for a queue to run instead; nil when the function belongs to no test.
    static func counted(
        _ context: DispatchLibrary.Pointer?,
        _ function: @escaping DispatchLibrary.Function
    ) -> DispatchLibrary.Pointer? {
        guard let owner = CurrentTest.owner else { return nil }
        return unsafe counted(for: owner, context, function)
    }

    /// Wraps a block of a test, for a queue to run instead; nil when the block belongs to no test.
    static func counted(
        block: DispatchLibrary.Pointer,
        group: DispatchLibrary.Pointer? = nil
    ) -> DispatchLibrary.Pointer? {
        guard let owner = CurrentTest.owner, let copy = unsafe DispatchLibrary.copyBlock(block) else { return nil }
        if let group = unsafe group { unsafe DispatchLibrary.enter(group) }
        return unsafe counted(for: owner, copy, nil, group: group)
    }

    /// Wraps work of a known test. A block has to be a copy.
    ///
    /// - Parameter isOfField: whether the work belongs to the field even if handed-over work starts it now.
    static func counted(
        for owner: (environment: NFCEnvironment, place: TestTracker),
        _ context: DispatchLibrary.Pointer?,
        _ function: DispatchLibrary.Function?,
        group: DispatchLibrary.Pointer? = nil,
        isOfField: Bool = false
    ) -> DispatchLibrary.Pointer {
        let scope = CurrentTest.scope
        if scope?.environment !== owner.environment || scope?.isOfThread == true { owner.place.noteGuest() }
        owner.place.enqueued()
        let work = unsafe TestWork(owner, context, function, group: group)
        // A block always belongs to the field.
        if !isOfField, unsafe function != nil { work.isDetached = scope?.isDetached == true }
        return unsafe Unmanaged.passRetained(work).toOpaque()
    }

    /// Puts a counted function on a queue. A job that another job starts or continues with is kept for the other job's
    /// thread. A job that other work of the test starts is postponed until that work has returned, with everything that
    /// it started.
    static func enqueue(
        _ pointer: DispatchLibrary.Pointer,
        _ function: @escaping DispatchLibrary.Function,
        on queue: DispatchLibrary.Pointer
    ) {
        let work = unsafe Unmanaged<TestWork>.fromOpaque(pointer).takeUnretainedValue()
        if work.place.isDriven, work.place.isOpen, unsafe SwiftJobs.isJob(function, of: queue) {
            let number = UInt(bitPattern: queue)
            work.jobQueue = number
            let job = unsafe SwiftJobs.Job(pointer, of: queue)
            if let running = CurrentTest.scope?.work {
                if running.jobQueue == number, SwiftJobs.keep(job, after: running) { return }
                if running.jobQueue == nil, running.place === work.place, work.place.postpone(job) { return }
            }
        }
        unsafe DispatchLibrary.async(queue, pointer, run)
    }

    /// Runs work that ``counted(_:_:)`` wrapped, once, and then the job that was kept for its thread.
    static let run: DispatchLibrary.Function = { pointer in
        var next = unsafe pointer
        while let pointer = unsafe next {
            unsafe next = Unmanaged<TestWork>.fromOpaque(pointer).takeRetainedValue().run()
        }
    }

    private func run() -> DispatchLibrary.Pointer? {
        PoolThreads.noteCaller()
        place.begins()
        CurrentTest.within(self) {
            if let function = unsafe function {
                // A task's job takes its values from its task, and a C function has no task.
                unsafe function(context)
            } else if let block = unsafe context {
                NFCEnvironment.$scoped.withValue(environment) { unsafe DispatchLibrary.call(block) }
                unsafe DispatchLibrary.releaseBlock(block)
            }
        }
        if let group = unsafe group { unsafe DispatchLibrary.leave(group) }
        let next = unsafe SwiftJobs.next(after: self)
        place.ends()
        return unsafe next
    }
}

/// Jobs of tasks that run next on the thread that starts them. Most jobs end as soon as they have started another job,
/// and waking a thread for that takes longer than a whole run of a short flow.
///
/// A job that does not end soon passes its kept job to the other threads: as soon as it waits, or at the next check of
/// ``QuiescenceMonitor``. A job that other work starts, such as a completion handler, is postponed in ``TestTracker``.
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

        func enqueue() {
            guard let queue = unsafe DispatchLibrary.Pointer(bitPattern: queue) else { return }
            unsafe DispatchLibrary.async(queue, pointer, TestWork.run)
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
    static func keep(_ job: Job, after work: TestWork) -> Bool {
        let owner = ObjectIdentifier(work)
        let entry = Kept(owner: owner, job: job)
        return kept.withLock { kept in
            guard !kept.contains(where: { $0.owner == owner }) else { return false }
            kept.append(entry)
            return true
        }
    }

    /// The job that was kept for the thread of some work; nil when there is none.
    static func next(after work: TestWork) -> DispatchLibrary.Pointer? {
        let owner = ObjectIdentifier(work)
        let job = kept.withLock { kept -> Job? in
            guard let index = kept.firstIndex(where: { $0.owner == owner }) else { return nil }
            return kept.remove(at: index).job
        }
        return unsafe job.flatMap { unsafe $0.pointer }
    }

    /// Passes the job that was kept for some work to other threads.
    static func release(after work: TestWork?) {
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
