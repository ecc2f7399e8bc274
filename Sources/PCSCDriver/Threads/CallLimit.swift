// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Sees to it that a call to the service comes back: when it takes too long, or its caller is cancelled, its connection
/// is cut.
///
/// A thread looks after the calls only while there are any, and looks once a limit, not once a call.
@safe final class CallLimit: @unchecked Sendable {
    // Safe: what follows is only touched while the mutex is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var started: UInt64?
    private var isWatched = false
    private var isParked = false
    private var wasCut = false
    private var isFinished = false

    private let nanoseconds: UInt64
    private let cut: @Sendable () -> Void

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - milliseconds: the longest time that a call may take.
    ///   - cut: ends the call that is under way, from another thread.
    init(milliseconds: Int, cut: @escaping @Sendable () -> Void) {
        nanoseconds = UInt64(milliseconds) * 1_000_000
        self.cut = cut
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

    /// Makes a call under the limit.
    ///
    /// - Returns: what it returned, and whether it was cut.
    func watch<Value>(_ call: () -> Value) -> (value: Value, wasCut: Bool) {
        begin()
        let value = call()
        return (value, end())
    }

    /// A call begins.
    func begin() {
        unsafe pthread_mutex_lock(mutex)
        started = Self.now
        wasCut = false
        if !isWatched {
            isWatched = true
            startWatching()
        } else if isParked {
            isParked = false
            unsafe pthread_cond_signal(condition)
        }
        unsafe pthread_mutex_unlock(mutex)
    }

    /// The call has come back.
    ///
    /// - Returns: whether it was cut.
    func end() -> Bool {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        started = nil
        return wasCut
    }

    /// Cuts the call that is under way, if any.
    func cancel() {
        unsafe pthread_mutex_lock(mutex)
        if started != nil { cutLocked() }
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Lets the watching thread end.
    func finish() {
        unsafe pthread_mutex_lock(mutex)
        isFinished = true
        unsafe pthread_cond_signal(condition)
        unsafe pthread_mutex_unlock(mutex)
    }

    private func cutLocked() {
        guard !wasCut else { return }
        wasCut = true
        cut()
    }

    private func startWatching() {
        let thread = DriverThread()
        thread.run { [self] in
            // The closure keeps the thread until it is done.
            withExtendedLifetime(thread) { loop() }
        }
    }

    private func loop() {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while !isFinished {
            guard let begin = started, !wasCut else {
                // One limit long nothing may happen before the thread waits to be called.
                isParked = true
                unsafe pthread_cond_wait(condition, mutex)
                continue
            }
            let end = begin + nanoseconds
            if Self.now >= end {
                cutLocked()
            } else {
                var until = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
                unsafe pthread_cond_timedwait(condition, mutex, &until)
            }
        }
    }

    private static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
