// SPDX-License-Identifier: Apache-2.0

/// Whether every thread has had the chance to begin what it had taken from a queue when this was made.
///
/// On a machine that is busy with other things the threads of a process never sleep all at once. But a thread that has taken
/// a block begins it within microseconds of its own time: one that has run for long since then, was given a processor many
/// times, or slept all the while, holds nothing that it has not begun. So it does not matter how slow the machine is.
struct ThreadChances {
    /// How long a thread has run that has begun what it had, in nanoseconds; also where ThreadSanitizer makes all of it slow.
    private static let processorTime: UInt64 = 10_000_000
    /// How often a thread was given a processor that has begun what it had.
    private static let timesRun: UInt64 = 100
    /// How long a thread has slept that waits for no lock which another is about to give back.
    private static let sleep = Duration.milliseconds(50)

    private var activity = ProcessActivity()
    /// What the threads had done when they were seen first. Those that came later have nothing from before.
    private var open: [Int32: ProcessActivity.Course]
    /// Threads that sleep: what they had done, and since when.
    private var asleep: [Int32: (course: ProcessActivity.Course, since: ContinuousClock.Instant)] = [:]

    init() { open = activity.courses() }

    /// Looks again.
    ///
    /// - Returns: whether every thread has had its chance.
    mutating func haveComeForAll() -> Bool {
        let now = ContinuousClock.now
        let courses = activity.courses()
        var areAllAsleep = true
        for (thread, first) in open {
            guard let course = courses[thread], course.processorTime < first.processorTime + Self.processorTime,
                course.timesRun < first.timesRun + Self.timesRun
            else {
                open[thread] = nil
                continue
            }
            if !course.isAsleep || asleep[thread]?.course != course {
                asleep[thread] = course.isAsleep ? (course, now) : nil
            }
            // One that sleeps stays open: what runs may have a lock that it waits for.
            areAllAsleep = areAllAsleep && asleep[thread].map { $0.since.duration(to: now) >= Self.sleep } == true
        }
        return areAllAsleep
    }
}
