// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import NFCTestKit
import TagLink
import Testing

/// Work that takes real time, and some seconds of the field's time in which it has to end.
@Suite(.timeLimit(.minutes(5))) struct `Time, while the code of a test works` {
    private typealias Stranger = `A session whose test nobody knows`.Stranger

    private static func isInTime(
        _ begin: @escaping @Sendable (_ end: @escaping @Sendable () -> Void) -> Void
    ) async throws -> Bool {
        try await withField(grace: .seconds(60)) { field in
            try await field.completion("work") { done in
                let once = Locked<(@Sendable (Bool) -> Void)?>(done)
                let end: @Sendable (Bool) -> Void = { isInTime in once.withLock { $0.take() }?(isInTime) }
                begin { end(true) }
                DispatchQueue.global().asyncAfter(deadline: .now() + 20) { end(false) }
            }
        }
    }

    @Test(
        arguments: [.globalQueue, .ownQueue, .barrier, .operation, .task, .detachedTask] as [Way]
    )
    func `It stands while work of any kind is done on a queue`(way: Way) async throws {
        #expect(
            try await Self.isInTime { end in
                way.perform {
                    usleep(200_000)
                    end()
                }
            }
        )
    }

    @Test func `It stands while a file is read that has nothing yet`() async throws {
        // Begun outside of the field, so its thread does not belong to the test.
        let (stranger, pipe) = (Stranger(), Pipe())
        #expect(
            try await Self.isInTime { end in
                let file = pipe.fileHandleForReading.fileDescriptor
                let source = DispatchSource.makeReadSource(fileDescriptor: file, queue: .global())
                source.setEventHandler { [source] in
                    source.cancel()
                    end()
                }
                source.activate()
                stranger.perform {
                    usleep(400_000)
                    pipe.fileHandleForWriting.write(Data([1]))
                }
            }
        )
    }

    @Test func `It stands until a timer fires whose handler was there before the field`() async throws {
        let ended = Locked<(@Sendable () -> Void)?>(nil)
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .distantFuture)
        timer.setEventHandler { ended.withLock { $0.take() }?() }
        timer.activate()
        defer { timer.cancel() }
        // Sendable because only the test uses it meanwhile.
        nonisolated(unsafe) let mine = timer
        #expect(
            try await Self.isInTime { end in
                ended.withLock { $0 = end }
                unsafe mine.schedule(deadline: .now() + 0.4)
            }
        )
    }

    @Test func `It stands until a timer fires that is in the loop of a thread`() async throws {
        #expect(
            try await Self.isInTime { end in
                Thread.detachNewThread {
                    RunLoop.current.add(Timer(timeInterval: 0.4, repeats: false) { _ in end() }, forMode: .default)
                    RunLoop.current.run(until: Date(timeIntervalSinceNow: 5))
                }
            }
        )
    }

    @Test func `It passes at once while a thread waits, however long the grace is`() async throws {
        let semaphore = DispatchSemaphore(value: 0)
        #expect(
            try await !Self.isInTime { end in
                Thread.detachNewThread {
                    semaphore.wait()
                    end()
                }
            }
        )
        semaphore.signal()
    }

    @Test func `A thread that can't be made is not waited for`() async throws {
        try await withField(grace: .seconds(60)) { field in
            let status = unsafe withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { attributes in
                unsafe pthread_attr_init(attributes.baseAddress!)
                defer { unsafe pthread_attr_destroy(attributes.baseAddress!) }
                // More memory than any process has.
                unsafe pthread_attr_setstacksize(attributes.baseAddress!, 1 << 60)
                var thread = pthread_t()
                return unsafe pthread_create(&thread, attributes.baseAddress!, { _ in nil }, nil)
            }
            #expect(status != 0)
            await field.wait(for: .seconds(5))
            #expect(field.now == .seconds(5))
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The result of a wait in a test` {
    private static func results(
        _ work: @escaping @Sendable () -> [DispatchTimeoutResult]
    ) async throws -> [DispatchTimeoutResult] {
        try await withField { field in
            try await field.completion("wait") { done in DispatchQueue.global().async { done(work()) } }
        }
    }

    @Test func `says whether anything was there, where it only looks`() async throws {
        let results = try await Self.results {
            let (semaphore, group, empty) = (DispatchSemaphore(value: 0), DispatchGroup(), DispatchGroup())
            semaphore.signal()
            group.enter()
            defer { group.leave() }
            return [
                semaphore.wait(timeout: .now()), semaphore.wait(timeout: .now()), group.wait(timeout: .now()),
                empty.wait(timeout: .now()), empty.wait(timeout: .now() + 30),
            ]
        }
        #expect(results == [.success, .timedOut, .timedOut, .success, .success])
    }

    @Test func `counts what comes at the very end of it`() async throws {
        let results = try await Self.results {
            let semaphore = DispatchSemaphore(value: 0)
            let end = DispatchTime.now() + 60
            DispatchQueue.global().asyncAfter(deadline: end) { semaphore.signal() }
            return [semaphore.wait(timeout: end)]
        }
        #expect(results == [.success])
    }
}
