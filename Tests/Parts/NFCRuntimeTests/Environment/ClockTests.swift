// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import TagLink
import Testing

@Suite(.timeLimit(.minutes(1))) struct ClockTests {
    @Test func `manual clock: events fire at their time, in the order of deadlines and then of scheduling`() {
        let clock = ManualClock()
        let fired = Locked<[String]>([])
        @discardableResult @Sendable func note(_ name: String, after seconds: Int) -> ScheduledEvent {
            clock.schedule(after: .seconds(seconds)) { fired.withLock { $0.append("\(name) \(clock.now)") } }
        }
        note("c", after: 3)
        note("a", after: 1)
        note("x", after: 2).cancel()
        note("b", after: 1)
        _ = clock.schedule(after: .seconds(1)) { note("nested", after: 1) }
        clock.advance(by: .seconds(2))
        #expect(fired.withLock { $0 } == ["a 1.0 seconds", "b 1.0 seconds", "nested 2.0 seconds"])
        clock.advance(by: .seconds(5))
        #expect(fired.withLock { $0.last } == "c 3.0 seconds")
        #expect(clock.scheduledEventCount == 0 && clock.now == .seconds(7))
    }

    @Test func `system clock: earliest first, whatever the order of scheduling, and overdue ones at once`() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        var order: [Int] = []
        let clock = SystemClock.shared
        let hour = clock.schedule(after: .seconds(3600)) { continuation.yield(9) }
        _ = clock.schedule(after: .milliseconds(40)) { continuation.yield(2) }
        _ = clock.schedule(after: .milliseconds(5)) { continuation.yield(1) }
        clock.schedule(after: .milliseconds(30)) { continuation.yield(0) }.cancel()
        let later = clock.schedule(after: .seconds(3600)) { continuation.yield(9) }
        for await value in stream {
            order.append(value)
            // One whose time has passed already.
            if value == 2 { _ = clock.schedule(after: .seconds(-1)) { continuation.yield(3) } }
            if value == 3 { break }
        }
        #expect(order == [1, 2, 3])
        for event in [hour, later] { event.cancel() }
    }

    @Test func `system clock's timer: it waits as long as it has to, and a day at most`() {
        let day: UInt64 = 86_400_000_000_000
        #expect(SystemClock.nanoseconds(until: .seconds(3) + .nanoseconds(5)) == 3_000_000_005)
        #expect(SystemClock.nanoseconds(until: .seconds(-3)) == 0)
        for seconds: Int64 in [86_400, 86_401, 10_000_000_000, .max] {
            #expect(SystemClock.nanoseconds(until: .seconds(seconds)) == day, "\(seconds)")
        }
    }

    @Test func `deadline queue: events by their deadlines, until they are due or removed`() {
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
