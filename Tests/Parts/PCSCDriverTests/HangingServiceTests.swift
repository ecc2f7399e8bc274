// SPDX-License-Identifier: Apache-2.0
import Dispatch
import PCSCDriver
import TagLink
import Testing

/// Checks that a service that does not answer blocks no caller.
@Suite("A service that hangs")
struct HangingServiceTests {
    private static let all = Set(Technology.allCases)
    /// A time limit in milliseconds, so long that something else ends the call first.
    private static let long = 600_000

    private static func service(_ hanging: Set<ScriptedService.Call> = []) -> ScriptedService {
        let service = SampleCards.service([UInt8](hex: "3B8180018080")) { _ in [UInt8](hex: "04112233445566 9000") }
        service.change { $0.hanging = hanging }
        return service
    }

    /// Waits until a condition holds, without using a thread, because parallel tests wait until all threads are idle.
    private static func wait(_ isSo: () -> Bool) async {
        for _ in 0..<10_000 {
            if isSo() { return }
            try? await Task.sleep(for: .milliseconds(1))
        }
        Issue.record("waited in vain")
    }

    @Test("is given up at the limit of a call, and the error says what to restart")
    func limit() async {
        let reader = PCSCReader(.first, layer: Self.service([.establish]), limits: .same(50))
        let failure = await #expect(throws: LinkError.self) { _ = try await reader.discover(Self.all, systemCodes: []) }
        #expect(failure?.code == .readerUnavailable)
        #expect(failure?.reason.contains("systemctl restart pcscd") == true)
    }

    @Test("is looked at for a minute at most, however long its caller would wait")
    func longestLook() throws {
        // So many milliseconds are no number.
        let states = try PCSCReader.states(Self.service(), within: .seconds(Int64.max))
        #expect(states.map(\.reader) == [SampleCards.name])
    }

    @Test("does not keep a session from its end, on the driver's own thread either")
    func interruption() async throws {
        let service = Self.service([.establish])
        let reader = PCSCReader(.first, layer: service, limits: .same(Self.long))
        let executor = try #require(reader.executor)
        let task = Task(executorPreference: executor) {
            await #expect(throws: LinkError.self) { _ = try await reader.discover(Self.all, systemCodes: []) }
        }
        await Self.wait { service.look(\.waiting) > 0 }
        reader.interrupt()
        #expect(await task.value?.code == .cancelled)
        await reader.release()
        service.change { $0.hanging = [] }
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
    }

    @Test("does not keep a cancelled task")
    func cancellation() async {
        let service = Self.service([.establish])
        let reader = PCSCReader(.first, layer: service, limits: .same(Self.long))
        let task = Task { await #expect(throws: LinkError.self) { try await reader.prepare() } }
        await Self.wait { service.look(\.waiting) > 0 }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
    }

    @Test("does not keep a task that is cancelled before its turn from ending, nor end the call before")
    func cancelledBeforeItsTurn() async throws {
        let gate = DispatchSemaphore(value: 0)
        let service = SampleCards.service([UInt8](hex: "3B8180018080")) { _ in
            gate.wait()
            return [UInt8](hex: "04112233445566 9000")
        }
        let reader = PCSCReader(.first, layer: service, limits: .same(Self.long))
        let first = Task { try await reader.discover(Self.all, systemCodes: []).count }
        await Self.wait { service.commands.count == 1 }
        let thread = DriverThread()
        let second = Task(executorPreference: thread) {
            await #expect(throws: LinkError.self) { try await reader.prepare() }
        }
        // The second one waits for its turn by then.
        for _ in 0..<10 {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                thread.run { continuation.resume() }
            }
        }
        second.cancel()
        #expect(service.look { $0.abandoned.isEmpty })
        for _ in 0..<8 { gate.signal() }
        #expect(try await first.value == 1)
        let looks = service.look(\.looks)
        #expect(await second.value?.code == .cancelled)
        #expect(service.look(\.looks) == looks && service.look { $0.abandoned.isEmpty })
    }

    @Test("is let go of without its answer")
    func goodbye() async throws {
        let service = Self.service()
        let reader = PCSCReader(.first, layer: service, limits: .same(Self.long))
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        service.change { $0.hanging = [.release] }
        await reader.release()
        #expect(service.look { $0.contexts.isEmpty && $0.abandoned.count == 1 })
        // It is not asked again at once.
        let failure = await #expect(throws: LinkError.self) { try await reader.prepare() }
        #expect(failure?.reason.contains("systemctl restart pcscd") == true)
    }

