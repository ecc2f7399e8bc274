// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import NFCSessions
import TagLink

/// Checks the open fields repeatedly, in real time, for what the counts alone do not show.
///
/// Time advances at once when the last work returns that a test's code has put on a queue. The monitor handles the
/// rest: events that code of no test scheduled, the grace before a session's time limit may pass, code that waits, and
/// work on threads that are not counted.
final class QuiescenceMonitor: Sendable {
    static let shared = QuiescenceMonitor()

    /// Work that has not started after this time may be unable to start. The monitor then checks this.
    private static let stuck = Duration.milliseconds(20)
    /// Work that has not started after this time can't start if later work has started, even on a busy machine.
    private static let overtaken = Duration.seconds(2)
    /// Work that has not started after this time can't start if every thread sleeps.
    private static let longQuiet = Duration.seconds(10)
    /// The maximum time by which one check increases the quiet time. Checks are normally closer together. They are not
    /// on a busy machine, or when the whole process stops: in a debugger, or when the machine sleeps.
    private static let longestRound = Duration.milliseconds(50)
    /// Code that runs for this time without any other event is blocked.
    private static let blocked = Duration.seconds(60)
    /// Code with this many events in this time, while the field's time does not advance, never ends.
    private static let endless = (changes: UInt64(100_000), duration: Duration.seconds(5))

    private struct State {
        var places: [TestTracker] = []
        var isRunning = false
    }

    /// A place, and how long nothing has happened there.
    private struct Watched {
        let place: TestTracker
        var activity: UInt64
        /// The real time in which the process could run.
        var quiet = Duration.zero
        /// How many times each wait had checked without success when the quiet time began.
        var looks: [UInt64: UInt64]
        /// Shows whether threads have taken the work that was queued before.
        var probe: QueueProbe?
        var isKnownToBeStuck = false
        /// The quiet time at which to check the threads next, and the step to the check after that.
        var nextLook = Duration.zero
        var step = Duration.milliseconds(1)

        /// The field's time, how long it has not advanced in real time, and the activity count when it last advanced.
        var standing: (time: Duration?, duration: Duration, activity: UInt64)

        init(_ place: TestTracker, _ work: TestTracker.Work) {
            self.place = place
            activity = work.activity
            standing = (place.field?.now, .zero, work.activity)
            looks = Dictionary(uniqueKeysWithValues: work.waits.map { ($0.id, $0.looks) })
        }

        /// Notes whether anything has happened since the last check.
        mutating func update(_ work: TestTracker.Work, _ round: Duration) {
            let before = standing
            if activity == work.activity { quiet += round } else { self = Watched(place, work) }
            if standing.time == before.time { standing = (before.time, before.duration + round, before.activity) }
        }

        /// Whether every wait without a limit has checked without success since the place became quiet. So what it
        /// waits for was not there. A check may have been running when the place became quiet, so one more is needed.
        private func haveLookedInVain(_ waits: [TestTracker.Wait]) -> Bool {
            waits.allSatisfy { wait in wait.end != nil || wait.looks >= looks[wait.id, default: 0] + 2 }
        }

        /// How long nothing has happened, with the current work.
        func idleState(after work: TestTracker.Work, isOfAll: Bool = true) -> IdleState {
            IdleState(
                quiet: haveLookedInVain(work.waits) ? quiet : .zero,
                standing: standing.duration,
                isOfAll: isOfAll
            )
        }

        /// Whether it is time to check the threads. The intervals grow, up to twenty checks each second, so that the
        /// checks do not slow down long work.
        mutating func isTimeToLook() -> Bool {
            guard quiet >= nextLook else { return false }
            nextLook = quiet + step
            step = min(step * 2, .milliseconds(50))
            return true
        }
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "org.opencorenfc.testkit.rest")

    func add(_ place: TestTracker) {
        let starts = state.withLock { state in
            state.places.append(place)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { begin() }
    }

    func remove(_ place: TestTracker) { state.withLock { state in state.places.removeAll { $0 === place } } }

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
        var watched: [Watched] = []
        // Explorations open one field after another, and a thread for each field would be too many.
        var rounds = 0
        var last = ContinuousClock.now
        while rounds < 1000 {
            // While there are events, there is nothing to check.
            let quiet = watched.map(\.quiet).max() ?? .milliseconds(1)
            usleep(quiet > .milliseconds(100) ? 10_000 : quiet >= .milliseconds(1) ? 1000 : 4000)
            let now = ContinuousClock.now
            let round = min(last.duration(to: now), Self.longestRound)
            last = now
            SwiftJobs.releaseOld()
            let places = state.withLock { $0.places }
            for place in places { place.releaseJobs(onlyOld: true) }
            rounds = places.isEmpty ? rounds + 1 : 0
            threads.update(round)
            watched = places.map { place in
                let work = place.work
                guard var watched = watched.first(where: { $0.place === place }) else { return Watched(place, work) }
                watched.update(work, round)
                return watched
            }
            for index in watched.indices { look(at: &watched[index], &threads) }
        }
        let continues = state.withLock { state in
            state.isRunning = !state.places.isEmpty
            return state.isRunning
        }
        if continues { run() }
    }

