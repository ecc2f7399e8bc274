// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions
import TagLink

/// A block or a function that code of a test has put on a queue. The work belongs to the test, and is tracked until it
/// returns.
@safe final class TestWork: TestScope {
    private let tracker: TestTracker
    private let context: DispatchLibrary.Pointer?
    /// The function; nil if `context` is a block.
    private let function: DispatchLibrary.Function?
    /// The address of the queue of a task's job; nil for other work.
    private(set) var jobQueue: UInt?

    override var work: TestWork? { self }
    override var isOnAppThread: Bool { false }
    /// The group that the work has entered until it returns. libdispatch retains an entered group.
    private let group: DispatchLibrary.Pointer?

    private init(
        _ owner: (environment: NFCEnvironment, tracker: TestTracker),
        _ context: DispatchLibrary.Pointer?,
        _ function: DispatchLibrary.Function?,
        group: DispatchLibrary.Pointer?
    ) {
        tracker = owner.tracker
        unsafe self.context = context
        unsafe self.function = function
        unsafe self.group = group
        super.init(owner.environment)
    }

    /// Wraps a function as tracked work, to be put on a queue instead; nil when the function belongs to no test.
    static func wrap(
        _ context: DispatchLibrary.Pointer?,
        _ function: @escaping DispatchLibrary.Function
    ) -> DispatchLibrary.Pointer? {
        guard let owner = CurrentTest.owner else { return nil }
        return unsafe wrap(for: owner, context, function)
    }

    /// Wraps a block as tracked work, to be put on a queue instead; nil when the block belongs to no test.
    static func wrap(
        block: DispatchLibrary.Pointer,
        group: DispatchLibrary.Pointer? = nil
    ) -> DispatchLibrary.Pointer? {
        guard let owner = CurrentTest.owner, let copy = unsafe DispatchLibrary.copyBlock(block) else { return nil }
        if let group = unsafe group { unsafe DispatchLibrary.enter(group) }
        return unsafe wrap(for: owner, copy, nil, group: group)
    }

    /// Wraps work of a known test. A block must already be copied.
    ///
    /// - Parameter belongsToField: whether the work belongs to the field even if the current scope is detached.
    static func wrap(
        for owner: (environment: NFCEnvironment, tracker: TestTracker),
        _ context: DispatchLibrary.Pointer?,
        _ function: DispatchLibrary.Function?,
        group: DispatchLibrary.Pointer? = nil,
        belongsToField: Bool = false
    ) -> DispatchLibrary.Pointer {
        let scope = CurrentTest.scope
        if scope?.environment !== owner.environment || scope?.isOnAppThread == true { owner.tracker.noteGuest() }
        owner.tracker.enqueued()
        let work = unsafe TestWork(owner, context, function, group: group)
        // A block always belongs to the field.
        if !belongsToField, unsafe function != nil { work.isDetached = scope?.isDetached == true }
        return unsafe Unmanaged.passRetained(work).toOpaque()
    }

    /// Puts tracked work on a queue. A job that is started by another job is kept to run next on the same thread. A job
    /// that is started by other work of the test is postponed until all current work has returned.
    static func enqueue(
        _ pointer: DispatchLibrary.Pointer,
        _ function: @escaping DispatchLibrary.Function,
        on queue: DispatchLibrary.Pointer
    ) {
        let work = unsafe Unmanaged<TestWork>.fromOpaque(pointer).takeUnretainedValue()
        if work.tracker.isDriven, work.tracker.isOpen, unsafe SwiftJobs.isJob(function, of: queue) {
            let number = UInt(bitPattern: queue)
            work.jobQueue = number
            let job = unsafe SwiftJobs.Job(pointer, of: queue)
            if let running = CurrentTest.scope?.work {
                if running.jobQueue == number, SwiftJobs.keep(job, after: running) { return }
                if running.jobQueue == nil, running.tracker === work.tracker, work.tracker.postpone(job) { return }
            }
        }
        unsafe DispatchLibrary.async(queue, pointer, run)
    }

