// SPDX-License-Identifier: Apache-2.0
import TagLink
import TestThreads
import Testing

@testable import PCSCDriver  // the driver's thread is internal

/// A service that does not answer blocks no caller: waits are limited, and can be cancelled and interrupted.
@Suite(.timeLimit(.minutes(2))) struct HangingServiceTests {
    private typealias Cards = SampleCards

    /// A card whose command 00 01 02 03 gets no answer until somebody abandons the call.
    private static func hangingCard() -> (service: ScriptedService, started: AsyncStream<Void>) {
        let box = Locked<ScriptedService?>(nil)
        let (started, mark) = AsyncStream.makeStream(of: Void.self)
        let service = Cards.card { command throws(SmartCardError) in
            guard command == [0, 1, 2, 3] else { return [0x90, 0x00] }
            mark.yield()
            try box.withLock { $0.take() }?.hang()
            return [0x90, 0x00]
        }
        box.withLock { $0 = service }
        return (service, started)
    }

    @Test func `hanging call: ends at its time limit with readerUnavailable, and the next call succeeds`() async throws
    {
        let (service, _) = Self.hangingCard()
        let reader = PCSCReader(.first, layer: service, limits: .same(1000))
        let link = try await Cards.commands(reader)
        await #expect(throws: LinkError(.readerUnavailable, "")) { _ = try await link.transmit([0, 1, 2, 3]) }
        service.change { $0.abandoned = [] }
        let again = try await Cards.commands(reader)
        #expect(try await again.transmit([0, 0, 0, 0]) == [0x90, 0x00])
        service.change { $0.hanging = [.establish] }
        let other = PCSCReader(.first, layer: service, limits: .same(50))
        #expect(await Cards.poll(other) == (nil, .readerUnavailable))
        #expect(throws: SmartCardError(.timeout, "")) { try PCSCReader.states(service, within: .milliseconds(50)) }
    }

    @Test func `cancelled task: its hanging call, or its wait for another call, ends with cancelled`() async throws {
        let (service, started) = Self.hangingCard()
        let reader = PCSCReader(.first, layer: service, limits: .same(Cards.longTime))
        let link = try await Cards.commands(reader)
        let task = Task { await #expect(throws: LinkError.self) { _ = try await link.transmit([0, 1, 2, 3]) } }
        for await _ in started { break }
        let second = Task { await #expect(throws: LinkError.self) { try await reader.prepare() } }
        second.cancel()
        #expect(service.look { $0.abandoned.isEmpty })
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(await second.value?.code == .cancelled)
        service.change { $0.abandoned = [] }
        service.change { $0.hanging = [.establish] }
        let connecting = Task {
            await #expect(throws: LinkError.self) { try await PCSCReader(.first, layer: service).prepare() }
        }
        try await waitWhile(service.look(\.waiting) == 0)
        connecting.cancel()
        #expect(await connecting.value?.code == .cancelled)
    }

    @Test func `interrupted reader: calls are cancelled until it is released, then it works again`() async throws {
        let (service, started) = Self.hangingCard()
        let reader = PCSCReader(.first, layer: service, limits: .same(Cards.longTime))
        let link = try await Cards.commands(reader)
        let executor = try #require(reader.executor)
        let task = Task(executorPreference: executor) {
            await #expect(throws: LinkError.self) { _ = try await link.transmit([0, 1, 2, 3]) }
        }
        for await _ in started { break }
        reader.interrupt()
        #expect(await task.value?.code == .cancelled)
        #expect(await Cards.poll(reader) == (nil, .cancelled))
        await reader.release()
        service.change { state in
            state.abandoned = []
            state.hanging = [.establish]
        }
        let connecting = Task(executorPreference: executor) { await Cards.poll(reader) }
        try await waitWhile(service.look(\.waiting) == 0)
        reader.interrupt()
        #expect(await connecting.value == (nil, .cancelled))
        await reader.release()
        service.change { $0.hanging = [] }
        let again = try await Cards.commands(reader)
        #expect(try await again.transmit([0, 0, 0, 0]) == [0x90, 0x00])
        service.change { $0.dispositions = [] }
        reader.interrupt()
        await reader.release()
        #expect(service.look { $0.dispositions == [.unpower] && $0.contexts.isEmpty })
    }

    @Test
    func
        `SCardReleaseContext that hangs: abandoned, the next call is readerUnavailable, and observers are called`()
        async throws
    {
        let service = Cards.card()
        let reader = PCSCReader(.first, layer: service, limits: .same(Cards.longTime))
        #expect(await Cards.poll(reader) == (1, nil))
        service.change { $0.hanging = [.release] }
        await reader.release()
        #expect(service.look { $0.contexts.isEmpty && $0.abandoned.count == 1 })
        await #expect(throws: LinkError(.readerUnavailable, "")) { try await reader.prepare() }
        // An observer hears that the service is gone though its release hangs.
        let other = Cards.card()
        let calls = Locked(0)
        let observation = PCSCReader(.first, layer: other).observePresence { calls.withLock { $0 += 1 } }
        try await waitWhile(other.look(\.looks) < 2)
        other.change { state in
            state.hanging = [.release]
            state.isRunning = false
        }
        try await waitWhile(calls.withLock { $0 } == 0)
        #expect(other.look { $0.contexts.isEmpty && $0.abandoned.count == 1 })
        withExtendedLifetime(observation) {}
    }

    @Test func `SCardConnect hangs in another program's transaction: inUse`() async {
        let service = Cards.card()
        service.change { state in
            state.hanging = [.connect]
            state.isTakenMeanwhile = true
        }
        let reader = PCSCReader(.first, layer: service, limits: .same(1000))
        #expect(await Cards.poll(reader) == (nil, .inUse))
    }

}
