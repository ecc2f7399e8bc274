// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCTestKit
import TagLink
import TestThreads
import Testing

/// The thread that starts a task runs it itself, unless it is busy for a long time.
@Suite(.timeLimit(.minutes(2))) struct `A task that code begins` {
    /// Waits without leaving the thread.
    private static func spin(until condition: () -> Bool) -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            if condition() { return true }
        }
        return false
    }

    /// In another process, because the tasks of all tests share one thread per processor.
    @Test(.ownThreads, .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1, "there is no other thread"))
    func `It begins on another thread when its own does not return`() async {
        await #expect(processExitsWith: .success) {
            // First where no field is open whose time passes by itself.
            let hasBegun = Locked(false)
            let wasSeen = await withVirtualField { _ in
                await Task {
                    Task { hasBegun.withLock { $0 = true } }
                    return Self.spin { hasBegun.withLock { $0 } }
                }.value
            }
            guard wasSeen else { fatalError("In a field that the test drives, the task has not begun.") }
            for count in [1, 2, 5] {
                let begun = Locked(0)
                let haveBegun = try await withField { _ in
                    for _ in 0..<count { Task { begun.withLock { $0 += 1 } } }
                    return Self.spin { begun.withLock { $0 == count } }
                }
                guard haveBegun else { fatalError("\(begun.withLock { $0 }) of \(count) tasks have begun.") }
            }
            let wasSeenByBlock = try await withField { field in
                try await field.completion("block") { (done: @escaping @Sendable (Bool) -> Void) in
                    DispatchQueue.global().async {
                        let hasBegun = Locked(false)
                        Task { hasBegun.withLock { $0 = true } }
                        done(Self.spin { hasBegun.withLock { $0 } })
                    }
                }
            }
            guard wasSeenByBlock else { fatalError("The task of a block that does not return has not begun.") }
        }
    }

    @Test func `It does not begin on the queue of a block that begins it`() async throws {
        let (queue, key) = (DispatchQueue(label: "client"), DispatchSpecificKey<Bool>())
        queue.setSpecific(key: key, value: true)
        let isOnQueue = try await withField { field in
            try await field.completion("task") { (done: @escaping @Sendable (Bool) -> Void) in
                queue.async { Task { done(DispatchQueue.getSpecific(key: key) == true) } }
            }
        }
        #expect(!isOnQueue)
    }

    @Test func `A flow that a block resumes goes on when the block has returned`() async throws {
        let order = Locked<[String]>([])
        for _ in 0..<40 {
            try await withField { field in
                _ = try await field.completion("block") { (done: @escaping @Sendable (Bool) -> Void) in
                    DispatchQueue.global().async {
                        done(true)
                        usleep(500)
                        order.withLock { $0.append("block") }
                    }
                }
                order.withLock { $0.append("flow") }
                await field.settle()
            }
        }
        // A block that a busy machine holds up for long is not waited for.
        let all = order.withLock { $0 }
        try #require(all.count == 80)
        let inOrder = stride(from: 0, to: 80, by: 2).filter { all[$0] == "block" }
        #expect(inOrder.count > 20, "\(inOrder.count)")
    }

    @Test(.ownThreads, .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1, "there is no other thread"))
    func `It does not begin on a queue of the app whose own work ends meanwhile`() async {
        await #expect(processExitsWith: .success) {
            let queue = DispatchQueue(label: "client")
            let hasBegun = Locked(false)
            let wasSeen = try await withField { _ in
                Task {
                    dispatchPrecondition(condition: .notOnQueue(queue))
                    hasBegun.withLock { $0 = true }
                }
                queue.async {}
                return Self.spin { hasBegun.withLock { $0 } }
            }
            guard wasSeen else { fatalError("The task has not begun.") }
        }
    }

    @Test func `It begins when its own thread waits for it`() async throws {
        let hasBegun = DispatchSemaphore(value: 0)
        let ended = try await withField { field in
            try await field.completion("wait") { (done: @escaping @Sendable (DispatchTimeoutResult) -> Void) in
                DispatchQueue.global().async {
                    Task { hasBegun.signal() }
                    done(hasBegun.wait(timeout: .now() + 30))
                }
            }
        }
        #expect(ended == .success)
    }

    @Test func `It takes its turn on the main queue, behind what was put there before`() async throws {
        let order = Locked<[String]>([])
        try await withField { _ in
            let task = await MainActor.run {
                DispatchQueue.main.async { order.withLock { $0.append("block") } }
                return Task { @MainActor in order.withLock { $0.append("task") } }
            }
            await task.value
        }
        #expect(order.withLock { $0 } == ["block", "task"])
    }

    @Test func `Each of many runs once, and the flow waits for all`() async throws {
        let runs = Locked([Int: Int]())
        try await withField { _ in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<200 { group.addTask { runs.withLock { $0[number, default: 0] += 1 } } }
            }
        }
        #expect(runs.withLock { $0 } == Dictionary(uniqueKeysWithValues: (0..<200).map { ($0, 1) }))
    }
}
