// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions

/// Lets time pass on the air.
enum AirtimeWait {
    /// How long before the moment the thread stops sleeping: the system wakes threads up to this much late.
    private static let slack = Duration.microseconds(80)

    /// Blocks the thread until a moment of a clock. Exchanges take milliseconds, so a thread that waits costs less than one that
    /// is woken by another.
    static func until(_ due: Duration?, _ clock: any RuntimeClock) {
        // Another clock than the system's belongs to a test, which moves it itself.
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