    @Test("is gone when it does not come back in the time of a restart, and the observer is called")
    func absence() async throws {
        let service = Self.service()
        let limits = CallLimits(call: Self.long, look: Self.long, absence: 50)
        let reader = PCSCReader(.first, layer: service, limits: limits)
        let told = Locked(0)
        let observation = reader.observePresence { told.withLock { $0 += 1 } }
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        service.change { $0.isRunning = false }
        // That it is gone, and that it has not come back.
        await Self.wait { told.withLock { $0 } == 2 }
        let failure = await #expect(throws: LinkError.self) { _ = try await reader.discover(Self.all, systemCodes: []) }
        #expect(failure?.code == .readerUnavailable)
        #expect(failure?.reason.contains("systemctl start pcscd") == true)
        // Now only its socket wakes the observer's thread, or a long time.
        await Self.wait { service.look(\.serviceWaits).last == 10_000 }
        service.change { $0.isRunning = true }
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        await Self.wait { told.withLock { $0 } == 3 }
        // The same once more.
        service.change { $0.isRunning = false }
        await Self.wait { told.withLock { $0 } == 5 }
        await #expect(throws: LinkError(.readerUnavailable, "")) {
            _ = try await reader.discover(Self.all, systemCodes: [])
        }
        service.change { $0.isRunning = true }
        await Self.wait { told.withLock { $0 } == 6 }
        withExtendedLifetime(observation) {}
    }

    @Test("is waited for in the time of a restart, however long that is")
    func restart() async throws {
        let service = Self.service()
        let limits = CallLimits(call: Self.long, look: Self.long, absence: Self.long)
        let reader = PCSCReader(.first, layer: service, limits: limits)
        let observation = reader.observePresence {}
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        service.change { $0.isRunning = false }
        await Self.wait { !service.look(\.serviceWaits).isEmpty }
        // The rest of the time, and not the time after which one without a restart is looked for again.
        let wait = try #require(service.look(\.serviceWaits).first)
        #expect(wait > 10_000 && wait <= Self.long)
        withExtendedLifetime(observation) {}
    }

    @Test("in the release of a connection keeps no observer from hearing that it is gone")
    func observerRelease() async {
        let service = Self.service()
        let reader = PCSCReader(.first, layer: service)
        let told = Locked(0)
        let observation = reader.observePresence { told.withLock { $0 += 1 } }
        await Self.wait { service.look(\.looks) >= 2 }
        service.change { state in
            state.hanging = [.release]
            state.isRunning = false
        }
        await Self.wait { told.withLock { $0 } > 0 }
        #expect(service.look { $0.contexts.isEmpty && $0.abandoned.count == 1 })
        withExtendedLifetime(observation) {}
    }

    @Test("keeps no thread of an observer that has gone")
    func observer() async {
        let service = Self.service([.establish])
        let reader = PCSCReader(.first, layer: service)
        for _ in 0..<10 {
            do {
                let observation = reader.observePresence {}
                await Self.wait { service.look(\.waiting) > 0 }
                withExtendedLifetime(observation) {}
            }
            await Self.wait { service.look(\.waiting) == 0 }
        }
    }

    @Test("in the connection to a card is one in which another program has a transaction, if it has opened the card")
    func transaction() async {
        let service = Self.service()
        service.change { $0.readers[0].isInUse = true }
        let reader = PCSCReader(.first, layer: service)
        // A card in use is not queried, because the service would make the call wait without end.
        let known = await #expect(throws: LinkError.self) { _ = try await reader.discover(Self.all, systemCodes: []) }
        #expect(known?.reason.contains("in use by another program") == true)
        #expect(known?.code == .inUse)
        #expect(service.look(\.open).isEmpty)
        // The program comes after the look.
        service.change { state in
            state.readers[0].isInUse = false
            state.hanging = [.connect]
            state.isTakenMeanwhile = true
        }
        let late = PCSCReader(.first, layer: service, limits: .same(2000))
        let error = await #expect(throws: LinkError.self) { _ = try await late.discover(Self.all, systemCodes: []) }
        #expect(error?.reason.contains("in use by another program") == true)
    }
}
