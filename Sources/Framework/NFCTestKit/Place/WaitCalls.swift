// SPDX-License-Identifier: Apache-2.0

/// Calls in which code of a test waits for other code.
///
/// Time goes on meanwhile when nothing else can: what is waited for may itself wait for time. A wait because of which its test
/// fails is given up when the test is over, so that the queue on which it waits is free for the next test.
@safe enum CarriedWait {
    private static let forever = UInt64.max
    /// How often a wait looks whether its test is over, in nanoseconds.
    private static let interval: Int64 = 10_000_000

    static func wait(
        _ call: String,
        for object: DispatchLibrary.Pointer,
        until time: UInt64,
        _ wait: DispatchLibrary.Wait
    ) -> Int {
        guard let (environment, place) = CarriedPlace.current, let scope = CarriedPlace.scope,
            scope.environment === environment, !scope.isOfThread
        else {
            return unsafe wait(object, time)
        }
        // A look without a wait.
        if unsafe wait(object, 0) == 0 { return 0 }
        SwiftJobs.release(after: scope.work)
        place.releaseJobs()
        guard let duration = VirtualDelay.duration(until: time) else {
            let id = place.beginsToWait(call, queue: DispatchLibrary.currentLabel, end: nil)
            defer { place.endsToWait(id) }
            while place.isOpen {
                if unsafe wait(object, VirtualDelay.time(after: interval)) == 0 { return 0 }
                place.stillWaits(id)
            }
            // A test that ends otherwise leaves its code to wait: that goes on with what it waits for, or not at all.
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
