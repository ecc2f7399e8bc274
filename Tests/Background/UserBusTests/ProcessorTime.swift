// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How long threads have run. A thread that waits does not run.
enum ProcessorTime {
    /// The time that this thread has run.
    static func ofThread() -> Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Duration.seconds(time.tv_sec) + Duration.nanoseconds(time.tv_nsec)
    }
}
