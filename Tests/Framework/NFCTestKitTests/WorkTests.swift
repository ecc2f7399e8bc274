// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Glibc
import NFCTestKit
import TagLink
import TestThreads
import Testing

/// When the field's clock stands, because the app's code or something outside works, and when it goes on.
@Suite(.timeLimit(.minutes(5))) struct WorkTests {
    /// Whether work of real time ends before some seconds of the field's time have passed.
    private static func isInTime(
        _ seconds: Double = 20,
        grace: Duration = .seconds(60),
        _ begin: @escaping @Sendable (_ end: @escaping @Sendable () -> Void) throws -> Void
    ) async throws -> Bool {
        try await withField(grace: grace) { field in
            try await field.completion("work") { done in
                let once = Locked<(@Sendable (Bool) -> Void)?>(done)
                let end: @Sendable (Bool) -> Void = { isInTime in once.withLock { $0.take() }?(isInTime) }
                do { try begin { end(true) } } catch { end(false) }
                DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { end(false) }
            }
        }
    }

    /// Computes for some time.
    @Sendable private static func spin(for time: Duration) {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {}
    }

    @Test(arguments: [.globalQueue, .ownQueue, .barrier, .operation, .task, .detachedTask] as [Way])
    func `work on a queue or in a task: no limit passes while it runs`(way: Way) async throws {
        let isInTime = try await Self.isInTime { end in
            way.perform {
                sleepInRealTime(milliseconds: 200)
                end()
            }
        }
        #expect(isInTime)
    }

    /// What a thread of the test does, and whether it holds the clock.
    struct Work: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var holdsClock: Bool
        var perform: @Sendable () -> Void

        static let all = [
            Work(testDescription: "sleeps in real time", holdsClock: true) { sleepInRealTime(milliseconds: 1300) },
            Work(testDescription: "computes", holdsClock: true) { spin(for: .seconds(1.3)) },
            Work(testDescription: "has a timer in its run loop", holdsClock: true) {
                let isOver = Box<Bool>()
                let timer = Timer(timeInterval: 0.4, repeats: false) { _ in isOver.set(true) }
                RunLoop.current.add(timer, forMode: .default)
                while isOver.value == nil { RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.1)) }
            },
            Work(testDescription: "waits for something else", holdsClock: false) {
                _ = DispatchSemaphore(value: 0).wait(wallTimeout: .distantFuture)
            },
        ]
    }

    @Test(arguments: Work.all)
    func `thread of the test: the clock stands while the thread works, and passes while it waits`(
        work: Work
    ) async throws {
        let start = ContinuousClock.now
        let isInTime = try await Self.isInTime(work.holdsClock ? 10 : 500, grace: .seconds(work.holdsClock ? 1 : 60)) {
            end in
            Thread.detachNewThread {
                work.perform()
                end()
            }
        }
        #expect(isInTime == work.holdsClock)
        // A wait of 500 s passes at once.
        #expect(start.duration(to: .now) < .seconds(240))
    }

    // MARK: Outside of the process

    /// Something that takes real time, and that no count shows.
    enum Outside: String, CaseIterable, Sendable {
        case program, request

        /// Takes so long, then calls something. Returns what ends it sooner.
        func take(_ seconds: Double, _ server: SlowServer, _ done: @escaping @Sendable () -> Void) throws
            -> @Sendable () -> Void
        {
            switch self {
            case .program:
                let program = Process()
                program.executableURL = URL(filePath: "/bin/sleep")
                program.arguments = ["\(seconds)"]
                program.terminationHandler = { _ in done() }
                try program.run()
                // Not SIGTERM: a program has the signals blocked that the thread which starts it blocks.
                return { kill(program.processIdentifier, SIGKILL) }
            case .request: return server.ask { _ in done() }
            }
        }
    }

    @Test(arguments: Outside.allCases, [true, false])
    func `app's time limit for a server or program outside: lasts as long as in real time`(
        outside: Outside,
        isQuick: Bool
    )
        async throws
    {
        let seconds = isQuick ? 0.4 : 15
        // Created outside of the field, so its thread does not belong to the test.
        let server = SlowServer(thinkingFor: seconds)
        let stop = Box<@Sendable () -> Void>()
        defer { stop.value?() }
        let isInTime = try await Self.isInTime(isQuick ? 20 : 0.3, grace: .seconds(1)) { end in
            stop.set(try outside.take(seconds, server, end))
        }
        #expect(isInTime == isQuick)
    }

    /// A timer of Dispatch, and the times at which it fires.
    private static func timer(
        after seconds: Double = 1,
        every interval: DispatchTimeInterval = .never,
        _ times: Locked<[Duration]>,
        in field: TestField
    ) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: .main)
        timer.schedule(deadline: .now() + seconds, repeating: interval)
        timer.setEventHandler { times.withLock { $0.append(field.now) } }
        return timer
    }

    @Test func `timer of Dispatch: fires by the field's clock, again and again, and not when cancelled`() async throws {
        let start = ContinuousClock.now
        try await withField(grace: .seconds(60)) { field in
            let times = Locked<[Duration]>([])
            let (once, repeated) = (Self.timer(times, in: field), Self.timer(every: .seconds(20), times, in: field))
            let (inactive, cancelled) = (Self.timer(times, in: field), Self.timer(times, in: field))
            for timer in [once, repeated, cancelled] { timer.activate() }
            cancelled.cancel()
            await field.wait(for: .seconds(50))
            #expect(times.withLock { $0 } == [.seconds(1), .seconds(1), .seconds(21), .seconds(41)])
            repeated.suspend()
            await field.wait(for: .seconds(50))
            #expect(times.withLock { $0.count } == 4)
            // What was missed happens once.
            repeated.resume()
            inactive.resume()
            await field.settle()
            #expect(times.withLock { $0 }.suffix(2) == [.seconds(100), .seconds(100)])
            once.schedule(deadline: .now() + 7)
            repeated.cancel()
            await field.wait(for: .seconds(50))
            #expect(times.withLock { $0 }.dropFirst(6) == [.seconds(107)])
            for timer in [once, inactive] { timer.cancel() }
        }
        // Hundreds of seconds pass at once.
        #expect(start.duration(to: .now) < .seconds(30))
    }

    @Test func `code behind a wait that was signalled: runs before the test continues`() async throws {
        for _ in 0..<100 {
            try await withField { field in
                let hasRun = Box<Bool>()
                DispatchQueue.global().async {
                    let semaphore = DispatchSemaphore(value: 0)
                    DispatchQueue.global().asyncAfter(deadline: .now() + 1) { semaphore.signal() }
                    semaphore.wait()
                    hasRun.set(true)
                }
                await field.wait(for: .seconds(5))
                #expect(hasRun.value == true)
            }
        }
    }

    // MARK: Tasks

    /// Waits without leaving the thread.
    @Sendable private static func spin(until condition: () -> Bool) -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            if condition() { return true }
        }
        return false
    }

    /// In another process, because the tasks of all tests share one thread per processor.
    @Test(.ownThreads, .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1, "there is no other thread"))
    func `task begun by code that never returns: runs on another thread`() async {
        await #expect(processExitsWith: .success) {
            let begun = Locked(0)
            let begin: @Sendable () -> Void = { Task { begun.withLock { $0 += 1 } } }
            let isBegun: @Sendable (Int) -> Bool = { count in Self.spin { begun.withLock { $0 >= count } } }
            let inField = try await withField { _ in
                for _ in 0..<5 { begin() }
                return isBegun(5)
            }
            guard inField else { fatalError("\(begun.withLock { $0 }) of 5 tasks have begun.") }
            let inBlock = try await withField { field in
                try await field.completion("block") { (done: @escaping @Sendable (Bool) -> Void) in
                    DispatchQueue.global().async {
                        begin()
                        done(isBegun(6))
                    }
                }
            }
            guard inBlock else { fatalError("The task of a block that does not return has not begun.") }
        }
    }

    @Test func `task begun in a block that then waits for it: runs off the block's queue before the wait times out`()
        async throws
    {
        let (queue, key) = (DispatchQueue(label: "client"), DispatchSpecificKey<Bool>())
        queue.setSpecific(key: key, value: true)
        let isOnQueue = Box<Bool>()
        let ended = try await withField { field in
            try await field.completion("task") { (done: @escaping @Sendable (DispatchTimeoutResult) -> Void) in
                queue.async {
                    let hasBegun = DispatchSemaphore(value: 0)
                    Task {
                        isOnQueue.set(DispatchQueue.getSpecific(key: key) == true)
                        hasBegun.signal()
                    }
                    done(hasBegun.wait(timeout: .now() + 30))
                }
            }
        }
        #expect(ended == .success && isOnQueue.value == false)
    }

    // MARK: Queues

    @Test func `waits of Dispatch with a limit: the same results as outside of a field`() async throws {
        let results = try await withField { field in
            try await field.completion("wait") { (done: @escaping @Sendable ([DispatchTimeoutResult]) -> Void) in
                DispatchQueue.global().async {
                    let (semaphore, group, empty) = (DispatchSemaphore(value: 0), DispatchGroup(), DispatchGroup())
                    semaphore.signal()
                    group.enter()
                    defer { group.leave() }
                    var results = [semaphore.wait(timeout: .now()), semaphore.wait(timeout: .now())]
                    results += [group.wait(timeout: .now()), empty.wait(timeout: .now())]
                    results.append(empty.wait(timeout: .now() + 30))
                    // What comes at the very end counts.
                    let end = DispatchTime.now() + 60
                    DispatchQueue.global().asyncAfter(deadline: end) { semaphore.signal() }
                    done(results + [semaphore.wait(timeout: end)])
                }
            }
        }
        #expect(results == [.success, .timedOut, .timedOut, .success, .success, .success])
    }

    @Test(arguments: [true, false]) func `blocks and work items on a concurrent queue: run in parallel`(
        isItem: Bool
    ) async throws {
        let queue = DispatchQueue(label: "app.items", attributes: .concurrent)
        @Sendable func begin(_ work: @escaping @Sendable () -> Void) {
            if isItem { queue.async(execute: DispatchWorkItem(block: work)) } else { queue.async(execute: work) }
        }
        try await withField { field in
            try await field.completion("work") { done in
                let hasBegun = DispatchSemaphore(value: 0)
                begin {
                    hasBegun.wait()
                    done(())
                }
                begin { hasBegun.signal() }
            }
        }
    }

    /// How an app writes a barrier.
    enum Barrier: CaseIterable, Sendable {
        case flag, item, itemInGroup, groupNotification

        func begin(on queue: DispatchQueue, after group: DispatchGroup, _ work: @escaping @Sendable () -> Void) {
            switch self {
            case .flag: queue.async(flags: .barrier, execute: work)
            case .item: queue.async(execute: DispatchWorkItem(flags: .barrier, block: work))
            case .itemInGroup: queue.async(group: DispatchGroup(), qos: .userInitiated, flags: .barrier, execute: work)
            case .groupNotification: group.notify(queue: queue, execute: work)
            }
        }
    }

    @Test(arguments: Barrier.allCases) func `barrier or group's notification: comes when all before it has ended`(
        barrier: Barrier
    ) async throws {
        let order = Locked<[String]>([])
        try await withField { field in
            try await field.completion("work") { done in
                let (queue, group) = (DispatchQueue(label: "app.barriers", attributes: .concurrent), DispatchGroup())
                for _ in 0..<2 {
                    queue.async(group: group) {
                        usleep(20_000)
                        order.withLock { $0.append("before") }
                    }
                }
                barrier.begin(on: queue, after: group) {
                    usleep(20_000)
                    order.withLock { $0.append("barrier") }
                    queue.async {
                        order.withLock { $0.append("behind") }
                        done(())
                    }
                }
            }
        }
        #expect(order.withLock { $0 } == ["before", "before", "barrier", "behind"])
    }
}
