// SPDX-License-Identifier: Apache-2.0
import CClockReading
import Glibc
import NFCSessions

/// Lets `Thread.sleep`, `usleep` and `sleep` in code under test use the field's time.
@safe enum TrackedSleep {
    static let microseconds: @convention(c) (UInt32) -> Int32 = DispatchLibrary.next("usleep")
    static let seconds: @convention(c) (UInt32) -> UInt32 = DispatchLibrary.next("sleep")

    /// How often a sleep checks whether its test has ended, in nanoseconds.
    private static let interval: Int64 = 10_000_000

    /// Replaces `Thread.sleep` from now on.
    static func replaceThreadSleep() {
        // A longer sleep does not fit a duration.
        nfc_replace_sleep { $0 < 1e9 && TrackedSleep.sleep(for: .seconds($0), "Thread.sleep") }
    }

    /// Sleeps by the field's time.
    ///
    /// - Returns: false if the caller has to sleep in real time, because it is not a test's code, or sleeps for less than a
    ///   millisecond.
    static func sleep(for duration: Duration, _ call: String) -> Bool {
        // A loop of very short sleeps is a busy wait: it would take many steps until something else happens.
        guard duration >= .milliseconds(1), let (environment, tracker) = CurrentTest.current,
            let scope = CurrentTest.scope, scope.environment === environment, let clock = tracker.field?.drivenClock
        else { return false }
        SwiftJobs.release(after: scope.work)
        tracker.releaseJobs()
        let sleeper = tracker.sleepBegins(call, onAppThread: scope.isOnAppThread, end: clock.now + duration)
        let alarm = Alarm()
        // The thread counts as running from its end of the sleep on, although the kernel wakes it later.
        let event = clock.schedule(delayOfApp: duration) {
            tracker.sleepTimesOut(sleeper)
            alarm.ring()
        }
        tracker.passTimeAtRest()
        while tracker.isOpen, !alarm.wait(for: interval) {}
        event.cancel()
        tracker.sleepEnds(sleeper)
        return true
    }

    /// A semaphore that is not tracked.
    ///
    /// Sendable because Dispatch's functions can be called on any thread.
    @safe private final class Alarm: @unchecked Sendable {
        private static let create: @convention(c) (Int) -> DispatchLibrary.Pointer =
            unsafe DispatchLibrary.next("dispatch_semaphore_create")

        private let semaphore = unsafe create(0)

        func ring() { _ = unsafe DispatchLibrary.signal(semaphore) }

        /// - Returns: whether it has rung within this many nanoseconds.
        func wait(for nanoseconds: Int64) -> Bool {
            unsafe DispatchLibrary.waitForSemaphore(semaphore, VirtualDelay.time(after: nanoseconds)) == 0
        }

        deinit { unsafe DispatchLibrary.release(semaphore) }
    }
}

@_cdecl("usleep")
package func sleep(microseconds: UInt32) -> Int32 {
    TrackedSleep.sleep(for: .microseconds(Int(microseconds)), "usleep") ? 0 : TrackedSleep.microseconds(microseconds)
}

@_cdecl("sleep")
package func sleep(seconds: UInt32) -> UInt32 {
    TrackedSleep.sleep(for: .seconds(Int(seconds)), "sleep") ? 0 : TrackedSleep.seconds(seconds)
}
