// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TagLink
import TestThreads
import Testing

@testable import PCSCDriver

/// Checks how long the driver waits, what ends its waits, and that nothing stays of them.
@Suite("A wait of the driver", .ownThreads, .timeLimit(.minutes(2)))
struct WaitingTests {
    private static let all = Set(Technology.allCases)
    /// A limit in milliseconds that no test meets.
    private static let long = 600_000

    private static func service() -> ScriptedService {
        SampleCards.service(SampleCards.cardAnswer, table: ["ffca000000": SampleCards.uid.hex + "9000"])
    }

    /// The number of this process's threads.
    private static func threads() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }

    @Test("is for its observers' thread before it looks for a tag, but not once that is interrupted")
    func monitor() async throws {
        let service = Self.service()
        service.change { $0.hanging = [.establish] }
        let reader = PCSCReader(.first, layer: service, limits: .same(Self.long))
        let observation = reader.observePresence {}
        try await waitWhile(service.look(\.waiting) == 0)
        // From now on the service answers to others.
        service.change { $0.hanging = [] }
        let began = ContinuousClock.now
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        #expect(ContinuousClock.now - began >= .milliseconds(1900))
        reader.interrupt()
        let interrupted = ContinuousClock.now
        for _ in 0..<10 {
            await #expect(throws: LinkError(.cancelled, "")) {
                _ = try await reader.discover(Self.all, systemCodes: [])
            }
        }
        // Ten that wait for the thread take twenty seconds.
        #expect(ContinuousClock.now - interrupted < .seconds(15))
        await reader.release()
        withExtendedLifetime(observation) {}
    }

    @Test("for a card that another program has opened ends when that closes it")
    func freed() async throws {
        let service = Self.service()
        service.change { $0.readers[0].isInUse = true }
        let reader = PCSCReader(.first, layer: service, limits: .same(Self.long))
        let task = Task { try await reader.discover(Self.all, systemCodes: []).count }
        // It has looked for the reader, and whether its card is free.
        try await waitWhile(service.look(\.looks) < 2)
        service.change { $0.readers[0].isInUse = false }
        #expect(try await task.value == 1)
    }

    @Test("takes as long as it is told, or until it is cut")
    func pauses() throws {
        let connection = ServiceConnection(
            layer: Self.service(),
            limits: CallLimits(call: Self.long, look: Self.long, absence: Self.long)
        )
        var began = ContinuousClock.now
        try connection.pause(milliseconds: 50)
        #expect(ContinuousClock.now - began >= .milliseconds(50))
        let other = Thread {
            usleep(20_000)
            connection.interrupt()
        }
        other.start()
        #expect(throws: SmartCardError(.cancelled, "")) { try connection.pause(milliseconds: Self.long) }
        began = .now
        try WaitCut().sleep(milliseconds: 30)
        #expect(ContinuousClock.now - began >= .milliseconds(30))
        // A look at the readers of a service that is silent has the time that it is given.
        let silent = Self.service()
        silent.change { $0.hanging = [.establish] }
        began = .now
        #expect(throws: SmartCardError(.timeout, "")) { try PCSCReader.states(silent, within: .milliseconds(400)) }
        #expect(ContinuousClock.now - began >= .milliseconds(400))
    }

    @Test("that is over is not ended once more, and one that was cut does not begin")
    func cuts() throws {
        let (cut, ends) = (WaitCut(), Locked(0))
        let end: @Sendable () -> Void = { ends.withLock { $0 += 1 } }
        #expect(try cut.wait(endedBy: end) { 7 } == 7)
        #expect(!cut.isCut)
        cut.cut()
        #expect(cut.isCut && ends.withLock { $0 } == 0)
        let hasBegun = Locked(false)
        #expect(throws: SmartCardError(.cancelled, "")) {
            try cut.wait(endedBy: end) { hasBegun.withLock { $0 = true } }
        }
        #expect(throws: SmartCardError(.cancelled, "")) { try cut.sleep(milliseconds: Self.long) }
        #expect(hasBegun.withLock { !$0 } && ends.withLock { $0 } == 0)
        let other = WaitCut()
        try other.wait(endedBy: end) { other.cut() }
        #expect(ends.withLock { $0 } == 1)
    }

    @Test("for a call is limited also where the thread that watches has had nothing to watch")
    func idle() async throws {
        let (cuts, continuation) = AsyncStream.makeStream(of: Void.self)
        let limit = CallLimit(milliseconds: 20) { continuation.yield() }
        defer { limit.finish() }
        var next = cuts.makeAsyncIterator()
        try limit.begin()
        // A machine that is busy may have cut it.
        if limit.end() != nil { _ = await next.next(isolation: nil) }
        // The thread has looked by then, and waits to be woken.
        try await Task.sleep(for: .milliseconds(200))
        try limit.begin()
        _ = await next.next(isolation: nil)
        #expect(limit.end() == .timeout)
    }

    @Test("keeps no thread: of a connection to the service, or of work that is done")
    func threadsEnd() async {
        await #expect(processExitsWith: .success) {
            func use() throws {
                let connection = ServiceConnection(layer: Self.service(), limits: .usual)
                _ = try connection.readers()
                DriverThread().run {}
            }
            try use()
            let before = try Self.threads()
            for _ in 0..<100 { try use() }
            // The process may have started some of its own.
            try await waitWhile(Self.threads() > before + 50)
            #expect(try Self.threads() <= before + 50)
        }
    }

    @Test("is none for a task that is cancelled, on the driver's own thread either")
    func cancelled() async throws {
        let service = Self.service()
        let reader = PCSCReader(.first, layer: service)
        let tag = try #require(try await reader.discover(Self.all, systemCodes: []).first)
        guard case .commands(let link, _) = tag.port else { throw LinkError(.unsupported, "no APDUs") }
        let executor = try #require(reader.executor)
        let commands = service.commands
        let (code, isPresent) = await Task(executorPreference: executor) {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            let error = await #expect(throws: LinkError.self) { _ = try await link.transmit([0, 0, 0, 0]) }
            return (error?.code, await link.isPresent())
        }.value
        #expect(code == .cancelled && !isPresent)
        #expect(service.commands == commands)
        #expect(await link.isPresent())
    }
}
