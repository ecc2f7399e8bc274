// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions

/// Makes delays of code under test, with `Task.sleep` or `DispatchQueue.asyncAfter`, use the field's time.
///
/// Both use two functions of libdispatch, see ``DispatchLibrary``. Delays of other code are passed to the library.
@safe enum VirtualDelay {
    /// A queue, and work that waits for its time.
    ///
    /// Sendable because both may be used on any thread, and the only change happens when the one event that holds it
    /// fires.
    @safe private final class Waiting: @unchecked Sendable {
        let queue: DispatchLibrary.Pointer
        let work: DispatchLibrary.Pointer?
        /// Nil for a block; then `work` is the block.
        let function: DispatchLibrary.Function?
        private let place: TestTracker
        private weak let environment: NFCEnvironment?
        private var isEnqueued = false

        init(
            _ owner: (environment: NFCEnvironment, place: TestTracker),
            _ queue: DispatchLibrary.Pointer,
            _ work: DispatchLibrary.Pointer?,
            _ function: DispatchLibrary.Function?
        ) {
            (environment, place) = (owner.environment, owner.place)
            unsafe self.queue = queue
            unsafe self.work = work
            unsafe self.function = function
            unsafe DispatchLibrary.retain(queue)
        }

        func enqueue() {
            guard let environment else { return }
            isEnqueued = true
            let work = unsafe function == nil ? self.work.flatMap { unsafe DispatchLibrary.copyBlock($0) } : self.work
            let counted = unsafe TestWork.counted(for: (environment, place), work, function, isOfField: true)
            unsafe DispatchLibrary.async(queue, counted, TestWork.run)
        }

        deinit {
            if let function = unsafe function {
                // The field has ended. A sleeping task, with everything it holds, ends only when it wakes.
                if !isEnqueued, environment != nil {
                    enqueue()
                } else if !isEnqueued {
                    unsafe DispatchLibrary.async(queue, work, function)
                }
            } else if let block = unsafe work {
                unsafe DispatchLibrary.releaseBlock(block)
            }
            unsafe DispatchLibrary.release(queue)
        }
    }

    static func delay(_ time: UInt64, _ queue: DispatchLibrary.Pointer, block: DispatchLibrary.Pointer) {
        guard let owner = CurrentTest.owner, time != .max, let copy = unsafe DispatchLibrary.copyBlock(block) else {
            return unsafe DispatchLibrary.afterBlock(time, queue, block)
        }
        unsafe delay(for: owner, time, queue, copy, nil)
    }

    static func delay(
        _ time: UInt64,
        _ queue: DispatchLibrary.Pointer,
        _ context: DispatchLibrary.Pointer?,
        _ function: @escaping DispatchLibrary.Function
    ) {
        guard let owner = CurrentTest.owner, time != .max else {
            return unsafe DispatchLibrary.after(time, queue, context, function)
        }
        unsafe delay(for: owner, time, queue, context, function)
    }

    /// Delays work of a test by its field's time; or by real time, on a reader and after the field has ended.
    private static func delay(
        for owner: (environment: NFCEnvironment, place: TestTracker),
        _ time: UInt64,
        _ queue: DispatchLibrary.Pointer,
        _ work: DispatchLibrary.Pointer?,
        _ function: DispatchLibrary.Function?
    ) {
        guard owner.place.isOpen, let clock = owner.place.field?.drivenClock, let wait = duration(until: time) else {
            let counted = unsafe TestWork.counted(for: owner, work, function)
            return unsafe DispatchLibrary.after(time, queue, counted, TestWork.run)
        }
        // The environment owns the clock. An event that held the environment would create a cycle.
        let waiting = unsafe Waiting(owner, queue, work, function)
        clock.schedule(delayOfApp: wait) { waiting.enqueue() }
    }

    /// The thread-specific value is when the thread last read the clock to compute a `dispatch_time_t` from it.
    private static let lastNow: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// Computes a `dispatch_time_t`, as `dispatch_time` does. A base of 0 is now.
    static func time(_ base: UInt64, plus delta: Int64) -> UInt64 {
        let time = DispatchLibrary.time(base, delta)
        if base == 0, time != .max, OpenFields.exist {
            let now = UInt(time &- UInt64(bitPattern: delta))
            unsafe pthread_setspecific(lastNow, UnsafeRawPointer(bitPattern: now))
        }
        return time
    }

