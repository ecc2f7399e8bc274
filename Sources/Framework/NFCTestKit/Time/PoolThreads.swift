// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// The threads that run the work on queues. Their work for a test is counted; the work of other threads is not.
enum PoolThreads {
    private static let numbers = Locked<Set<Int32>>([])

    /// The thread-specific value is the thread's number. The kernel reuses the number after the thread has ended.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key) { number in
            let number = Int32(truncatingIfNeeded: UInt(bitPattern: number))
            _ = PoolThreads.numbers.withLock { $0.remove(number) }
        }
        return key
    }()

    /// Adds the calling thread.
    static func noteCaller() {
        guard unsafe pthread_getspecific(key) == nil else { return }
        let number = ProcessActivity.callerNumber
        numbers.withLock { _ = $0.insert(number) }
        unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: UInt(number)))
        SignalStack.setForCaller()
    }

    /// Whether every other thread of the process sleeps.
    static var othersSleep: Bool {
        var activity = ProcessActivity()
        return activity.isAtRest(besides: numbers.withLock { $0 })
    }
}
