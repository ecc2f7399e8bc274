// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions

/// Lets `Task.sleep` and `DispatchQueue.asyncAfter` in code under test use the field's time.
///
/// Both call functions that are replaced, see ``DispatchLibrary``. Delays of other code are passed to the library.
@safe enum VirtualDelay {
    /// Delayed work, and the queue on which it will run.
    ///
    /// Sendable because both may be used on any thread, and the object changes only once, when its clock event fires.
    @safe private final class DelayedWork: @unchecked Sendable {
        let queue: DispatchLibrary.Pointer
        let work: DispatchLibrary.Pointer?
        /// The function; nil if `work` is a block.
        let function: DispatchLibrary.Function?
        private let tracker: TestTracker
        private weak let environment: NFCEnvironment?
        private var isEnqueued = false

        init(
            _ owner: (environment: NFCEnvironment, tracker: TestTracker),
            _ queue: DispatchLibrary.Pointer,
            _ work: DispatchLibrary.Pointer?,
            _ function: DispatchLibrary.Function?
        ) {
            (environment, tracker) = (owner.environment, owner.tracker)
            unsafe self.queue = queue
            unsafe self.work = work
            unsafe self.function = function
            unsafe DispatchLibrary.retain(queue)
        }

        func enqueue() {
            guard let environment else { return }
            isEnqueued = true
            let work = unsafe function == nil ? self.work.flatMap { unsafe DispatchLibrary.copyBlock($0) } : self.work
            let wrapped = unsafe TestWork.wrap(for: (environment, tracker), work, function, belongsToField: true)
            unsafe DispatchLibrary.async(queue, wrapped, TestWork.run)
        }

        deinit {
            if let function = unsafe function {
                // The field has ended. A sleeping task must be woken, so that it ends and releases its objects.
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

    /// Delays work of a test by its field's time, or by real time on a real reader and after the field has ended.
    private static func delay(
        for owner: (environment: NFCEnvironment, tracker: TestTracker),
        _ time: UInt64,
        _ queue: DispatchLibrary.Pointer,
        _ work: DispatchLibrary.Pointer?,
        _ function: DispatchLibrary.Function?
    ) {
        guard owner.tracker.isOpen, let clock = owner.tracker.field?.drivenClock, let wait = duration(until: time)
        else {
            let wrapped = unsafe TestWork.wrap(for: owner, work, function)
            return unsafe DispatchLibrary.after(time, queue, wrapped, TestWork.run)
        }
        // The environment owns the clock, which owns the event. So `DelayedWork` refers to the environment weakly.
        let delayed = unsafe DelayedWork(owner, queue, work, function)
        clock.schedule(delayOfApp: wait) { delayed.enqueue() }
    }

    /// The key of a thread-specific value: the time at which the thread last computed a `dispatch_time_t` from now.
    private static let lastNow: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// Computes a `dispatch_time_t`, as `dispatch_time` does. A base of 0 means now.
    static func time(_ base: UInt64, plus delta: Int64) -> UInt64 {
        let time = DispatchLibrary.time(base, delta)
        if base == 0, time != .max, OpenFields.exist {
            let now = UInt(time &- UInt64(bitPattern: delta))
            unsafe pthread_setspecific(lastNow, UnsafeRawPointer(bitPattern: now))
        }
        return time
    }

    /// Returns the delay until a `dispatch_time_t`; nil for `.distantFuture`.
    ///
    /// The caller has computed this time some moments ago, or longer on a busy machine. If its thread used
    /// `dispatch_time`, the exact delay is known. Otherwise the delay is rounded up to 10 ms, or to 1 ms for a short
    /// delay.
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

    /// Returns the delay since the thread's last call of `dispatch_time`; nil when `time` was not computed by that
    /// call. Delays in code are whole microseconds. The difference of two unrelated times rarely is.
    private static func durationFromLastNow(until time: UInt64) -> Duration? {
        guard let now = unsafe pthread_getspecific(lastNow) else { return nil }
        let (wait, isEarlier) = time.subtractingReportingOverflow(UInt64(UInt(bitPattern: now)))
        guard !isEarlier, wait < 1 << 62, wait.isMultiple(of: 1000) else { return nil }
        return .nanoseconds(Int64(wait))
    }

    /// Returns the `dispatch_time_t` that is this many nanoseconds from now.
    static func time(after nanoseconds: Int64) -> UInt64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) &* 1_000_000_000 &+ UInt64(now.tv_nsec) &+ UInt64(nanoseconds)
    }
}

/// Tracks the calls with which a test's code blocks to wait for other code.
///
/// Meanwhile, time advances if nothing else can happen, because the other code may be waiting for time to pass. A wait
/// that makes its test fail returns at the end of the test, so that its queue is free for the next test.
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
        guard let (environment, tracker) = CurrentTest.current, let scope = CurrentTest.scope,
            scope.environment === environment, !scope.isOnAppThread
        else {
            return unsafe wait(object, time)
        }
        // A time of 0 checks without waiting.
        let present: UInt64 = 0
        if unsafe wait(object, present) == 0 { return 0 }
        SwiftJobs.release(after: scope.work)
        tracker.releaseJobs()
        guard let duration = VirtualDelay.duration(until: time) else {
            let id = tracker.waitBegins(call, queue: DispatchLibrary.currentLabel, end: nil)
            defer { tracker.waitEnds(id) }
            while tracker.isOpen {
                if unsafe wait(object, VirtualDelay.time(after: interval)) == 0 { return 0 }
                tracker.noteFailedCheck(id)
            }
            // If the test ended for another reason, the wait continues until the other code signals, possibly forever.
            return tracker.givesUpWaits ? 1 : unsafe wait(object, forever)
        }
        if duration == .zero { return 1 }
        let end = environment.clock.now + duration
        let id = tracker.waitBegins(call, queue: DispatchLibrary.currentLabel, end: end)
        defer { tracker.waitEnds(id) }
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
