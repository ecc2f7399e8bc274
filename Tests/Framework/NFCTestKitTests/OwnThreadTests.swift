// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import TestThreads
import Testing

/// A client that ends its session a while after something failed.
private final class LateReader: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because all of it is used only on the session's queue after the start.
    /// Calls its argument after some time.
    private let wait: @Sendable (@escaping @Sendable () -> Void) throws -> Void
    private var session: NFCNDEFReaderSession?
    private var completion: (@Sendable (Bool) -> Void)?
    private var hasRead = false
    private(set) var hasFailed = false

    init(_ wait: @escaping @Sendable (@escaping @Sendable () -> Void) throws -> Void) { self.wait = wait }

    func begin(_ completion: @escaping @Sendable (Bool) -> Void) {
        self.completion = completion
        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
        session?.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first else { return }
        session.connect(to: tag) { [self] error in
            if error != nil { return fail() }
            tag.readNDEF { [self] _, error in
                if error != nil { return fail() }
                hasRead = true
                session.invalidate()
            }
        }
    }

    private func fail() {
        hasFailed = true
        try? wait { [self] in session?.invalidate(errorMessage: "Hold the card still, and try again.") }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        completion?(hasRead)
        completion = nil
        self.session = nil
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A thread that a run begins` {
    @Test func `Is waited for while it sleeps`() async throws {
        let report = try await explore(.losses, near: PlantedBug.link) { field in
            let reader = LateReader { done in
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: 0.1)
                    done()
                }
            }
            let hasRead = try await field.completion { reader.begin($0) }
            if !hasRead { throw CancellationError() }
        }
        #expect(report.runs > 5)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `What a run waits for that is outside of the process` {
    @Test func `A program's end is waited for, also where the first run begins none`() async throws {
        let failures = Locked(0)
        // Foundation holds what is called when a program ends until a moment later.
        let invariants = Invariant.all.except(.nothingLeaks)
        try await explore(.losses, near: PlantedBug.link, invariants: invariants) { field in
            let reader = LateReader { done in
                let program = Process()
                program.executableURL = URL(filePath: "/bin/sleep")
                program.arguments = ["0.3"]
                program.terminationHandler = { _ in done() }
                try program.run()
            }
            let hasRead = try await field.completion { reader.begin($0) }
            if reader.hasFailed {
                #expect(field.now < .seconds(30))
                failures.withLock { $0 += 1 }
            }
            if !hasRead { throw CancellationError() }
        }
        #expect(failures.withLock { $0 } > 0)
    }
}

/// In another process, because other tests have threads that work.
@Suite(.timeLimit(.minutes(5))) struct `A thread that no test has begun` {
    @Test(.ownThreads) func `Is waited for in the first run, before it has worked for the test`() async {
        await #expect(processExitsWith: .success) {
            let stranger = `A session whose test nobody knows`.Stranger()
            let results = Locked<[Bool]>([])
            try await explore(.replay("cancel@1"), near: PlantedBug.link, grace: .seconds(60), invariants: []) {
                field in
                let result: Result<String, any Error> = try await field.completion("read") { done in
                    LinkReader { reader in
                        stranger.perform {
                            usleep(300_000)
                            reader.readLink()
                        }
                    }.begin(done)
                }
                let hasRead = (try? result.get()) != nil
                results.withLock { $0.append(hasRead) }
            }
            let hasRead = results.withLock { $0 }
            guard hasRead == [true, false] else { fatalError("\(hasRead)") }
        }
    }
}

/// Something that takes real time, and that no count shows.
enum Outside: String, CaseIterable, Sendable {
    case program, request, timerSource

    /// Takes about so long, then calls something.
    ///
    /// - Returns: what ends it sooner.
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
        case .request:
            // While a request lasts, a thread of Foundation runs on and on, and no other test sees the process at rest.
            return server.ask { _ in done() }
        case .timerSource:
            let timer = DispatchSource.makeTimerSource(queue: .global())
            timer.schedule(deadline: .now() + seconds)
            timer.setEventHandler { [timer] in
                timer.cancel()
                done()
            }
            timer.activate()
            return { timer.cancel() }
        }
    }
}

/// How an app implements its own time limit.
enum OwnLimit: String, CaseIterable, Sendable {
    case asyncAfter, sleepingTask

