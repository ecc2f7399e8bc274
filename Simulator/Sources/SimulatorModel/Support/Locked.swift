// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A value protected by a lock.
///
/// Uses a POSIX mutex, because ThreadSanitizer does not see the locks of `Synchronization` on Linux.
@safe
package final class Locked<Value>: @unchecked Sendable {
    // Safe: `value` is only accessed while the mutex is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        let status = unsafe pthread_mutex_init(mutex, nil)
        precondition(status == 0, "no mutex could be made")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Calls `body` with the value while the lock is held. The lock is not recursive.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
