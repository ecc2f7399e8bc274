// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A value behind a lock, and a condition on which threads wait for it to change.
@safe final class Monitor<Value>: @unchecked Sendable {
    // Safe: the value is only touched while the mutex is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    /// What a thread that looks at the value does next.
    enum Step<Result> {
        case done(Result)
        /// Looks again when it was signalled, or at a point of ``now`` in nanoseconds.
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

    /// Works with the value.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Lets a thread that waits look again.
    func signal() {
        unsafe pthread_cond_signal(condition)
    }

    /// Looks at the value until `step` is done.
    func wait<Result>(_ step: (inout Value) -> Step<Result>) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            switch step(&value) {
            case .done(let result): return result
            case .wait(nil): unsafe pthread_cond_wait(condition, mutex)
            case .wait(let end?):
                var until = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
                unsafe pthread_cond_timedwait(condition, mutex, &until)
            }
        }
    }

    /// The time, as ``Step/wait(until:)`` counts it.
    static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
