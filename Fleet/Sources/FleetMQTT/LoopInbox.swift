// SPDX-License-Identifier: Apache-2.0
import CEpoll
import Foundation
import Glibc

/// Queues work from other threads for an event loop.
@safe
final class LoopInbox: @unchecked Sendable {
    // Sendable because its state is protected by a lock.

    enum Work {
        case block(@Sendable () -> Void)
        /// A job of an actor, or of a task.
        case job(UnownedJob)
    }

    private let lock = NSLock()
    private var works: [Work] = []
    private var isAsleep = false
    /// An event descriptor that becomes readable to wake the loop.
    let wake: Int32

    init() {
        wake = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    }

    deinit { Glibc.close(wake) }

    func add(_ work: Work) {
        let wasAsleep = lock.withLock {
            works.append(work)
            defer { isAsleep = false }
            return isAsleep
        }
        guard wasAsleep else { return }
        var one: UInt64 = 1
        _ = unsafe write(wake, &one, 8)
    }

    // MARK: On the loop's thread

    /// Returns all queued work, and empties the queue.
    func take() -> [Work] {
        lock.withLock {
            defer { works = [] }
            return works
        }
    }

    /// Returns whether there is no work. If so, new work wakes the loop until ``wakeUp()``.
    func fallAsleep() -> Bool {
        lock.withLock {
            isAsleep = works.isEmpty
            return isAsleep
        }
    }

    /// Records that the loop is running again.
    func wakeUp() { lock.withLock { isAsleep = false } }

    /// Resets the ``wake`` descriptor.
    func drain() {
        var count: UInt64 = 0
        _ = unsafe Glibc.read(wake, &count, 8)
    }
}
