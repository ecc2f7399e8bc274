// SPDX-License-Identifier: Apache-2.0
import NFCSessions

/// A block or a function that code of a test has put on a queue. It belongs to the test, and is counted until it
/// returns.
@safe final class CarriedWork: CarriedScope {
    private let place: TestTracker
    private let context: DispatchLibrary.Pointer?
    /// Nil for a block; then `context` is the block.
    private let function: DispatchLibrary.Function?
    /// The address of the queue of a task's job; nil for other work.
    private(set) var jobQueue: UInt?

    override var work: CarriedWork? { self }
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
        let work = unsafe CarriedWork(owner, context, function, group: group)
        // A block always belongs to the field.
        if !isOfField, unsafe function != nil { work.isHandedOver = scope?.isHandedOver == true }
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
        let work = unsafe Unmanaged<CarriedWork>.fromOpaque(pointer).takeUnretainedValue()
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
            unsafe next = Unmanaged<CarriedWork>.fromOpaque(pointer).takeRetainedValue().run()
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
