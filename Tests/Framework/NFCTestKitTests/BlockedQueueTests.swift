// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import Glibc
import NFCTestKit
import TestThreads
import Testing

private let tag = TagSpec.product("NTAG215", holding: .uri("https://example.com/time"))

/// Reads with nothing in the way.
private func read(on queue: DispatchQueue) async throws {
    try await withField(tag) { field in
        let found: Result<String, any Error> = try await field.completion("read") { LinkReader(queue: queue).begin($0) }
        #expect(try found.get() == "https://example.com/time")
        #expect(field.now < .seconds(15))
    }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct `A queue that its own delegate blocks` {
    private static let queue = DispatchQueue(label: "app.nfc")

    @Test func `The error names it, and the next test goes on`() async throws {
        for _ in 0..<2 {
            let error = await #expect(throws: FieldError.self) {
                try await withField(tag) { field in
                    let _: Result<String, any Error> = try await field.completion("read") { done in
                        LinkReader(queue: Self.queue) { reader in
                            let semaphore = DispatchSemaphore(value: 0)
                            reader.readLink()
                            semaphore.wait()
                        }.begin(done)
                    }
                }
            }
            #expect(error?.code == .queueIsBlocked)
            #expect(error?.reason.contains("\"app.nfc\" is blocked") == true)
            #expect(error?.reason.contains("DispatchSemaphore.wait()") == true)
        }
        try await read(on: Self.queue)
    }

    @Test(.ownThreads) func `The main queue is named as that, and so are the handlers that were never called`() async {
        // In a process of its own: the main queue is that of other tests too.
        await #expect(processExitsWith: .success) {
            let error = await #expect(throws: FieldError.self) {
                try await withField(grace: .milliseconds(50)) { field in
                    let _: Int = try await field.completion("read") { _ in
                        DispatchQueue.main.async { DispatchSemaphore(value: 0).wait() }
                    }
                }
            }
            let start = "The main queue is blocked: what runs there waits with DispatchSemaphore.wait(), "
            #expect(error?.code == .queueIsBlocked && error?.reason.hasPrefix(start) == true)
            #expect(error?.reason.contains(" s of real time. Never called: read. A delegate's methods ") == true)
        }
    }

    @Test func `An exploration names it too`() async throws {
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(.everyLoss, near: tag) { field in
                let found: Result<String, any Error> = try await field.completion("read") { done in
                    LinkReader(queue: Self.queue) { reader in
                        let group = DispatchGroup()
                        group.enter()
                        reader.readLink()
                        group.wait()
                    }.begin(done)
                }
                _ = try found.get()
            }
        }
        #expect(failure?.finding.contains("\"app.nfc\" is blocked") == true)
        try await read(on: Self.queue)
    }

    @Test(.ownThreads, arguments: [true, false])
    func `It is named soon, while another thread is busy and while none is`(isBusy: Bool) async {
        // In a process of its own: while another test has a child process, a block is named only after 20 seconds.
        await #expect(processExitsWith: .success) { [isBusy = isBusy as Bool] in
            // A flow that is not stopped would wait forever.
            alarm(300)
            let busy = isBusy ? BusyThread() : nil
            defer { busy?.end() }
            let error = await #expect(throws: FieldError.self) {
                try await withField(tag) { field in
                    let _: Result<String, any Error> = try await field.completion("read") { done in
                        LinkReader(queue: Self.queue) { reader in
                            reader.readLink()
                            DispatchSemaphore(value: 0).wait()
                        }.begin(done)
                    }
                }
            }
            #expect(error?.code == .queueIsBlocked)
            // It takes 2 seconds, or more than 10 if another running thread hides the block. These are seconds in which
            // the process could run, so the machine's load does not count.
            let reason = try #require(error?.reason)
            let quiet = try #require(reason.firstMatch(of: #/nothing happened for (\d+) s of real time/#))
            let seconds = try #require(Int(quiet.1))
            #expect(seconds < 10)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A wait that only looks as if nothing could end it` {
    // Each test has its own, because a queue does one thing at a time.
    private let queue = DispatchQueue(label: "app.nfc.patient")

    /// Waits on a queue of the app's for what is signalled to the semaphore.
    private func wait(_ signal: @escaping @Sendable (DispatchSemaphore) -> Void) async throws {
        let busy = BusyThread()
        defer { busy.end() }
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

    @Test func `Work on another queue that takes seconds ends it`() async throws {
        try await wait { semaphore in
            DispatchQueue.global().async {
                Thread.sleep(forTimeInterval: 2.5)
                semaphore.signal()
            }
        }
    }

    @Test func `Its own limit ends it, also where nothing else happens for longer than the grace`() async throws {
        try await withField(grace: .milliseconds(10)) { field in
            try await field.completion("work") { done in
                queue.async {
                    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 1)
                    done(())
                }
            }
        }
    }

    @Test func `A delay that is over before its own limit ends it, by the field's time`() async throws {
        let result = try await withField { field in
            try await field.completion("work") { (done: @escaping @Sendable (DispatchTimeoutResult) -> Void) in
                queue.async {
                    let semaphore = DispatchSemaphore(value: 0)
                    DispatchQueue.global().asyncAfter(deadline: .now() + 45) { semaphore.signal() }
                    done(semaphore.wait(timeout: .now() + 90))
                }
            }
        }
        #expect(result == .success)
    }

    @Test func `A thread of the test's own that takes seconds ends it`() async throws {
        try await wait { semaphore in
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 2.5)
                semaphore.signal()
            }
        }
    }

    @Test func `A thread that is begun in C ends it too`() async throws {
        try await wait { semaphore in
            var thread = pthread_t()
            let context = unsafe Unmanaged.passRetained(semaphore).toOpaque()
            let status = unsafe pthread_create(
                &thread,
                nil,
                { context in
                    usleep(2_500_000)
                    guard let context = unsafe context else { return nil }
                    unsafe Unmanaged<DispatchSemaphore>.fromOpaque(context).takeRetainedValue().signal()
                    return nil
                },
                context
            )
            #expect(status == 0)
            pthread_detach(thread)
        }
    }

    @Test func `Work ends it that begins late, because as many blocks wait as there are threads for`() async throws {
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
}

/// A thread of no test that never rests. One is enough: there is no moment at which all threads of the process sleep.
///
/// It computes only while a processor has nothing else to do, so that other tests don't wait for it.
final class BusyThread: @unchecked Sendable {
    // Sendable because of its lock.
    private let lock = NSLock()
    private var isBusy = true

    init() {
        Thread.detachNewThread { [self] in
            var none = sched_param()
            // SCHED_IDLE, which the library's module does not show.
            let status = unsafe sched_setscheduler(0, 5, &none)
            precondition(status == 0)
            while lock.withLock({ isBusy }) {}
        }
    }

    func end() { lock.withLock { isBusy = false } }
}
