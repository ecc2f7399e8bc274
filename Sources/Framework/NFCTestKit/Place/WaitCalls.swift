// SPDX-License-Identifier: Apache-2.0

/// Calls with which code of a test waits for other code.
///
/// Meanwhile time advances if nothing else can happen, because the other code may wait for time. If a wait makes its
/// test fail, it is given up at the end of the test, so that its queue is free for the next test.
@safe enum CarriedWait {
    private static let forever = UInt64.max
    /// How often a wait checks whether its test has ended, in nanoseconds.
    private static let interval: Int64 = 10_000_000

    static func wait(
        _ call: String,
        for object: DispatchLibrary.Pointer,
        until time: UInt64,
        _ wait: DispatchLibrary.Wait
    ) -> Int {
        guard let (environment, place) = CurrentTest.current, let scope = CurrentTest.scope,
            scope.environment === environment, !scope.isOfThread
        else {
            return unsafe wait(object, time)
        }
        // Checks without waiting.
        let present: UInt64 = 0
        if unsafe wait(object, present) == 0 { return 0 }
        SwiftJobs.release(after: scope.work)
        place.releaseJobs()
        guard let duration = VirtualDelay.duration(until: time) else {
            let id = place.beginsToWait(call, queue: DispatchLibrary.currentLabel, end: nil)
            defer { place.endsToWait(id) }
            while place.isOpen {
                if unsafe wait(object, VirtualDelay.time(after: interval)) == 0 { return 0 }
                place.stillWaits(id)
            }
            // If the test ended otherwise, the wait continues: it ends when the other code signals, or never.
            return place.givesUpWaits ? 1 : unsafe wait(object, forever)
        }
        if duration == .zero { return 1 }
        let end = environment.clock.now + duration
        let id = place.beginsToWait(call, queue: DispatchLibrary.currentLabel, end: end)
        defer { place.endsToWait(id) }
        return unsafe wait(object, time)
    }
}

@_cdecl("dispatch_semaphore_wait")
package func waitForSemaphore(_ semaphore: UnsafeMutableRawPointer, _ time: UInt64) -> Int {
    unsafe CarriedWait.wait("DispatchSemaphore.wait()", for: semaphore, until: time, DispatchLibrary.waitForSemaphore)
}

@_cdecl("dispatch_group_wait")
package func waitForGroup(_ group: UnsafeMutableRawPointer, _ time: UInt64) -> Int {
    unsafe CarriedWait.wait("DispatchGroup.wait()", for: group, until: time, DispatchLibrary.waitForGroup)
}
