// SPDX-License-Identifier: Apache-2.0
import NFCRuntime

/// A block or a function that code of a test has put on a queue: it takes its test along, and is counted until it returns.
@safe final class CarriedWork: CarriedScope {
    private let place: FieldPlace
    private let context: DispatchLibrary.Pointer?
    /// Nil for a block, which is the context then.
    private let function: DispatchLibrary.Function?
    /// The queue of a job of a task, as a number; nil for other work.
    private(set) var jobQueue: UInt?

    override var work: CarriedWork? { self }
    override var isOfThread: Bool { false }
    /// The group that is entered as long as the work has not returned.
    private let group: DispatchLibrary.Pointer?

    private init(
        _ owner: (environment: NFCEnvironment, place: FieldPlace),
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

    /// What a queue is given in place of a function of a test; nil when it is no test's.
    static func counted(
        _ context: DispatchLibrary.Pointer?,
        _ function: @escaping DispatchLibrary.Function
    ) -> DispatchLibrary.Pointer? {
        guard let owner = CarriedPlace.owner else { return nil }
        return unsafe counted(for: owner, context, function)
    }

    /// What a queue is given in place of a block of a test; nil when it is no test's.
    static func counted(
        block: DispatchLibrary.Pointer,
        group: DispatchLibrary.Pointer? = nil
    ) -> DispatchLibrary.Pointer? {
        guard let owner = CarriedPlace.owner, let copy = unsafe DispatchLibrary.copyBlock(block) else { return nil }
        if let group = unsafe group {
            unsafe DispatchLibrary.retain(group)
            unsafe DispatchLibrary.enter(group)
        }
        return unsafe counted(for: owner, copy, nil, group: group)
    }

    /// The same for a test that is known. A block is one that was copied.
    ///
    /// - Parameter isOfField: whether it stays the field's whoever begins it now.
    static func counted(
        for owner: (environment: NFCEnvironment, place: FieldPlace),
        _ context: DispatchLibrary.Pointer?,
        _ function: DispatchLibrary.Function?,
        group: DispatchLibrary.Pointer? = nil,
        isOfField: Bool = false
    ) -> DispatchLibrary.Pointer {
        let scope = CarriedPlace.scope
        if scope?.environment !== owner.environment || scope?.isOfThread == true { owner.place.noteGuest() }
        owner.place.enqueued()
        let work = unsafe CarriedWork(owner, context, function, group: group)
        // A block has the field in any case.
        if !isOfField, unsafe function != nil { work.isHandedOver = scope?.isHandedOver == true }
        return unsafe Unmanaged.passRetained(work).toOpaque()
    }

    /// Puts a function on a queue that has been counted. A job that another job begins, or goes on with, is kept for its thread; one
    /// that other work of the test begins is put off until that has returned, with all that it leaves behind.
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
            if let running = CarriedPlace.scope?.work {
                if running.jobQueue == number, SwiftJobs.keep(job, after: running) { return }
                if running.jobQueue == nil, running.place === work.place, work.place.postpone(job) { return }
            }
        }
        unsafe DispatchLibrary.async(queue, pointer, run)
    }

    /// Runs what ``counted(_:_:)`` has made, once, and the job that it leaves to its thread.
    static let run: DispatchLibrary.Function = { pointer in
        var next = unsafe pointer
        while let pointer = unsafe next {
            unsafe next = Unmanaged<CarriedWork>.fromOpaque(pointer).takeRetainedValue().run()
        }
    }

    private func run() -> DispatchLibrary.Pointer? {
        PoolThreads.noteCaller()
        place.begins()
        CarriedPlace.within(self) {
            if let function = unsafe function {
                // A job of a task has what belongs to its task, and a function in C has no tasks.
                unsafe function(context)
            } else if let block = unsafe context {
                NFCEnvironment.$scoped.withValue(environment) { unsafe DispatchLibrary.call(block) }
                unsafe DispatchLibrary.releaseBlock(block)
            }
        }
        if let group = unsafe group {
            unsafe DispatchLibrary.leave(group)
            unsafe DispatchLibrary.release(group)
        }
        let next = unsafe jobQueue == nil ? nil : SwiftJobs.next(after: self)
        place.ends()
        return unsafe next
    }
}
