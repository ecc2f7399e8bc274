// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions

/// Waits for as long as an exchange takes on the air.
enum AirtimeWait {
    /// How early the thread stops sleeping, because the system may wake threads this much too late.
    private static let slack = Duration.microseconds(80)

    /// Blocks the thread until a time of a clock. Exchanges take milliseconds, so blocking costs less than waking the
    /// thread from another one.
    static func until(_ due: Duration?, _ clock: any RuntimeClock) {
        // Don't wait for any other clock: it belongs to a test, which advances it.
        guard let due, clock === SystemClock.shared else { return }
        while true {
            let rest = due - clock.now
            guard rest > .zero else { return }
            guard rest > slack else {
                sched_yield()
                continue
            }
            let (seconds, attoseconds) = (rest - slack).components
            var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
            unsafe nanosleep(&time, nil)
        }
    }
}
