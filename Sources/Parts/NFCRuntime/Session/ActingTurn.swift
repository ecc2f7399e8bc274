// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A lock that the thread which has it may take again.
///
/// Actions of sessions wait for nobody, so whoever waits for the lock gets it soon.
@safe
final class ActingTurn: @unchecked Sendable {
    // Sendable because a mutex is there to be used by threads.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        unsafe mutex = .allocate(capacity: 1)
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        unsafe pthread_mutex_init(mutex, &attributes)
        unsafe pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    func take() { unsafe pthread_mutex_lock(mutex) }

    func giveBack() { unsafe pthread_mutex_unlock(mutex) }
}
