// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagLink
import Testing

@testable import NFCTestKit

@Suite struct `A clock that a test advances` {
    @Test func `It stands at zero, and goes on by durations and by airtime`() {
        let clock = ManualClock()
        #expect(clock.now == .zero && clock.scheduledEventCount == 0)
        clock.advance(by: Duration.milliseconds(1500))
        #expect(clock.now == .milliseconds(1500))
        let airtime = Airtime.milliseconds(5)
        clock.advance(by: airtime)
        #expect(clock.now == .milliseconds(1500) + airtime.duration && airtime.duration > .zero)
        clock.advance(by: Duration.zero)
        #expect(clock.now == .milliseconds(1500) + airtime.duration)
    }

    @Test func `An event is due at its very time, and one that is late already at once`() {
        let clock = ManualClock()
        let fired = Locked<[Duration]>([])
        clock.advance(by: Duration.seconds(10))
        for delay in [Duration.seconds(1), .seconds(-5)] {
            _ = clock.schedule(after: delay) { fired.withLock { $0.append(clock.now) } }
        }
        _ = clock.schedule(limit: .seconds(2)) { fired.withLock { $0.append(clock.now) } }
        #expect(clock.scheduledEventCount == 3)
        clock.advance(by: Duration.milliseconds(999))
        #expect(fired.withLock { $0 } == [.seconds(10)] && clock.scheduledEventCount == 2)
        clock.advance(by: Duration.milliseconds(1))
        #expect(fired.withLock { $0 } == [.seconds(10), .seconds(11)])
        clock.advance(by: Duration.seconds(60))
        #expect(fired.withLock { $0 } == [.seconds(10), .seconds(11), .seconds(12)])
        #expect(clock.now == .seconds(71))
    }

    @Test func `An event that is cancelled is not counted, and does not fire`() {
        let clock = ManualClock()
        let event = clock.schedule(after: .seconds(1)) { Issue.record("It was cancelled.") }
        let other = clock.schedule(limit: .seconds(1)) { Issue.record("It was cancelled.") }
        #expect(clock.scheduledEventCount == 2)
        event.cancel()
        #expect(clock.scheduledEventCount == 1)
        event.cancel()
        other.cancel()
        #expect(clock.scheduledEventCount == 0)
        clock.advance(by: Duration.seconds(2))
    }

    @Test func `A clock that is closed has no events, and takes none any more`() {
        let clock = ManualClock()
        clock.schedule(delayOfApp: .seconds(1)) { Issue.record("The clock is closed.") }
        let event = clock.schedule(limit: .seconds(2)) { Issue.record("The clock is closed.") }
        #expect(clock.nextEvent?.deadline == .seconds(1) && clock.scheduledEventCount == 2)
        clock.close()
        #expect(clock.nextEvent?.deadline == nil && clock.scheduledEventCount == 0)
        _ = clock.schedule(after: .zero) { Issue.record("The clock is closed.") }
        #expect(clock.scheduledEventCount == 0)
        event.cancel()
        clock.advance(by: Duration.seconds(5))
        #expect(clock.now == .seconds(5))
    }

    @Test func `An event may advance the clock itself, and nothing takes it back`() {
        let clock = ManualClock()
        let seen = Locked<[Duration]>([])
        _ = clock.schedule(after: .seconds(1)) { clock.advance(by: Duration.seconds(10)) }
        _ = clock.schedule(after: .seconds(2)) { seen.withLock { $0.append(clock.now) } }
        clock.advance(by: Duration.seconds(3))
        #expect(clock.now == .seconds(11) && seen.withLock { $0 } == [.seconds(2)])
    }
}