    private func look(at watched: inout Watched, _ threads: inout ThreadIdleState) {
        let work = watched.place.work
        guard let field = watched.place.field else { return }
        let changes = work.activity &- watched.standing.activity
        if watched.standing.duration >= Self.endless.duration, changes >= Self.endless.changes { field.stopEndless() }
        guard work.activity == watched.activity else { return }
        let quiet = watched.quiet
        let threadsWork = work.startingThreads > 0 || !threads.areWaiting(work.threads)
        if threadsWork, work.onlyWaits, quiet < field.grace.long { return }
        if work.isAtRest {
            // Uncounted work rests when all threads rest. A long quiet time also counts as rest, whatever other tests
            // do.
            let isOfAll =
                !work.hasUncounted || quiet >= field.grace.duration(after: work)
                || watched.isTimeToLook() && threads.isIdle()
            watched.place.letTimePass(watched.idleState(after: work, isOfAll: isOfAll))
        } else if work.onlyWaits {
            guard quiet >= Self.stuck else { return }
            let isKnown = watched.isKnownToBeStuck
            if isKnown || watched.isTimeToLook() && isStuck(work, &watched, &threads) {
                watched.isKnownToBeStuck = true
                watched.place.letTimePass(watched.idleState(after: work), isStuck: true)
            }
        } else if quiet >= Self.blocked {
            field.stop(blockedFor: quiet)
        }
    }

    /// Whether queued work can't start, because it is behind work that waits.
    private func isStuck(_ work: TestTracker.Work, _ watched: inout Watched, _ threads: inout ThreadIdleState) -> Bool {
        let probe = watched.probe ?? QueueProbe(ofOrders: true, ofMain: !work.waits.contains(where: \.isOnMainQueue))
        watched.probe = probe
        // On a busy machine, work starts late. When all threads of libdispatch wait, it starts a new one only once a
        // second. So the monitor puts probe blocks on the queues:
        // - If the probes have run, threads have taken all earlier work. When they sleep, or after a while, they have
        //   started that work, except for work behind a queue's waiting block.
        // - If no thread is left to run anything, the probes do not run either. If code of this test holds the threads,
        //   a long quiet time decides. If this test does not wait, other tests hold the threads, and will release them.
        guard probe.isDone else {
            return !work.waits.isEmpty && watched.quiet >= Self.longQuiet && threads.isResting()
        }
        return watched.quiet >= Self.overtaken || threads.isResting()
    }
}

/// Blocks on the queues that run all work. Each only reports that it has run.
final class QueueProbe: Sendable {
    private static let classes: [DispatchQoS.QoSClass] = [
        .background, .utility, .default, .userInitiated, .userInteractive,
    ]
    private static let priorities: [TaskPriority] = [.background, .low, .medium, .high]

    private let remaining = Locked(0)

    init(ofOrders asksOrders: Bool = false, ofMain asksMain: Bool = false) {
        var queues = Self.classes.map { DispatchQueue.global(qos: $0) }
        if asksOrders {
            queues += Self.classes.map { qos in
                DispatchQueue(
                    label: "org.opencorenfc.testkit.probe",
                    qos: DispatchQoS(qosClass: qos, relativePriority: 0)
                )
            }
        }
        if asksMain { queues.append(.main) }
        remaining.withLock { [count = queues.count] in $0 = count + Self.priorities.count }
        for queue in queues { queue.async { [remaining] in remaining.withLock { $0 -= 1 } } }
        for priority in Self.priorities {
            Task.detached(priority: priority) { [remaining] in remaining.withLock { $0 -= 1 } }
        }
    }

    var isDone: Bool { remaining.withLock { $0 == 0 } }
}

/// Whether every thread of the process rests, and new work would start.
struct ThreadIdleState {
    /// How long a thread sleeps if it does not wait for a lock that another thread is about to release.
    private static let sleep = Duration.milliseconds(50)

    private var activity = ProcessActivity()
    private var probe: QueueProbe?
    /// The time in which the process could run.
    private var now = Duration.zero
    /// Threads that wait: how many times they had been given a processor, since when, and when that was last seen.
    private var waiting: [Int32: (timesRun: UInt64, since: Duration, lastLook: Duration)] = [:]

    mutating func isResting() -> Bool { activity.isAtRest() }

    /// Notes that time has passed in which the process could run.
    mutating func update(_ round: Duration) {
        now += round
        // Only threads of the tests that run now are asked for, so the others have ended.
        waiting = waiting.filter { now - $0.value.lastLook < .seconds(1) }
    }

    /// Whether each of these threads waits for something other than time, and not only for a lock that another thread
    /// is about to release.
    mutating func areWaiting(_ threads: Set<Int32>) -> Bool {
        var areAll = true
        for thread in threads {
            let timesRun = activity.timesRunIfWaiting(thread)
            let before = waiting[thread]
            waiting[thread] = timesRun.map { timesRun in
                (timesRun, since: before?.timesRun == timesRun ? before?.since ?? now : now, lastLook: now)
            }
            areAll = areAll && waiting[thread].map { now - $0.since >= Self.sleep } == true
        }
        return areAll
    }

    /// Whether every thread rests, and new work would start.
    mutating func isIdle() -> Bool {
        guard activity.isAtRest(), hasFreeWorkers() else { return false }
        return activity.isAtRest()
    }

    /// Whether new tasks and blocks run now. When all threads that run them are blocked, some may wait for a thread
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
