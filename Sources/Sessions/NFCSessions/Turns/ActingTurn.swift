// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A recursive lock.
///
/// Actions of sessions never wait, so every thread gets the lock soon.
@safe
final class RecursiveLock: @unchecked Sendable {
    // Sendable because a mutex is made for use by several threads.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        unsafe mutex = .allocate(capacity: 1)
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        defer { unsafe pthread_mutexattr_destroy(&attributes) }
        unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        unsafe pthread_mutex_init(mutex, &attributes)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    func take() { unsafe pthread_mutex_lock(mutex) }

    func giveBack() { unsafe pthread_mutex_unlock(mutex) }
}
