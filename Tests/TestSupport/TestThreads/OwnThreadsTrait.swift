// SPDX-License-Identifier: Apache-2.0
import Foundation
package import Testing

/// Runs a test, or each test of a suite, on threads of their own, see `.ownThreads`.
package struct OwnThreadsTrait: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(WaitingThreads.shared) { try await function() }
    }
}

extension Trait where Self == OwnThreadsTrait {
    /// For tests that block a thread while they wait for a program. That includes exit tests: the testing library
    /// blocks a thread while it reads what the process reports.
    ///
    /// Swift runs all tasks on one thread for each processor. On a machine with two processors, two tests that wait for
    /// a program would stop all others.
    package static var ownThreads: Self { OwnThreadsTrait() }
}

/// Threads that may be blocked. There are enough of them for every test that runs beside others.
private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()
    private static let count = 24

    private let condition = NSCondition()
    /// Only used while the condition is locked.
    nonisolated(unsafe) private var jobs: [UnownedJob] = []

    private init() {
        for _ in 0..<Self.count {
            let thread = Thread { [unowned self] in run() }
            thread.name = "waiting test"
            thread.start()
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock { unsafe jobs.append(job) }
        condition.signal()
    }

    private func run() -> Never {
        while true {
            let job = condition.withLock {
                while unsafe jobs.isEmpty { condition.wait() }
                return unsafe jobs.removeFirst()
            }
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
