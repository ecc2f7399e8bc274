// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import PCSCDriver

/// Checks how threads wait for a value.
struct MonitorTests {
    @Test("A thread that waits for a time sleeps until then, and checks the value no more than it has to")
    func time() {
        let monitor = Monitor(0)
        let end = Monitor<Int>.now + 60 * Monitor<Int>.millisecond
        let time = monitor.wait { (looks: inout Int) -> Monitor<Int>.Step<UInt64> in
            looks += 1
            let now = Monitor<Int>.now
            return now < end ? .wait(until: end) : .done(now)
        }
        #expect(time >= end)
        // It is woken once, and perhaps now and then without a reason.
        #expect(monitor.withLock { $0 } < 20)
    }
}
