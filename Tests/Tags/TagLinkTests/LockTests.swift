// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import TestThreads
import Testing

/// Values behind a lock, and values that are handed over to a task.
struct LockTests {
    @Test func `lock taken twice by one thread: the process traps`() async {
        await #expect(processExitsWith: .failure) {
            let lock = Locked(1)
            lock.withLock { _ in lock.withLock { $0 = 2 } }
        }
    }

    /// Runs a task's code at once, in the middle of the work that resumes the task.
    private final class AtOnce: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    @Test func `withCompletion: returns the handler's value from any thread, also within the call`() async {
        #expect(await withCompletion { $0(5) } == 5)
        #expect(await withCompletion { done in Task.detached { done("later") } } == "later")
        let (executor, handler) = (AtOnce(), Locked<(@Sendable (Int) -> Void)?>(nil))
        let task = Task(executorPreference: executor) {
            await withCompletion { (done: @escaping @Sendable (Int) -> Void) in handler.withLock { $0 = done } }
        }
        // The task waits by now, and goes on within this call.
        let done = handler.withLock { $0 }
        done?(7)
        #expect(await task.value == 7)
        withExtendedLifetime(executor) {}
    }
}
