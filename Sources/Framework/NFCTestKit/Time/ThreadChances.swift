// SPDX-License-Identifier: Apache-2.0

/// Whether every thread has had the chance to start the work that it had taken from a queue before this value was
/// created.
///
/// On a machine that is busy with other things, the threads of a process never all sleep at the same moment. But a
/// thread that has taken a block starts it within microseconds of its own processor time. If since then a thread has
/// run for long, was given a processor many times, or slept all the time, it has started all of its work. So the speed
/// of the machine does not matter.
package struct SchedulingStats {
    /// The processor time after which a thread has started its work, in nanoseconds. It is sufficient even under
    /// ThreadSanitizer, where all code is slow.
    private static let processorTime: UInt64 = 10_000_000
    /// How many times a thread is given a processor until it has started its work.
    private static let timesRun: UInt64 = 100
    /// How long a thread sleeps if it does not wait for a lock that another thread is about to release.
    static let sleep = Duration.milliseconds(50)

    private var activity = ProcessActivity()
    /// The activity of each thread at first. Threads that started later have no earlier work.
    private var open: [Int32: ProcessActivity.Course]
    /// Threads that sleep: their activity, and since when.
    private var asleep: [Int32: (course: ProcessActivity.Course, since: ContinuousClock.Instant)] = [:]

    init() { open = activity.courses() }

    /// Checks again.
    ///
    /// - Returns: whether every thread has had its chance.
    mutating func haveComeForAll() -> Bool {
        let now = ContinuousClock.now
        let courses = activity.courses()
        var areAllAsleep = true
        for (thread, first) in open {
            guard let course = courses[thread], !Self.hasStartedWork(course, since: first) else {
                open[thread] = nil
                continue
            }
            if !course.isAsleep || asleep[thread]?.course != course {
                asleep[thread] = course.isAsleep ? (course, now) : nil
            }
            // A sleeping thread stays open: it may wait for a lock of a running thread.
            areAllAsleep = areAllAsleep && asleep[thread].map { $0.since.duration(to: now) >= Self.sleep } == true
        }
        return areAllAsleep
    }

    /// Whether a thread has run for so long, or so many times, that it has started all work that it had taken before.
    ///
    /// - Parameters:
    ///   - course: the thread's activity now.
    ///   - first: its activity before.
    package static func hasStartedWork(_ course: ProcessActivity.Course, since first: ProcessActivity.Course) -> Bool {
        course.processorTime >= first.processorTime + processorTime || course.timesRun >= first.timesRun + timesRun
    }
}
