// SPDX-License-Identifier: Apache-2.0
import NFCTestKit
import Testing

@Suite struct `What the kernel says of threads` {
    @Test func `A file that is opened and can't be read is empty, as that of a thread which ends meanwhile`() {
        var activity = ProcessActivity()
        // A directory is opened, and not read (EISDIR).
        #expect(activity.contents(of: "/proc/self/task").isEmpty)
        #expect(activity.contents(of: "/proc/self/task/nobody/stat").isEmpty)
        #expect(!activity.contents(of: "/proc/self/stat").isEmpty)
    }

    @Test(arguments: [(9_999_999, 99, false), (10_000_000, 0, true), (0, 100, true)] as [(UInt64, UInt64, Bool)])
    func `A thread that has run for 10 ms, or a hundred times, has started what it took before`(
        time: UInt64,
        times: UInt64,
        hasStarted: Bool
    ) {
        let first = ProcessActivity.Course(processorTime: 5, timesRun: 7, isAsleep: false)
        let now = ProcessActivity.Course(processorTime: 5 + time, timesRun: 7 + times, isAsleep: false)
        #expect(ThreadChances.hasStartedWork(now, since: first) == hasStarted)
    }
}