    /// Runs work that ``wrap(_:_:)`` returned, once, and then the job that was kept for its thread.
    static let run: DispatchLibrary.Function = { pointer in
        var next = unsafe pointer
        while let pointer = unsafe next {
            unsafe next = Unmanaged<TestWork>.fromOpaque(pointer).takeRetainedValue().run()
        }
    }

    private func run() -> DispatchLibrary.Pointer? {
        tracker.begins()
        CurrentTest.within(self) {
            if let function = unsafe function {
                // A task's job gets the task-local values from its task.
                unsafe function(context)
            } else if let block = unsafe context {
                NFCEnvironment.$scoped.withValue(environment) { unsafe DispatchLibrary.call(block) }
                unsafe DispatchLibrary.releaseBlock(block)
            }
        }
        if let group = unsafe group { unsafe TrackedWait.leave(group) }
        let next = unsafe SwiftJobs.next(after: self)
        tracker.ends()
        return unsafe next
    }
}

/// Jobs of tasks that run next on the thread that starts them. Most jobs end right after they have started another job,
/// and waking another thread for that job would take longer than a whole run of a short flow.
///
/// If a job does not end soon, its kept job is passed to other threads as soon as the job waits, or at the next check
/// of ``QuiescenceMonitor``. A job that other work starts, such as a completion handler, is postponed instead.
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

    private struct KeptJob {
        let owner: ObjectIdentifier
        let job: Job
        var wasChecked = false
    }

    private static let keptJobs = Locked<[KeptJob]>([])
    /// The address of the runtime's function that runs jobs, and the last checked address of any other function.
    private static let knownFunctions = Locked<(job: UInt, other: UInt)>((0, 0))
    private static let mainQueue = unsafe UInt(
        bitPattern: dlsym(UnsafeMutableRawPointer(bitPattern: -1), "_dispatch_main_q")
    )

    /// Whether a function runs a task's job on a concurrent queue.
    static func isJob(_ function: @escaping DispatchLibrary.Function, of queue: DispatchLibrary.Pointer) -> Bool {
        guard UInt(bitPattern: queue) != mainQueue else { return false }
        let pointer = unsafe unsafeBitCast(function, to: DispatchLibrary.Pointer.self)
        let number = UInt(bitPattern: pointer)
        let last = knownFunctions.withLock { $0 }
        if number == last.job { return true }
        if number == last.other { return false }
        let isJob = unsafe Symbols.isIn("libswift_Concurrency", pointer)
        knownFunctions.withLock { if isJob { $0.job = number } else { $0.other = number } }
        return isJob
    }

    /// Keeps a job to run after some work on the same thread. Returns false when the work already has a kept job.
    static func keep(_ job: Job, after work: TestWork) -> Bool {
        let owner = ObjectIdentifier(work)
        let entry = KeptJob(owner: owner, job: job)
        return keptJobs.withLock { keptJobs in
            guard !keptJobs.contains(where: { $0.owner == owner }) else { return false }
            keptJobs.append(entry)
            return true
        }
    }

    /// Removes and returns the job that was kept to run after some work; nil for none.
    static func next(after work: TestWork) -> DispatchLibrary.Pointer? {
        let owner = ObjectIdentifier(work)
        let job = keptJobs.withLock { keptJobs -> Job? in
            guard let index = keptJobs.firstIndex(where: { $0.owner == owner }) else { return nil }
            return keptJobs.remove(at: index).job
        }
        return unsafe job.flatMap { unsafe $0.pointer }
    }

    /// Passes the job that was kept after some work to other threads.
    static func release(after work: TestWork?) {
        guard let work else { return }
        release { $0.owner == ObjectIdentifier(work) }
    }

    /// Passes those jobs to other threads that were already kept at the previous call.
    static func releaseOld() {
        release { $0.wasChecked }
        keptJobs.withLock { keptJobs in for index in keptJobs.indices { keptJobs[index].wasChecked = true } }
    }

    private static func release(where isIncluded: (KeptJob) -> Bool) {
        let jobs = keptJobs.withLock { keptJobs in
            let jobs = keptJobs.filter(isIncluded)
            if !jobs.isEmpty { keptJobs.removeAll(where: isIncluded) }
            return jobs
        }
        for entry in jobs { entry.job.enqueue() }
    }
}
