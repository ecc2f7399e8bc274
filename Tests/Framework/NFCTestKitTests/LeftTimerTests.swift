// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCTestKit
import TestThreads
import Testing

/// Collects jobs for a loop of events, which runs them when it is called.
private final class Loop: SerialExecutor, @unchecked Sendable {
    // Sendable because of its lock.
    private let lock = NSLock()
    private var jobs: [UnownedJob] = []

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        lock.withLock { jobs.append(job) }
    }

    /// Runs the jobs that have come so far.
    func run() {
        let jobs = lock.withLock {
            defer { self.jobs = [] }
            return self.jobs
        }
        for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
}

/// What works in such a loop.
private actor LoopClient {
    private let loop: Loop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(_ loop: Loop) { self.loop = loop }

    func read(_ done: @escaping @Sendable (Result<String, any Error>) -> Void) { LinkReader().begin(done) }
}

/// In another process, because its work belongs to no test.
@Suite(.timeLimit(.minutes(5))) struct `A timer that fires when its test's field has ended` {
    @Test(.ownThreads) func `What it runs for others is not of its test, but of the only field that is open`() async {
        await #expect(processExitsWith: .success) {
            typealias Stranger = `A session whose test nobody knows`.Stranger
            let stranger = Stranger()
            let loop = Loop()
            let client = LoopClient(loop)
            let stop = try await withField { _ -> @Sendable () -> Void in
                nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: .global())
                unsafe timer.schedule(deadline: .now(), repeating: .milliseconds(5))
                unsafe timer.setEventHandler { loop.run() }
                unsafe timer.activate()
                return { unsafe timer.cancel() }
            }
            defer { stop() }
            let link = "https://example.com/loop"
            try await withField(.product("NTAG215", holding: .uri(link)), grace: .seconds(60)) { field in
                let found: Result<String, any Error> = try await field.completion("read") { done in
                    stranger.perform { Task.detached { await client.read(done) } }
                }
                guard try found.get() == link else { throw CocoaError(.formatting) }
            }
        }
    }
}
