// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Times of the kernel.
enum SystemTime {
    /// The time since the start, without the time in which the machine was suspended.
    static var now: Duration { read(CLOCK_MONOTONIC) }

    /// How long the machine was suspended since its start.
    static var suspended: Duration { read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
