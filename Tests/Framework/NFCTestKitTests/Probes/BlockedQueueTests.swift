// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import Testing

/// A queue that waits for what can't come, and waits that only look so.
@Suite(.timeLimit(.minutes(10))) struct BlockedQueueTests {
    private static let tag = TagSpec.product("NTAG215", holding: .uri("https://example.com/time"))

    @Suite(.serialized, .timeLimit(.minutes(10))) struct Endless {
        private static let queue = DispatchQueue(label: "app.nfc")

        /// Reads with a wait in the delegate's method.
        @Sendable private static func read(_ field: TestField, waiting wait: @escaping @Sendable () -> Void)
            async throws
        {
            let found: Result<String, any Error> = try await field.completion("read") { done in
                LinkReader(queue: queue) { reader in
                    reader.readLink()
                    wait()
                }.begin(done)
            }
            _ = try found.get()
        }

        @Test func `delegate that waits for its own queue: the error names queue and call, and the next test runs`()
            async throws
        {
            let grace = Duration.milliseconds(50)
            let error = await #expect(throws: FieldError.self) {
                try await withField(tag, grace: grace) { field in
                    try await Self.read(field) { DispatchSemaphore(value: 0).wait() }
                }
            }
            #expect(error?.code == .queueIsBlocked)
            #expect(error?.reason.contains("\"app.nfc\" is blocked") == true)
            #expect(error?.reason.contains("DispatchSemaphore.wait()") == true)
            let failure = await #expect(throws: ExplorationFailure.self) {
                try await explore(.everyLoss, near: tag, grace: grace) { field in
                    try await Self.read(field) {
                        let group = DispatchGroup()
                        group.enter()
                        group.wait()
                    }
                }
            }
            #expect(failure?.finding.contains("\"app.nfc\" is blocked") == true)
            try await withField(tag) { field in
                try await Self.read(field) {}
                #expect(field.now < .seconds(15))
            }
        }
    }

    /// Waits on a queue of the app's for a semaphore.
    private func wait(_ signal: @escaping @Sendable (DispatchSemaphore) -> Void) async throws {
        let queue = DispatchQueue(label: "app.nfc.patient")
        try await withField { field in
            try await field.completion("work") { done in
                queue.async {
                    let semaphore = DispatchSemaphore(value: 0)
                    signal(semaphore)
                    semaphore.wait()
                    done(())
                }
            }
        }
    }

    @Test func `handler that waits for slow work on another queue: the test continues`() async throws {
        try await wait { semaphore in
            DispatchQueue.global().async {
                Thread.sleep(forTimeInterval: 1.5)
                semaphore.signal()
            }
        }
    }

    @Test func `handler that waits for work that finds no free thread at first: the test continues`() async throws {
        try await wait { semaphore in
            let gate = DispatchSemaphore(value: 0)
            let count = ProcessInfo.processInfo.activeProcessorCount + 1
            for _ in 0..<count {
                DispatchQueue.global().async {
                    gate.wait()
                    semaphore.signal()
                }
            }
            DispatchQueue.global().async { for _ in 0..<count { gate.signal() } }
        }
    }

    @Test func `handler that waits with a time limit: ends by a delay before the limit, or times out`() async throws {
        let results = try await withField(grace: .milliseconds(10)) { field in
            try await field.completion("work") { (done: @escaping @Sendable ([DispatchTimeoutResult]) -> Void) in
                DispatchQueue(label: "app.nfc.limit").async {
                    let semaphore = DispatchSemaphore(value: 0)
                    DispatchQueue.global().asyncAfter(deadline: .now() + 45) { semaphore.signal() }
                    done([
                        semaphore.wait(timeout: .now() + 90), DispatchSemaphore(value: 0).wait(timeout: .now() + 1),
                    ])
                }
            }
        }
        #expect(results == [.success, .timedOut])
    }
}
