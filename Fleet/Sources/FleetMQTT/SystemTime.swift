// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Kernel clocks.
enum SystemTime {
    /// The time since boot, excluding time spent suspended.
    static var now: Duration { read(CLOCK_MONOTONIC) }

    /// The total time the machine has been suspended since boot.
    static var suspended: Duration { read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
