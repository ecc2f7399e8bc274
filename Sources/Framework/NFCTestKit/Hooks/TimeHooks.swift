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
/// Meanwhile, time advances if nothing else can happen, because the other code may be waiting for time to pass. From
/// the signal that ends a wait, its thread counts as running, although the kernel may not run it at once. A wait that
/// makes its test fail returns at the end of the test, so that its queue is free for the next test.
@safe enum TrackedWait {
    fileprivate struct Object: Sendable {
        let address: UInt
        let isSemaphore: Bool

        init(semaphore: DispatchLibrary.Pointer) { (address, isSemaphore) = (UInt(bitPattern: semaphore), true) }
        init(group: DispatchLibrary.Pointer) { (address, isSemaphore) = (UInt(bitPattern: group), false) }

        /// The waiting function, as a client writes it.
        var call: String { isSemaphore ? "DispatchSemaphore.wait()" : "DispatchGroup.wait()" }

        /// - Returns: whether the wait succeeded before the time limit.
        func wait(until time: UInt64) -> Bool {
            guard let pointer = unsafe DispatchLibrary.Pointer(bitPattern: address) else { return true }
            let wait = unsafe isSemaphore ? DispatchLibrary.waitForSemaphore : DispatchLibrary.waitForGroup
            return unsafe wait(pointer, time) == 0
        }
    }

    /// The tests' waits for one object.
    private struct Waits {
        var waits: [(tracker: TestTracker, id: UInt64)] = []
        /// How many signals were sent since the first of these waits began, and were not received yet.
        var signals = 0

        /// Counts as many waits as running as there are signals. It doesn't matter which of them wakes first.
        func update() {
            for (index, wait) in waits.enumerated() { wait.tracker.wait(wait.id, isSignalled: index < signals) }
        }
    }

    private static let forever = UInt64.max
    /// A time limit that has already passed: the wait only checks.
    private static let present: UInt64 = 0
    /// How often a wait checks whether its test has ended, in nanoseconds.
    private static let interval: Int64 = 10_000_000
    /// The waits by the object's address. The waiting code keeps the object alive.
    private static let waits = Locked<[UInt: Waits]>([:])

    fileprivate static func wait(for object: Object, until time: UInt64) -> Int {
        guard let (environment, tracker) = CurrentTest.current, let scope = CurrentTest.scope,
            scope.environment === environment, !scope.isOnAppThread
        else {
            return object.wait(until: time) ? 0 : 1
        }
        if waits.withLock({ take(object, &$0) }) { return 0 }
        let duration = VirtualDelay.duration(until: time)
        if duration == .zero { return 1 }
        SwiftJobs.release(after: scope.work)
        tracker.releaseJobs()
        guard let id = begin(object, in: tracker, end: duration.map { environment.clock.now + $0 }) else { return 0 }
        var hasSucceeded = false
        defer { end(id, of: tracker, for: object, hasSucceeded) }
        if let duration {
            // The field's time ends the wait too, at once if nothing else can happen before.
            let clock = tracker.field?.drivenClock
            let timeout = clock?.schedule(delayOfApp: duration) { [weak clock] in
                if tracker.work.isAtRest { return tracker.waitTimesOut(id) }
                // What begins at the very end may still signal.
                clock?.schedule(delayOfApp: .nanoseconds(1)) { tracker.waitTimesOut(id) }
            }
            defer { timeout?.cancel() }
            while timeout != nil, tracker.isOpen, !tracker.hasTimedOut(id) {
                hasSucceeded = object.wait(until: VirtualDelay.time(after: interval))
                if hasSucceeded { return 0 }
            }
            hasSucceeded = object.wait(until: tracker.hasTimedOut(id) ? present : time)
            return hasSucceeded ? 0 : 1
        }
        while tracker.isOpen {
            let wasSignalled = tracker.isSignalled(id)
            hasSucceeded = object.wait(until: VirtualDelay.time(after: interval))
            if hasSucceeded { return 0 }
            // Code that is not tracked has received the signal.
            if wasSignalled { withdrawSignals(to: object) }
            tracker.noteFailedCheck(id)
        }
        if tracker.givesUpWaits { return 1 }
        // If the test ended for another reason, the wait continues until the other code signals, possibly forever.
        hasSucceeded = object.wait(until: forever)
        return 0
    }

    /// Returns whether the object could be taken without waiting.
    private static func take(_ object: Object, _ waits: inout [UInt: Waits]) -> Bool {
        guard object.wait(until: present) else { return false }
        if object.isSemaphore, let signals = waits[object.address]?.signals, signals > 0 {
            waits[object.address]?.signals -= 1
            waits[object.address]?.update()
        }
        return true
    }

    /// Begins a wait, and returns its ID; nil if the object can be taken now.
    private static func begin(_ object: Object, in tracker: TestTracker, end: Duration?) -> UInt64? {
        waits.withLock { waits in
            // The check under the lock misses no signal: one that is sent later finds the wait.
            if take(object, &waits) { return nil }
            let id = tracker.waitBegins(object.call, queue: DispatchLibrary.currentLabel, end: end)
            waits[object.address, default: Waits()].waits.append((tracker, id))
            return id
        }
    }

    private static func end(_ id: UInt64, of tracker: TestTracker, for object: Object, _ hasSucceeded: Bool) {
        waits.withLock { waits in
            tracker.waitEnds(id)
            guard var others = waits[object.address] else { return }
            others.waits.removeAll { $0.tracker === tracker && $0.id == id }
            if hasSucceeded { others.signals = max(others.signals - 1, 0) }
            others.update()
            waits[object.address] = others.waits.isEmpty ? nil : others
        }
    }

    private static func withdrawSignals(to object: Object) {
        waits.withLock { waits in
            waits[object.address]?.signals = 0
            waits[object.address]?.update()
        }
    }

    static func signal(_ semaphore: DispatchLibrary.Pointer) -> Int {
        guard OpenFields.exist else { return unsafe DispatchLibrary.signal(semaphore) }
        let address = UInt(bitPattern: semaphore)
        // Under the lock, so that the wait's end isn't noted before the signal.
        return waits.withLock { waits in
            waits[address]?.signals += 1
            waits[address]?.update()
            return unsafe DispatchLibrary.signal(semaphore)
        }
    }

    /// Leaves a group. If it is then empty, all its waits end.
    static func leave(_ group: DispatchLibrary.Pointer) {
        unsafe DispatchLibrary.leave(group)
        guard OpenFields.exist else { return }
        let object = unsafe Object(group: group)
        waits.withLock { waits in
            // Without a wait, the group may have been freed.
            guard let count = waits[object.address]?.waits.count, object.wait(until: present) else { return }
            waits[object.address]?.signals = count
            waits[object.address]?.update()
        }
    }
}

@_cdecl("dispatch_semaphore_wait")
package func waitForSemaphore(_ semaphore: UnsafeMutableRawPointer, _ time: UInt64) -> Int {
    TrackedWait.wait(for: unsafe TrackedWait.Object(semaphore: semaphore), until: time)
}

@_cdecl("dispatch_group_wait")
package func waitForGroup(_ group: UnsafeMutableRawPointer, _ time: UInt64) -> Int {
    TrackedWait.wait(for: unsafe TrackedWait.Object(group: group), until: time)
}

@_cdecl("dispatch_semaphore_signal")
package func signalSemaphore(_ semaphore: UnsafeMutableRawPointer) -> Int { unsafe TrackedWait.signal(semaphore) }

@_cdecl("dispatch_group_leave")
package func leaveGroup(_ group: UnsafeMutableRawPointer) { unsafe TrackedWait.leave(group) }
