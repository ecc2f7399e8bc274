// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A value behind a lock, with a condition for threads that wait for a change of the value.
@safe final class Monitor<Value>: @unchecked Sendable {
    // Safe: the value is used only while the mutex is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    /// What a thread that has checked the value does next.
    enum Step<Result> {
        case done(Result)
        /// Checks again when it is signalled, or at a time of ``now``, in nanoseconds.
        case wait(until: UInt64?)
    }

    init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        let status = unsafe pthread_mutex_init(mutex, nil) + pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
        precondition(status == 0, "no mutex could be made")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Uses the value.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Uses the value, and then makes a waiting thread check it again.
    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        defer { signal() }
        return withLock(body)
    }

    /// Makes a waiting thread check again.
    func signal() {
        unsafe pthread_cond_signal(condition)
    }

    /// Checks the value until `step` is done.
    func wait<Result>(_ step: (inout Value) -> Step<Result>) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            switch step(&value) {
            case .done(let result): return result
            case .wait(nil): unsafe pthread_cond_wait(condition, mutex)
            case .wait(let end?):
                var until = timespec(tv_sec: Int(end / Self.second), tv_nsec: Int(end % Self.second))
                unsafe pthread_cond_timedwait(condition, mutex, &until)
            }
        }
    }

    /// The current time, in the unit of ``Step/wait(until:)``.
    static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * Self.second + UInt64(time.tv_nsec)
    }

    /// A millisecond in nanoseconds.
    static var millisecond: UInt64 { 1_000_000 }

    /// A second in nanoseconds.
    private static var second: UInt64 { 1_000_000_000 }
}
