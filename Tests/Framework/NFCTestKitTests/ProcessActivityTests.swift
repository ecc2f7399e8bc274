// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TagLink
import TestThreads
import Testing

@testable import NFCTestKit

@Suite struct `What the kernel says of threads` {
    @Test func `A file that is opened and can't be read is empty, as that of a thread which ends meanwhile`() {
        var activity = ProcessActivity()
        // A directory is opened, and not read (EISDIR).
        #expect(activity.contents(of: "/proc/self/task").isEmpty)
        #expect(activity.contents(of: "/proc/self/task/nobody/stat").isEmpty)
        #expect(!activity.contents(of: "/proc/self/stat").isEmpty)
    }

    @Test(arguments: [(9_999_999, 99, false), (10_000_000, 0, true), (0, 100, true)] as [(UInt64, UInt64, Bool)])
    func `A thread that has run for 10 ms, or a hundred times, has started what it took before`(
        time: UInt64,
        times: UInt64,
        hasStarted: Bool
    ) {
        let first = ProcessActivity.Course(processorTime: 5, timesRun: 7, isAsleep: false)
        let now = ProcessActivity.Course(processorTime: 5 + time, timesRun: 7 + times, isAsleep: false)
        #expect(ThreadChances.hasStartedWork(now, since: first) == hasStarted)
    }

    private static let hasCounts = unsafe access("/proc/thread-self/schedstat", R_OK) == 0

    @Test(.enabled(if: hasCounts, "the kernel does not count how often threads run"))
    func `A thread that waits has run, and has a course, and the one that asks has none`() throws {
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let number = Locked<Int32>(0)
        Thread.detachNewThread {
            // As the kernel shows one that runs, but for the last parenthesis.
            Thread.current.name = ") R ("
            number.withLock { $0 = ProcessActivity.callerNumber }
            begun.signal()
            end.wait()
        }
        begun.wait()
        defer { end.signal() }
        let thread = number.withLock { $0 }
        var activity = ProcessActivity()
        var course = activity.courses()[thread]
        let limit = ContinuousClock.now + .seconds(60)
        while let current = course, !current.isAsleep, ContinuousClock.now < limit {
            course = activity.courses()[thread]
        }
        let waiting = try #require(course)
        #expect(waiting.isAsleep && waiting.processorTime > 0 && waiting.timesRun > 0)
        #expect(activity.timesRunIfWaiting(thread) == waiting.timesRun)
        #expect(activity.courses()[ProcessActivity.callerNumber] == nil)
    }

    /// In another process, because each test has threads that work.
    @Test(.ownThreads, .enabled(if: hasCounts, "the kernel does not count how often threads run"))
    func `A thread that sleeps has had its chance after a while, and not at once`() async {
        await #expect(processExitsWith: .success) {
            let end = DispatchSemaphore(value: 0)
            Thread.detachNewThread { end.wait() }
            let start = ContinuousClock.now
            var chances = ThreadChances()
            if chances.haveComeForAll() { fatalError("The others have not slept for long.") }
            while !chances.haveComeForAll() {
                if start.duration(to: .now) > .seconds(60) { fatalError("All others sleep.") }
                usleep(1000)
            }
            if start.duration(to: .now) < .milliseconds(50) { fatalError("Nobody had slept for long.") }
            end.signal()
        }
    }

    @Test func `A thread that is not there any more waits, and has not run`() {
        var activity = ProcessActivity()
        #expect(activity.timesRunIfWaiting(.max) == 0)
    }

    @Test func `A thread has the number that the kernel has for it, whatever its digits are`() async {
        for _ in 0..<30 {
            let isRight = await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    var activity = ProcessActivity()
                    // The number is the first word.
                    let words = activity.contents(of: "/proc/thread-self/stat").split(separator: 0x20)
                    let number = words.first.map { String(decoding: $0, as: UTF8.self) }
                    continuation.resume(returning: number == "\(ProcessActivity.callerNumber)")
                }
            }
            #expect(isRight)
        }
    }

    /// Begins a thread that works without end. It takes no lock: one that waits for it would sleep.
    private static func beginWork(ofQueue isOfQueue: Bool) {
        let begun = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            if isOfQueue { PoolThreads.noteCaller() }
            begun.signal()
            while true { sched_yield() }
        }
        begun.wait()
    }

    /// In another process, because each test has threads that work.
    @Test(.ownThreads) func `A thread that runs the work of queues may work while all others sleep`() async {
        await #expect(processExitsWith: .success) {
            Self.beginWork(ofQueue: true)
            let end = ContinuousClock.now + .seconds(60)
            while !PoolThreads.othersSleep {
                if ContinuousClock.now > end { fatalError("The thread of a queue counts as another one.") }
            }
            Self.beginWork(ofQueue: false)
            if PoolThreads.othersSleep { fatalError("A thread that works does not count.") }
            exit(0)
        }
    }

    @Test(.enabled(if: !CrashTests.isSanitized, "a sanitizer gives each thread such a stack itself"))
    func `A thread that ends has no stack for its signals any more`() async throws {
        Thread.detachNewThread {
            SignalStack.setForCaller()
            ThreadEnd.note()
            unsafe pthread_setspecific(ThreadEnd.key, UnsafeRawPointer(bitPattern: 1))
        }
        try await waitWhile(ThreadEnd.hadStack.withLock { $0.count } < 2)
        #expect(ThreadEnd.hadStack.withLock { $0 } == [true, false])
    }
}

/// Looks at a thread while it ends.
private enum ThreadEnd {
    /// Whether the thread had a stack for its signals, at first and at last.
    static let hadStack = Locked<[Bool]>([])

    static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, lookAtEnd)
        return key
    }()

    static func note() {
        var stack = unsafe stack_t()
        unsafe sigaltstack(nil, &stack)
        let isThere = unsafe stack.ss_flags & Int32(SS_DISABLE) == 0
        hadStack.withLock { $0.append(isThere) }
    }
}

/// A thread frees what it has in no order, and again as long as there is more: the second time, all else was freed.
private func lookAtEnd(_ round: UnsafeMutableRawPointer?) {
    if UInt(bitPattern: round) > 1 { return ThreadEnd.note() }
    unsafe pthread_setspecific(ThreadEnd.key, UnsafeRawPointer(bitPattern: 2))
}
