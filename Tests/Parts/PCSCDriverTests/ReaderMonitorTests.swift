// SPDX-License-Identifier: Apache-2.0
import TagLink
import TestThreads
import Testing

@testable import PCSCDriver

/// Checks when a look at the readers waits for the thread that reports their changes.
@Suite("The monitor of readers", .ownThreads, .timeLimit(.minutes(5)))
struct ReaderMonitorTests {
    /// How long the service may be away, in milliseconds.
    private static let absence = 600_000

    private static func service() -> ScriptedService {
        ScriptedService([ScriptedService.Reader(name: "NFC reader")])
    }

    /// Whether waits end at once. Ten that are not ended take twenty seconds.
    private static func endsWaits(_ monitor: ReaderMonitor) -> Bool {
        let began = ContinuousClock.now
        for _ in 0..<10 { monitor.waitUntilWatching() }
        return began.duration(to: .now) < .seconds(15)
    }

    @Test("is not waited for while there are no observers, though the service does not answer")
    func unobserved() {
        let service = Self.service()
        service.change { $0.hanging = [.establish] }
        let monitor = ReaderMonitor(layer: service, absence: Self.absence)
        #expect(Self.endsWaits(monitor))
        var observation: PresenceObservation? = monitor.observe {}
        #expect(observation != nil)
        observation = nil
        #expect(Self.endsWaits(monitor) && !monitor.isServiceGone)
    }

    @Test("is not waited for once that is interrupted")
    func interrupted() {
        let service = Self.service()
        service.change { $0.hanging = [.establish] }
        let monitor = ReaderMonitor(layer: service, absence: Self.absence)
        let observation = monitor.observe {}
        monitor.setInterrupted(true)
        #expect(Self.endsWaits(monitor))
        withExtendedLifetime(observation) {}
    }

    @Test("is waited for until it has looked at the readers, with each first observer")
    func firstLook() {
        let service = Self.service()
        let monitor = ReaderMonitor(layer: service, absence: Self.absence)
        for _ in 0..<5 {
            service.change { $0.looks = 0 }
            do {
                let began = ContinuousClock.now
                let observation = monitor.observe {}
                monitor.waitUntilWatching()
                // A machine that is very busy takes longer than the wait.
                #expect(service.look(\.looks) > 0 || began.duration(to: .now) >= .seconds(2))
                waitWhile(service.look(\.looks) < 2)
                #expect(Self.endsWaits(monitor) && !monitor.isServiceGone)
                withExtendedLifetime(observation) {}
            }
            waitWhile(!service.look(\.contexts).isEmpty)
        }
    }

    @Test("looks at the readers once for each change, and not in between")
    func changes() {
        let service = Self.service()
        let monitor = ReaderMonitor(layer: service, absence: Self.absence)
        let told = Locked(0)
        let observation = monitor.observe { told.withLock { $0 += 1 } }
        // The first look ends at once, and the second one waits for a change.
        waitWhile(service.look(\.looks) < 2)
        for count in 1...3 {
            service.change { $0.readers[0].events += 2 }
            waitWhile(told.withLock { $0 } < count)
            waitWhile(service.look(\.looks) < 2 + count)
        }
        #expect(service.look(\.looks) == 5 && told.withLock { $0 } == 3)
        withExtendedLifetime(observation) {}
    }

    @Test("is not waited for while the service is away, which may be back in the time of a restart")
    func away() throws {
        let service = Self.service()
        service.change { $0.isRunning = false }
        let monitor = ReaderMonitor(layer: service, absence: Self.absence)
        let told = Locked(0)
        let observation = monitor.observe { told.withLock { $0 += 1 } }
        waitWhile(service.look(\.serviceWaits).isEmpty)
        #expect(Self.endsWaits(monitor) && !monitor.isServiceGone && told.withLock { $0 } == 1)
        let wait = try #require(service.look(\.serviceWaits).first)
        #expect(wait > 10_000 && wait <= Self.absence)
        service.change { $0.isRunning = true }
        waitWhile(told.withLock { $0 } < 2)
        #expect(!monitor.isServiceGone && told.withLock { $0 } == 2)
        withExtendedLifetime(observation) {}
    }
}
