// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// A value protected by a lock.
///
/// It uses a POSIX mutex. On Linux, ThreadSanitizer doesn't see the locking of `Synchronization.Mutex`, and would
/// report every use in an app's own tests as a race.
///
/// Don't store a bare closure as the value; wrap it in a struct. Swift re-abstracts a bare closure on every access, which
/// makes it slower each time.
@safe
package final class Locked<Value>: @unchecked Sendable {
    // Safe: `value` is only accessed while the mutex is held. The mutex checks for errors such as locking it twice.
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline var value: Value

    package init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
        let status = unsafe pthread_mutex_init(mutex, &attributes)
        unsafe pthread_mutexattr_destroy(&attributes)
        precondition(status == 0, "the mutex could not be created")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Calls `body` with the value while the lock is held. Don't take the same lock inside `body`.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let status = unsafe pthread_mutex_lock(mutex)
        precondition(status == 0, "this thread already holds the lock")
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}

extension Locked where Value == UInt8 {
    /// Creates a lock that guards something other than a value. Don't use `Locked<Void>`: ThreadSanitizer mistakes
    /// access to a zero-sized value for a race with the lookup of the object's type.
    package convenience init() {
        self.init(0)
    }
}

/// Runs an operation with a completion handler and waits for its result.
///
/// The value passes through a lock as well as the continuation. ThreadSanitizer doesn't see that the task resumes after
/// the call of `resume`, and would otherwise report a race for every object passed here.
///
/// - Parameter start: starts the operation. It must call the completion handler exactly once, on any thread.
package func withCompletion<Value: Sendable>(_ start: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
    let box = Locked<Value?>(nil)
    await withCheckedContinuation { continuation in
        start { value in
            box.withLock { $0 = value }
            continuation.resume()
        }
    }
    guard let value = box.withLock({ $0.take() }) else { preconditionFailure("Only a value resumes the task.") }
    return value
}
