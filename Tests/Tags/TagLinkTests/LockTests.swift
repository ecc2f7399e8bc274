// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import TestThreads
import Testing

/// Values behind a lock, and values that are handed over to a task.
struct LockTests {
    @Test(.ownThreads) func `lock: held by one thread, once; free again after an error`() async {
        let lock = Locked(0)
        #expect(throws: LinkError.self) {
            try lock.withLock { (_: inout Int) throws(LinkError) in throw LinkError(.cancelled, "") }
        }
        await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<1000 { lock.withLock { $0 += 1 } } } }
        }
        #expect(lock.withLock { $0 } == 8000)
        await #expect(processExitsWith: .failure) {
            let lock = Locked(1)
            lock.withLock { _ in lock.withLock { $0 = 2 } }
        }
    }

    @Test(.ownThreads) func `locks that are freed: their memory is used again`() async {
        await #expect(processExitsWith: .success) {
            /// The memory that this process has, in pages of 4 KB.
            func pages() throws -> Int {
                let sizes = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
                return try #require(Int(sizes[1]))
            }
            for number in 0..<1000 { _ = Locked(number) }
            let before = try pages()
            // 19 MB, if the mutexes alone were not used again.
            for number in 0..<400_000 { _ = Locked(number) }
            #expect(try pages() - before < 2048)
        }
    }

    /// Runs a task's code at once, in the middle of the work that resumes the task.
    private final class AtOnce: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    @Test func `value handed over to a task: from any thread, also where the task goes on at once`() async {
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
