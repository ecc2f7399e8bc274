// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import Synchronization
import Testing

@Suite struct `Clocks` {
    @Test func `Events fire in the order of their deadlines, and those with the same one in the order they came`() {
        let clock = ManualClock()
        let fired = Mutex<[String]>([])
        func note(_ name: String, after seconds: Int) -> ScheduledEvent {
            clock.schedule(after: .seconds(seconds)) { fired.withLock { $0.append(name) } }
        }
        _ = note("c", after: 3)
        _ = note("a", after: 1)
        let cancelled = note("x", after: 2)
        _ = note("b", after: 1)
        cancelled.cancel()
        clock.advance(by: .seconds(2))
        #expect(fired.withLock { $0 } == ["a", "b"])
        clock.advance(by: .seconds(1))
        #expect(fired.withLock { $0 } == ["a", "b", "c"])
        #expect(clock.scheduledEventCount == 0)
    }

    @Test func `An event sees the time at which it was due, and may schedule another`() {
        let clock = ManualClock()
        let seen = Mutex<[Duration]>([])
        _ = clock.schedule(after: .seconds(1)) {
            seen.withLock { $0.append(clock.now) }
            _ = clock.schedule(after: .seconds(1)) { seen.withLock { $0.append(clock.now) } }
        }
        clock.advance(by: .seconds(5))
        #expect(seen.withLock { $0 } == [.seconds(1), .seconds(2)])
        #expect(clock.now == .seconds(5))
    }

    @Test(.timeLimit(.minutes(5)))
    func `The system clock fires, earliest first, whatever the order of scheduling`() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        _ = SystemClock.shared.schedule(after: .milliseconds(40)) { continuation.yield(2) }
        _ = SystemClock.shared.schedule(after: .milliseconds(5)) { continuation.yield(1) }
        let never = SystemClock.shared.schedule(after: .milliseconds(30)) { continuation.yield(0) }
        never.cancel()
        var order: [Int] = []
        for await value in stream {
            order.append(value)
            if order.count == 2 { break }
        }
        #expect(order == [1, 2])
    }
}
