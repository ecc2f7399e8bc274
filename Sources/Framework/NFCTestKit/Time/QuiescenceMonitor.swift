// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import NFCSessions
import TagLink

/// Checks the open fields repeatedly, in real time, for idle tests that ``TestTracker`` alone does not detect.
///
/// Time advances at once when the last queued work of a test's code returns. The monitor handles all other cases:
/// events scheduled by code outside of tests, the grace before a session's time limit may pass, code that waits, and
/// work on threads that are not tracked.
final class QuiescenceMonitor: Sendable {
    static let shared = QuiescenceMonitor()

    /// The delay after which the monitor checks whether queued work is unable to start.
    private static let stuckDelay = Duration.milliseconds(20)
    /// The delay after which work is considered unable to start if later work has started, even on a busy machine.
    private static let overtakenDelay = Duration.seconds(2)
    /// The delay after which work is considered unable to start if every thread sleeps.
    private static let longQuiet = Duration.seconds(10)
    /// The maximum quiet time that one check adds. Checks are usually more frequent than this, except on a busy
    /// machine, in a debugger, or when the machine sleeps.
    private static let longestRound = Duration.milliseconds(50)
    /// The time after which running code without any other event is considered blocked.
    private static let blockedDelay = Duration.seconds(60)
    /// Code with this many events in this time is considered endless if the field's time does not advance.
    private static let endless = (changes: UInt64(100_000), duration: Duration.seconds(5))

    private struct State {
        var trackers: [TestTracker] = []
        var isRunning = false
    }

    private struct WatchedTest {
        let tracker: TestTracker
        var activity: UInt64
        /// How long the test has been idle, in real time during which the process could run.
        var quiet = Duration.zero
        var checkCounts: [UInt64: UInt64]
        /// Detects whether threads have started all work that was queued before.
        var probe: QueueProbe?
        var isKnownToBeStuck = false
        /// The quiet time at which to check the threads next, and the interval until the check after that.
        var nextCheck = Duration.zero
        var step = Duration.milliseconds(1)

        /// The field's time, how long it has not advanced in real time, and the activity count when it last advanced.
        var standing: (time: Duration?, duration: Duration, activity: UInt64)

        init(_ tracker: TestTracker, _ work: TestTracker.Work) {
            self.tracker = tracker
            activity = work.activity
            standing = (tracker.field?.now, .zero, work.activity)
            checkCounts = Dictionary(uniqueKeysWithValues: work.waits.map { ($0.id, $0.checkCount) })
        }

        /// Updates the quiet time, which restarts if anything has happened since the last check.
        mutating func update(_ work: TestTracker.Work, _ round: Duration) {
            let before = standing
            if activity == work.activity { quiet += round } else { self = WatchedTest(tracker, work) }
            if standing.time == before.time { standing = (before.time, before.duration + round, before.activity) }
        }

        /// Whether every wait without a time limit has checked without success since the test became idle. Two checks
        /// are needed, because the first may have started before.
        private func allChecksFailed(_ waits: [TestTracker.Wait]) -> Bool {
            waits.allSatisfy { wait in wait.end != nil || wait.checkCount >= checkCounts[wait.id, default: 0] + 2 }
        }

        /// Returns how long the test has been idle, considering its current waits.
        func idleState(after work: TestTracker.Work, includesUntrackedWork: Bool = true) -> IdleState {
            IdleState(
                quiet: allChecksFailed(work.waits) ? quiet : .zero,
                standing: standing.duration,
                includesUntrackedWork: includesUntrackedWork
            )
        }

        /// Whether to check the threads now. The intervals grow to 50 ms, so that long work is not slowed down.
        mutating func isCheckDue() -> Bool {
            guard quiet >= nextCheck else { return false }
            nextCheck = quiet + step
            step = min(step * 2, .milliseconds(50))
            return true
        }
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "org.opencorenfc.testkit.rest")

