// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCTestKit
import TagLink
import TestThreads
import Testing

/// An executor with its own thread, such as that of a database.
private final class ThreadExecutor: SerialExecutor, @unchecked Sendable {
    // Sendable because of its lock.
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []

    init() {
        Thread.detachNewThread { [self] in
            while true {
                condition.lock()
                while jobs.isEmpty { condition.wait() }
                let job = jobs.removeFirst()
                condition.unlock()
                unsafe job.runSynchronously(on: asUnownedSerialExecutor())
            }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            jobs.append(job)
            condition.signal()
        }
    }
}

/// What works on that thread.
private actor Worker {
    private let executor = ThreadExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    func perform(_ work: @Sendable () -> Void) { work() }
}

@Suite(.timeLimit(.minutes(2))) struct `Time, while a thread works that no test has begun` {
    @Test(.ownThreads) func `It stands while the thread computes, once that has put work on a queue`() async {
        // In another process, because other tests may use the threads for tasks for a long time.
        await #expect(processExitsWith: .success) {
            // Created outside of the field, so its thread does not belong to the test.
            let worker = Worker()
            await worker.perform {}
            // Longer than a busy machine takes. After the grace period, time continues even if the thread still computes.
            let isInTime = try await withField(grace: .seconds(60)) { field in
                // From here on not all that the test does can be counted.
                await worker.perform { DispatchQueue.global().async {} }
                await field.settle()
                return try await field.completion("work") { (done: @escaping @Sendable (Bool) -> Void) in
                    let once = Locked<(@Sendable (Bool) -> Void)?>(done)
                    let end: @Sendable (Bool) -> Void = { isInTime in once.withLock { $0.take() }?(isInTime) }
                    Task {
                        await worker.perform {
                            let later = ContinuousClock.now + .milliseconds(300)
                            while ContinuousClock.now < later {}
                            end(true)
                        }
                    }
                    DispatchQueue.global().asyncAfter(deadline: .now() + 10) { end(false) }
                }
            }
            guard isInTime else { exit(1) }
        }
    }
}
