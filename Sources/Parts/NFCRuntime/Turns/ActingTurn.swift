// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A recursive lock.
///
/// Actions of sessions never wait, so every thread gets the lock soon.
@safe
final class ActingTurn: @unchecked Sendable {
    // Sendable because a mutex is made for use by several threads.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        // mutate: equivalent, because memory for a second mutex would not be used.
        unsafe mutex = .allocate(capacity: 1)
        var attributes = pthread_mutexattr_t()
        // mutate: equivalent, because in glibc new attributes are zero, as they are already here.
        unsafe pthread_mutexattr_init(&attributes)
        // mutate: equivalent, because in glibc the attributes of a mutex own nothing.
        defer { unsafe pthread_mutexattr_destroy(&attributes) }
        unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        unsafe pthread_mutex_init(mutex, &attributes)
    }

    deinit {
        // mutate: equivalent statement, because in glibc a mutex owns nothing: this only marks its memory, which nobody reads any more.
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    func take() { unsafe pthread_mutex_lock(mutex) }

    func giveBack() { unsafe pthread_mutex_unlock(mutex) }
}