    func add(_ tracker: TestTracker) {
        let starts = state.withLock { state in
            state.trackers.append(tracker)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { begin() }
    }

    func remove(_ tracker: TestTracker) { state.withLock { state in state.trackers.removeAll { $0 === tracker } } }

    /// Starts a thread that belongs to no test.
    private func begin() {
        var thread = pthread_t()
        let begin: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { _ in
            QuiescenceMonitor.shared.run()
            return nil
        }
        guard unsafe TrackedThreads.create(&thread, nil, begin, nil) == 0 else { return queue.async { self.run() } }
        pthread_detach(thread)
    }

    private func run() {
        PoolThreads.noteCaller()
        var threads = ThreadIdleState()
        var watched: [WatchedTest] = []
        // The thread continues for a while without fields, because explorations open many fields, one after another.
        var rounds = 0
        var last = ContinuousClock.now
        while rounds < 1000 {
            // The checks are less frequent while events occur, or after a long quiet time.
            let quiet = watched.map(\.quiet).max() ?? .milliseconds(1)
            usleep(quiet > .milliseconds(100) ? 10_000 : quiet >= .milliseconds(1) ? 1000 : 4000)
            let now = ContinuousClock.now
            let round = min(last.duration(to: now), Self.longestRound)
            last = now
            SwiftJobs.releaseOld()
            let trackers = state.withLock { $0.trackers }
            for tracker in trackers { tracker.releaseJobs(onlyOld: true) }
            rounds = trackers.isEmpty ? rounds + 1 : 0
            threads.update(round)
            watched = trackers.map { tracker in
                let work = tracker.work
                guard var test = watched.first(where: { $0.tracker === tracker })
                else { return WatchedTest(tracker, work) }
                test.update(work, round)
                return test
            }
            for index in watched.indices { check(&watched[index], &threads) }
        }
        let continues = state.withLock { state in
            state.isRunning = !state.trackers.isEmpty
            return state.isRunning
        }
        if continues { run() }
    }

    private func check(_ watched: inout WatchedTest, _ threads: inout ThreadIdleState) {
        let work = watched.tracker.work
        guard let field = watched.tracker.field else { return }
        let changes = work.activity &- watched.standing.activity
        if watched.standing.duration >= Self.endless.duration, changes >= Self.endless.changes { field.stopEndless() }
        guard work.activity == watched.activity else { return }
        let quiet = watched.quiet
        let threadsWork = work.startingThreads > 0 || !threads.areWaiting(work.threads)
        let isBlocked = !work.onlyWaits && threads.areBlocked(work.activeRunners)
        if threadsWork, work.onlyWaits || isBlocked, quiet < field.grace.long { return }
        if work.isAtRest || isBlocked && work.queued == 0 {
            // Untracked work is idle when all threads are idle. A long quiet time is also enough, whatever other tests
            // do.
            let includesUntrackedWork =
                !work.hasUntracked || quiet >= field.grace.duration(after: work)
                || watched.isCheckDue() && threads.isIdle()
            watched.tracker.letTimePass(
                watched.idleState(after: work, includesUntrackedWork: includesUntrackedWork),
                blockedAt: isBlocked ? work.activity : nil
            )
        } else if work.onlyWaits || isBlocked {
            guard quiet >= Self.stuckDelay else { return }
            let isKnown = watched.isKnownToBeStuck
            if isKnown || watched.isCheckDue() && isStuck(work, &watched, &threads) {
                watched.isKnownToBeStuck = true
                watched.tracker.letTimePass(
                    watched.idleState(after: work),
                    isStuck: true,
                    blockedAt: isBlocked ? work.activity : nil
                )
            }
        } else if quiet >= Self.blockedDelay {
            field.stop(blockedFor: quiet)
        }
    }

    /// Returns whether queued work can't start, because it is behind work that waits.
    private func isStuck(_ work: TestTracker.Work, _ test: inout WatchedTest, _ threads: inout ThreadIdleState)
        -> Bool
    {
        let isMainQueueFree = !work.waits.contains(where: \.isOnMainQueue)
        let probe = test.probe ?? QueueProbe(serialQueues: true, mainQueue: isMainQueueFree)
        test.probe = probe
        // On a busy machine, work starts late. When all threads of libdispatch wait, it adds only one thread a second.
        // So the monitor puts probe blocks on the queues:
        // - If the probes have run, threads have taken all earlier work. When the threads sleep, or after a while, all
        //   of that work has started, except for work behind a waiting block of its queue.
        // - If no thread is free, the probes do not run. If this test waits, its work may block the threads, so a long
        //   quiet time decides. If this test does not wait, other tests block the threads and will release them.
        guard probe.isDone else {
            return !work.waits.isEmpty && test.quiet >= Self.longQuiet && threads.isResting()
        }
        return test.quiet >= Self.overtakenDelay || threads.isResting()
    }
}

/// Empty blocks on all kinds of queues, which show whether queued work can start.
final class QueueProbe: Sendable {
    private static let classes: [DispatchQoS.QoSClass] = [
        .background, .utility, .default, .userInitiated, .userInteractive,
    ]
    private static let priorities: [TaskPriority] = [.background, .low, .medium, .high]

