// SPDX-License-Identifier: Apache-2.0
import CEpoll
import Foundation
import Glibc

/// What other threads want an event loop to do.
@safe
final class LoopInbox: @unchecked Sendable {
    // Sendable because of its lock.

    enum Work {
        case block(@Sendable () -> Void)
        /// A job of an actor, or of a task.
        case job(UnownedJob)
    }

    private let lock = NSLock()
    private var works: [Work] = []
    private var isAsleep = false
    /// Can be read when the loop has to wake.
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

    /// Takes all that was added.
    func take() -> [Work] {
        lock.withLock {
            defer { works = [] }
            return works
        }
    }

    /// Whether there is nothing to do. Then new work wakes the loop, until ``wakeUp()``.
    func fallAsleep() -> Bool {
        lock.withLock {
            isAsleep = works.isEmpty
            return isAsleep
        }
    }

    /// The loop runs again.
    func wakeUp() { lock.withLock { isAsleep = false } }

    /// Empties ``wake``.
    func drain() {
        var count: UInt64 = 0
        _ = unsafe Glibc.read(wake, &count, 8)
    }
}