    func begin(_ seconds: Double, _ end: @escaping @Sendable () -> Void) {
        switch self {
        case .asyncAfter: DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: end)
        case .sleepingTask:
            Task {
                try? await Task.sleep(for: .seconds(seconds))
                end()
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A time limit of the app's own` {
    private static func isInTime(_ outside: Outside, takes: Double, _ limit: OwnLimit, of seconds: Double) async throws
        -> Bool
    {
        // Created outside of the field, so its thread does not belong to the test.
        let server = SlowServer(thinkingFor: takes)
        nonisolated(unsafe) var stop: @Sendable () -> Void = {}
        defer { unsafe stop() }
        return try await withField { field in
            try await field.completion("work") { done in
                let once = Locked<(@Sendable (Bool) -> Void)?>(done)
                let end: @Sendable (Bool) -> Void = { isInTime in once.withLock { $0.take() }?(isInTime) }
                limit.begin(seconds) { end(false) }
                do { unsafe stop = try outside.take(takes, server) { end(true) } } catch { end(false) }
            }
        }
    }

    @Test(arguments: Outside.allCases, OwnLimit.allCases)
    func `It lasts as long as in real time while something outside is waited for`(
        outside: Outside,
        limit: OwnLimit
    ) async throws {
        #expect(try await Self.isInTime(outside, takes: 0.4, limit, of: 20))
        #expect(try await !Self.isInTime(outside, takes: 15, limit, of: 0.3))
    }

    @Test func `It passes in time where a timer ticks on and on`() async throws {
        let start = ContinuousClock.now
        try await withField { field in
            // It counts from then on, and not from the beginning.
            await field.wait(for: .seconds(500))
            let timer = DispatchSource.makeTimerSource(queue: .global())
            timer.schedule(deadline: .now(), repeating: .milliseconds(20))
            timer.setEventHandler {}
            timer.activate()
            defer { timer.cancel() }
            try await Task.sleep(for: .milliseconds(300))
            #expect(field.now == .milliseconds(500_300))
        }
        let took = start.duration(to: .now)
        #expect(took > .milliseconds(250) && took < .seconds(240))
    }

    @Test func `A test that waits for a later time lets it pass at once`() async throws {
        let start = ContinuousClock.now
        try await withField { field in
            let hasPassed = Locked(false)
            let timer = DispatchSource.makeTimerSource(queue: .global())
            timer.schedule(deadline: .distantFuture)
            timer.setEventHandler {}
            timer.activate()
            defer { timer.cancel() }
            DispatchQueue.global().asyncAfter(deadline: .now() + 500) { hasPassed.withLock { $0 = true } }
            await field.wait(for: .seconds(501))
            #expect(hasPassed.withLock { $0 })
        }
        // Beside other tests each step may take a grace, which is ten seconds where there are sources.
        #expect(start.duration(to: .now) < .seconds(240))
    }
}

@Suite(.timeLimit(.minutes(5))) struct `Time, while a thread of the test works` {
    /// Waits until a thread has worked, and for some seconds of the field's time at the most.
    private static func isInTime(_ seconds: Double = 10, _ work: @escaping @Sendable () -> Void) async throws -> Bool {
        try await withField { field in
            try await field.completion("work") { done in
                let once = Locked<(@Sendable (Bool) -> Void)?>(done)
                let end: @Sendable (Bool) -> Void = { isInTime in once.withLock { $0.take() }?(isInTime) }
                Thread.detachNewThread {
                    work()
                    end(true)
                }
                DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { end(false) }
            }
        }
    }

    @Test func `It stands while the thread sleeps, and while it computes`() async throws {
        #expect(try await Self.isInTime { Thread.sleep(forTimeInterval: 1.5) })
        #expect(
            try await Self.isInTime {
                let end = ContinuousClock.now + .seconds(1.5)
                while ContinuousClock.now < end {}
            }
        )
    }

    @Test func `It stands while the thread waits for a moment again and again`() async throws {
        let pipe = Pipe()
        let isOver = Locked(false)
        // Created outside of the field, so it does not belong to the test.
        Thread.detachNewThread {
            while !isOver.withLock({ $0 }) {
                pipe.fileHandleForWriting.write(Data([0]))
                usleep(1000)
            }
        }
        defer { isOver.withLock { $0 = true } }
        #expect(
            try await Self.isInTime {
                let end = ContinuousClock.now + .seconds(1.5)
                while ContinuousClock.now < end { _ = try? pipe.fileHandleForReading.read(upToCount: 1) }
            }
        )
    }

    @Test func `It passes at once while the thread waits for something else`() async throws {
        let start = ContinuousClock.now
        let semaphore = DispatchSemaphore(value: 0)
        #expect(try await !Self.isInTime(500) { semaphore.wait() })
        semaphore.signal()
        // In real time it would take longer, and a busy machine takes less.
        #expect(start.duration(to: .now) < .seconds(240))
    }

    @Test func `It passes in the end when a thread sleeps without end`() async throws {
        let isOver = Locked(false)
        try await withField(grace: .milliseconds(100)) { field in
            Thread.detachNewThread { while !isOver.withLock({ $0 }) { usleep(5000) } }
            await field.wait(for: .seconds(10))
        }
        isOver.withLock { $0 = true }
    }
}