    /// The time until a `dispatch_time_t`; nil for `.distantFuture`.
    ///
    /// The caller computed it from the clock a moment ago, which is long on a busy machine. If its thread has read the
    /// clock with `dispatch_time`, then that moment is known. Otherwise rounding up to 10 ms, or to 1 ms for a short
    /// time, removes it.
    static func duration(until time: UInt64) -> Duration? {
        guard time != .max else { return nil }
        guard time != 0 else { return .zero }
        let isWall = time >> 62 == 3
        if !isWall, let wait = durationFromLastNow(until: time) { return wait }
        let value = isWall ? Int64(bitPattern: 0 &- time) : Int64(time & ~(1 << 63))
        var now = timespec()
        unsafe clock_gettime(isWall ? CLOCK_REALTIME : time >> 63 == 1 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &now)
        let left = max(value &- Int64(now.tv_sec) &* 1_000_000_000 &- Int64(now.tv_nsec), 0)
        let step: Int64 = left > 10_000_000 ? 10_000_000 : 1_000_000
        return .nanoseconds((left + step - 1) / step * step)
    }

    /// The time from the thread's last reading of the clock; nil when `time` was not computed from that. What people
    /// wait for are whole microseconds, and the difference of two readings is not.
    private static func durationFromLastNow(until time: UInt64) -> Duration? {
        guard let now = unsafe pthread_getspecific(lastNow) else { return nil }
        let (wait, isEarlier) = time.subtractingReportingOverflow(UInt64(UInt(bitPattern: now)))
        guard !isEarlier, wait < 1 << 62, wait.isMultiple(of: 1000) else { return nil }
        return .nanoseconds(Int64(wait))
    }

    /// The `dispatch_time_t` that is this many nanoseconds from now.
    static func time(after nanoseconds: Int64) -> UInt64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) &* 1_000_000_000 &+ UInt64(now.tv_nsec) &+ UInt64(nanoseconds)
    }
}

/// Calls with which code of a test waits for other code.
///
/// Meanwhile time advances if nothing else can happen, because the other code may wait for time. If a wait makes its
/// test fail, it is given up at the end of the test, so that its queue is free for the next test.
@safe enum TrackedWait {
    private static let forever = UInt64.max
    /// How often a wait checks whether its test has ended, in nanoseconds.
    private static let interval: Int64 = 10_000_000

    static func wait(
        _ call: String,
        for object: DispatchLibrary.Pointer,
        until time: UInt64,
        _ wait: DispatchLibrary.Wait
    ) -> Int {
        guard let (environment, place) = CurrentTest.current, let scope = CurrentTest.scope,
            scope.environment === environment, !scope.isOfThread
        else {
            return unsafe wait(object, time)
        }
        // Checks without waiting.
        let present: UInt64 = 0
        if unsafe wait(object, present) == 0 { return 0 }
        SwiftJobs.release(after: scope.work)
        place.releaseJobs()
        guard let duration = VirtualDelay.duration(until: time) else {
            let id = place.beginsToWait(call, queue: DispatchLibrary.currentLabel, end: nil)
            defer { place.endsToWait(id) }
            while place.isOpen {
                if unsafe wait(object, VirtualDelay.time(after: interval)) == 0 { return 0 }
                place.stillWaits(id)
            }
            // If the test ended otherwise, the wait continues: it ends when the other code signals, or never.
            return place.givesUpWaits ? 1 : unsafe wait(object, forever)
        }
        if duration == .zero { return 1 }
        let end = environment.clock.now + duration
        let id = place.beginsToWait(call, queue: DispatchLibrary.currentLabel, end: end)
        defer { place.endsToWait(id) }
        return unsafe wait(object, time)
    }
}

@_cdecl("dispatch_semaphore_wait")
package func waitForSemaphore(_ semaphore: UnsafeMutableRawPointer, _ time: UInt64) -> Int {
    unsafe TrackedWait.wait("DispatchSemaphore.wait()", for: semaphore, until: time, DispatchLibrary.waitForSemaphore)
}

@_cdecl("dispatch_group_wait")
package func waitForGroup(_ group: UnsafeMutableRawPointer, _ time: UInt64) -> Int {
    unsafe TrackedWait.wait("DispatchGroup.wait()", for: group, until: time, DispatchLibrary.waitForGroup)
}
