// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import Glibc
import NFCTestKit
import Testing

/// The field's clock: which waits pass at once, and which hold it.
@Suite(.timeLimit(.minutes(10))) struct TimeTests {
    private static let tag = TagSpec.product("NTAG215", holding: .uri("https://example.com/time"))

    /// Reads a link after something that takes time, in the delegate's method.
    private static func read(
        queue: DispatchQueue? = nil,
        grace: Duration = .seconds(1),
        before: @escaping @Sendable (_ read: @escaping @Sendable () -> Void) -> Void
    ) async throws {
        try await withField(tag, grace: grace) { field in
            let found: Result<String, any Error> = try await field.completion("read") { done in
                LinkReader(queue: queue) { reader in before { reader.readLink() } }.begin(done)
            }
            #expect(try found.get() == "https://example.com/time")
            #expect(field.now < .seconds(15))
        }
    }

    /// How a client waits by the clock that its test has.
    enum Delay: String, CaseIterable, Sendable {
        case asyncAfter, asyncAfterOfCompletion, sleep, sleepInDetachedTask

        /// Calls something after half a second.
        func begin(_ work: @escaping @Sendable () -> Void) {
            switch self {
            case .asyncAfter: DispatchQueue.global().asyncAfter(deadline: .now() + 0.5, execute: work)
            case .asyncAfterOfCompletion: DispatchQueue.main.async { Self.asyncAfter.begin(work) }
            case .sleep:
                Task {
                    try await Task.sleep(nanoseconds: 500_000_000)
                    work()
                }
            case .sleepInDetachedTask:
                Task.detached {
                    try await Task.sleep(nanoseconds: 500_000_000)
                    work()
                }
            }
        }
    }

    @Test(arguments: Delay.allCases, [true, false])
    func `delay in the app's code: passes before a session's limit`(delay: Delay, isOnMain: Bool) async throws {
        try await Self.read(queue: isOnMain ? .main : nil, grace: .seconds(60)) { read in delay.begin(read) }
    }

    @Test(arguments: [0.5, 0.012, 0.0005])
    func `delay whose deadline was computed earlier: lasts as long as the code says`(seconds: Double) async throws {
        try await withField { field in
            try await field.completion("later") { done in
                DispatchQueue.global().async {
                    let end = DispatchTime.now() + seconds
                    sleepInRealTime(milliseconds: 30)
                    DispatchQueue.global().asyncAfter(deadline: end) { done(()) }
                }
            }
            #expect(field.now == .seconds(seconds))
        }
    }

    @Test func `delay until a time of day: passes by the field's clock`() async throws {
        try await withField { field in
            try await field.completion("later") { done in
                DispatchQueue.global().asyncAfter(wallDeadline: .now() + 500) { done(()) }
            }
            // The code took a moment to ask for it.
            #expect(field.now > .seconds(400) && field.now <= .seconds(500))
        }
    }

    @Test(.timeLimit(.minutes(2))) func `delay of minutes with a long grace: passes at once`() async throws {
        try await withField(grace: .seconds(3600)) { field in
            try await Task.sleep(for: .seconds(500))
            #expect(field.now == .seconds(500))
            try await Task.sleep(nanoseconds: 1_500_000_000)
            #expect(field.now == .milliseconds(501_500))
        }
    }

    @Test func `semaphore signalled by asyncAfter: the delay passes by the field's clock`() async throws {
        try await Self.read(grace: .seconds(60)) { read in
            let semaphore = DispatchSemaphore(value: 0)
            DispatchQueue.global().asyncAfter(deadline: .now() + 5) { semaphore.signal() }
            semaphore.wait()
            read()
        }
    }

    /// How a client looks again and again whether something has happened.
    enum Poll: CaseIterable, Sendable {
        case semaphore, sleep, microseconds, sleepOnThread

        func perform(until isOver: DispatchSemaphore) {
            switch self {
            case .semaphore: while isOver.wait(timeout: .now() + .milliseconds(200)) == .timedOut {}
            case .sleep, .sleepOnThread:
                while isOver.wait(timeout: .now()) == .timedOut { Thread.sleep(forTimeInterval: 0.02) }
            case .microseconds: while isOver.wait(timeout: .now()) == .timedOut { usleep(100_000) }
            }
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: Poll.allCases)
    func `loop of waits that are shorter than what it waits for: each passes by the field's clock`(poll: Poll)
        async throws
    {
        try await withField { field in
            try await field.completion("polling") { done in
                let isOver = DispatchSemaphore(value: 0)
                DispatchQueue.global().asyncAfter(deadline: .now() + 60) { isOver.signal() }
                let body: @Sendable () -> Void = {
                    poll.perform(until: isOver)
                    done(())
                }
                if poll == .sleepOnThread {
                    Thread.detachNewThread(body)
                } else {
                    DispatchQueue.global().async(execute: body)
                }
            }
            #expect((.seconds(60)...(.seconds(61))).contains(field.now))
        }
    }

    /// How a client waits in a handler for what takes real time.
    enum RealWait: String, CaseIterable, Sendable {
        case threadSleep, semaphore, group, condition, request

        func perform(_ server: SlowServer) {
            switch self {
            case .threadSleep: Thread.sleep(forTimeInterval: 1.3)
            case .semaphore: _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 1.3)
            case .group:
                let group = DispatchGroup()
                DispatchQueue.global().async(group: group) { Thread.sleep(forTimeInterval: 1.3) }
                group.wait()
            case .condition:
                let condition = NSCondition()
                condition.lock()
                _ = condition.wait(until: Date(timeIntervalSinceNow: 1.3))
                condition.unlock()
            case .request:
                let semaphore = DispatchSemaphore(value: 0)
                server.ask { _ in semaphore.signal() }
                semaphore.wait()
            }
        }
    }

    @Test(arguments: RealWait.allCases)
    func `handler that waits for a server in real time: the session's limits do not pass meanwhile`(wait: RealWait)
        async throws
    {
        let server = SlowServer()
        try await Self.read { read in
            wait.perform(server)
            read()
        }
    }

}
