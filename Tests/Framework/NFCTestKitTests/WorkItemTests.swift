// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import NFCTestKit
import TagLink
import TestThreads
import Testing

@Suite(.timeLimit(.minutes(5))) struct `A work item of a test` {
    @Test(arguments: [true, false])
    func `It runs beside others on a concurrent queue, as a block does, unless it is a barrier`(isItem: Bool)
        async throws
    {
        let queue = DispatchQueue(label: "app.items", attributes: .concurrent)
        try await withField { field in
            try await field.completion("work") { (done: @escaping @Sendable (Bool) -> Void) in
                let hasBegun = DispatchSemaphore(value: 0)
                func begin(_ work: @escaping @Sendable () -> Void) {
                    guard isItem else { return queue.async(execute: work) }
                    queue.async(execute: DispatchWorkItem(block: work))
                }
                begin {
                    hasBegun.wait()
                    done(true)
                }
                begin { hasBegun.signal() }
            }
        }
    }

    private final class Token: Sendable {}

    private struct Held: Sendable {
        weak let token: Token?
    }

    @Test(arguments: [true, false]) func `What it holds is freed with it`(isItem: Bool) async throws {
        let held = try await withField { field in
            let token = Token()
            _ = try await field.completion("work") { (done: @escaping @Sendable (Bool) -> Void) in
                let work: @Sendable () -> Void = {
                    withExtendedLifetime(token) {}
                    done(true)
                }
                let queue = DispatchQueue.global()
                if isItem { queue.async(execute: DispatchWorkItem(block: work)) } else { queue.async(execute: work) }
            }
            return Held(token: token)
        }
        try await waitWhile(held.token != nil)
        #expect(held.token == nil)
    }

    /// How an app writes a barrier.
    enum Barrier: CaseIterable, Sendable {
        case flag, item, itemInGroup

        func begin(on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
            switch self {
            case .flag: queue.async(flags: .barrier, execute: work)
            case .item: queue.async(execute: DispatchWorkItem(flags: .barrier, block: work))
            case .itemInGroup: queue.async(group: DispatchGroup(), qos: .userInitiated, flags: .barrier, execute: work)
            }
        }
    }

    @Test(arguments: Barrier.allCases) func `A barrier comes when all before it has ended, and nothing runs beside it`(
        barrier: Barrier
    ) async throws {
        let order = Locked<[String]>([])
        try await withField { field in
            try await field.completion("work") { done in
                let queue = DispatchQueue(label: "app.barriers", attributes: .concurrent)
                queue.async {
                    usleep(20_000)
                    order.withLock { $0.append("before") }
                }
                barrier.begin(on: queue) {
                    usleep(20_000)
                    order.withLock { $0.append("barrier") }
                }
                queue.async {
                    order.withLock { $0.append("behind") }
                    done(())
                }
            }
        }
        #expect(order.withLock { $0 } == ["before", "barrier", "behind"])
    }

    @Test func `A group is empty when its work has ended, and not before`() async throws {
        let order = Locked<[String]>([])
        try await withField { field in
            try await field.completion("work") { done in
                let (queue, group) = (DispatchQueue(label: "app.group", attributes: .concurrent), DispatchGroup())
                for _ in 0..<2 {
                    queue.async(group: group) {
                        usleep(20_000)
                        order.withLock { $0.append("work") }
                    }
                }
                group.notify(queue: queue) {
                    order.withLock { $0.append("empty") }
                    done(())
                }
            }
        }
        #expect(order.withLock { $0 } == ["work", "work", "empty"])
    }
}
