// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import TagLink
import Testing

@Suite struct `Clocks` {
    @Test func `Events fire in the order of their deadlines, and those with the same one in the order they came`() {
        let clock = ManualClock()
        let fired = Locked<[String]>([])
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
        let seen = Locked<[Duration]>([])
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

    @Test(.timeLimit(.minutes(1)))
    func `The system clock does not forget an event for a later one`() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        _ = SystemClock.shared.schedule(after: .milliseconds(20)) { continuation.yield() }
        let later = SystemClock.shared.schedule(after: .seconds(3600)) {}
        for await _ in stream { break }
        later.cancel()
        // One whose time has passed already is due at once.
        _ = SystemClock.shared.schedule(after: .seconds(-1)) { continuation.yield() }
        for await _ in stream { break }
    }

    @Test(.timeLimit(.minutes(1)))
    func `The system clock does not wait for an event that is due later than another one`() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let later = SystemClock.shared.schedule(after: .seconds(3600)) {}
        _ = SystemClock.shared.schedule(after: .milliseconds(5)) { continuation.yield() }
        for await _ in stream { break }
        later.cancel()
    }

    @Test func `The system clock's timer waits as long as it has to, and a day at most`() {
        #expect(SystemClock.nanoseconds(until: Duration.seconds(3) + .nanoseconds(5)) == 3_000_000_005)
        #expect(SystemClock.nanoseconds(until: .seconds(-3)) == 0)
        #expect(SystemClock.nanoseconds(until: .seconds(86_400)) == 86_400_000_000_000)
        // A limit that means none.
        for delay in [Duration.seconds(86_401), .seconds(10_000_000_000), .seconds(Int64.max)] {
            #expect(SystemClock.nanoseconds(until: delay) == 86_400_000_000_000)
        }
    }

    @Test func `A queue has its events in the order of their deadlines`() {
        var queue = DeadlineQueue()
        #expect(queue.next?.id == nil && queue.nextDeadline == nil && queue.count == 0)
        let ids = [3, 1, 2, 1, 5].map { queue.insert(at: .seconds($0), kind: $0 == 1 ? .limit : .other) {} }
        #expect(Set(ids).count == 5 && queue.count == 5)
        #expect(queue.next?.id == ids[1] && queue.nextDeadline == .seconds(1))
        guard case .limit? = queue.next?.kind else { return #expect(Bool(false)) }
        #expect(queue.popDue(at: .milliseconds(999))?.id == nil)
        #expect(queue.popDue(at: .seconds(1))?.id == ids[1] && queue.count == 4)
        #expect(queue.remove(id: ids[2]) && !queue.remove(id: ids[2]) && !queue.remove(id: 0))
        #expect([3, 3, 3].map { queue.popDue(at: .seconds($0))?.id } == [ids[3], ids[0], nil])
        #expect(queue.count == 1 && queue.next?.deadline == .seconds(5))
        queue.removeAll()
        #expect(queue.count == 0 && queue.popDue(at: .seconds(9))?.id == nil)
    }
}
