// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import TagLink
import Testing

@Suite(.timeLimit(.minutes(1))) struct ClockTests {
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
}