    private let remaining = Locked(0)

    init(serialQueues includesSerialQueues: Bool = false, mainQueue includesMainQueue: Bool = false) {
        var queues = Self.classes.map { DispatchQueue.global(qos: $0) }
        if includesSerialQueues {
            queues += Self.classes.map { qos in
                DispatchQueue(
                    label: "org.opencorenfc.testkit.probe",
                    qos: DispatchQoS(qosClass: qos, relativePriority: 0)
                )
            }
        }
        if includesMainQueue { queues.append(.main) }
        remaining.withLock { [count = queues.count] in $0 = count + Self.priorities.count }
        for queue in queues { queue.async { [remaining] in remaining.withLock { $0 -= 1 } } }
        for priority in Self.priorities {
            Task.detached(priority: priority) { [remaining] in remaining.withLock { $0 -= 1 } }
        }
    }

    var isDone: Bool { remaining.withLock { $0 == 0 } }
}

/// Finds out whether every thread of the process is idle, and whether new work would start.
struct ThreadIdleState {
    /// A thread that sleeps for this long is not just waiting for a lock that is about to be released.
    private static let minimumSleep = Duration.milliseconds(50)

    private var activity = ProcessActivity()
    private var probe: QueueProbe?
    /// The real time during which the process could run.
    private var now = Duration.zero
    /// The waiting threads: how many times the kernel has run each, since when it waits, and when it was last checked.
    private var waitingThreads: [Int32: (timesRun: UInt64, since: Duration, lastCheck: Duration)] = [:]

    mutating func isResting() -> Bool { activity.isAtRest() }

    /// Adds real time during which the process could run.
    mutating func update(_ round: Duration) {
        now += round
        // Threads that were not checked recently belong to tests that have ended.
        waitingThreads = waitingThreads.filter { now - $0.value.lastCheck < .seconds(1) }
    }

    /// Returns whether every one of these threads waits: not sleeping on a timer, and not just waiting for a lock about
    /// to be released, for which another thread would run.
    mutating func areWaiting(_ threads: Set<Int32>) -> Bool {
        var (allWait, allWaitLong) = (true, true)
        for thread in threads {
            let timesRun = activity.timesRunIfWaiting(thread)
            let before = waitingThreads[thread]
            waitingThreads[thread] = timesRun.map { timesRun in
                (timesRun, since: before?.timesRun == timesRun ? before?.since ?? now : now, lastCheck: now)
            }
            allWait = allWait && timesRun != nil
            allWaitLong = allWaitLong && waitingThreads[thread].map { now - $0.since >= Self.minimumSleep } == true
        }
        return allWaitLong || allWait && activity.isAtRest()
    }

    /// Returns whether every one of these threads waits without a time limit, and is not just waiting for a lock about
    /// to be released.
    mutating func areBlocked(_ threads: Set<Int32>) -> Bool {
        !threads.isEmpty && activity.areBlocked(threads) && areWaiting(threads)
    }

    /// Returns whether every thread is idle, and new work would start.
    mutating func isIdle() -> Bool {
        guard activity.isAtRest(), hasFreeWorkers() else { return false }
        return activity.isAtRest()
    }

    /// Returns whether new tasks and blocks can start now. If all pool threads are blocked, work may be waiting
    /// although every thread sleeps.
    private mutating func hasFreeWorkers() -> Bool {
        if let probe, !probe.isDone { return false }
        let probe = QueueProbe()
        self.probe = probe
        for _ in 0..<100 {
            if probe.isDone { return true }
            usleep(10)
        }
        return false
    }
}
