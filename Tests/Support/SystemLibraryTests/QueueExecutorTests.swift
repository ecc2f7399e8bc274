// SPDX-License-Identifier: Apache-2.0
import Dispatch
import SystemLibrary
import TestThreads
import Testing

@Suite(.timeLimit(.minutes(5))) struct `An executor of a queue` {
    private actor Counter {
        nonisolated let executor: QueueExecutor
        private(set) var count = 0

        init(_ executor: QueueExecutor) { self.executor = executor }

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        func add() -> Bool {
            count += 1
            return executor.isCurrent
        }

        nonisolated func addNow() -> Bool { assumeIsolated { $0.add() } }
    }

    @Test func `An actor's work runs on its queue, one after the other, and knows that where it is asked for`() async {
        for knowsCallers in [true, false] {
            let counter = Counter(QueueExecutor(target: nil, knowsCallers: knowsCallers))
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 { group.addTask { await counter.add() } }
                for await isCurrent in group { #expect(isCurrent == knowsCallers) }
            }
            #expect(await counter.count == 100)
            #expect(!counter.executor.isCurrent)
        }
    }

    @Test func `Work on the queue is the actor's own, and no other executor's`() async {
        let target = DispatchQueue(label: "target")
        let (executor, other) = (
            QueueExecutor(target: target, knowsCallers: true), QueueExecutor(target: target, knowsCallers: true)
        )
        let counter = Counter(executor)
        let found = await withCheckedContinuation { continuation in
            executor.async {
                dispatchPrecondition(condition: .onQueue(target))
                dispatchPrecondition(condition: .onQueue(executor.queue))
                continuation.resume(returning: [executor.isCurrent, other.isCurrent, counter.addNow()])
            }
        }
        #expect(found == [true, false, true])
        #expect(await counter.count == 1)
    }

    @Test func `A task that prefers it runs on its queue`() async {
        let executor = QueueExecutor(target: nil, knowsCallers: true)
        let isCurrent = await Task(executorPreference: executor) { executor.isCurrent }.value
        #expect(isCurrent)
    }

    @Test(.ownThreads) func `An actor's work elsewhere ends the process`() async {
        await #expect(processExitsWith: .failure) {
            _ = Counter(QueueExecutor(target: nil)).addNow()
        }
    }
}
