// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import NFCRuntime
import TagLink

/// Looks at the open fields again and again, by real time, for what counting alone does not show.
///
/// Time goes on at once when the last thing returns that a test's code has put on a queue. This is for the rest: an event that
/// was scheduled by code of no test, the grace before a limit of a session passes, code that waits, and work that is done by
/// threads that nobody counts.
final class RestMonitor: Sendable {
    static let shared = RestMonitor()

    /// What is on a queue for so long without beginning may be unable to begin: then that is found out.
    private static let stuck = Duration.milliseconds(20)
    /// What has not begun for so long, though later work has or every thread sleeps, can't begin.
    private static let longQuiet = Duration.seconds(10)
    /// How much longer it is quiet at the most from one look to the next. The looks are closer together than that, but where the
    /// machine is busy, or the whole process stands still: in a debugger, or on a machine that is put to sleep.
    private static let longestRound = Duration.milliseconds(50)
    /// Code that runs for so long without anything else happening is blocked.
    private static let blocked = Duration.seconds(60)
    /// Code that does so much, for so long, while the field's time stands, goes on for ever.
    private static let endless = (changes: UInt64(100_000), duration: Duration.seconds(5))

    private struct State {
        var places: [FieldPlace] = []
        var isRunning = false
    }

    /// A place, and for how long nothing has happened there.
    private struct Watched {
        let place: FieldPlace
        var activity: UInt64
        /// In real time, as far as the process could run.
        var quiet = Duration.zero
        /// How often each wait had looked in vain when it was quiet first.
        var looks: [UInt64: UInt64]
        /// Shows whether what was put on queues before has been taken by threads.
        var probe: QueueProbe?
        /// Shows whether these threads have begun it.
        var chances: ThreadChances?
        var isKnownToBeStuck = false
        /// How quiet it has to be before the next look at threads, and how much longer before the one after that.
        var nextLook = Duration.zero
        var step = Duration.milliseconds(1)

        /// The field's time, for how long it has stood, in real time, and the activity when it came.
        var standing: (time: Duration?, duration: Duration, activity: UInt64)

        init(_ place: FieldPlace, _ work: FieldPlace.Work) {
            self.place = place
            activity = work.activity
            standing = (place.field?.now, .zero, work.activity)
            looks = Dictionary(uniqueKeysWithValues: work.waits.map { ($0.id, $0.looks) })
        }

        /// Notes that things have happened, or that nothing has.
        mutating func goOn(_ work: FieldPlace.Work, _ round: Duration) {
            let before = standing
            if activity == work.activity { quiet += round } else { self = Watched(place, work) }
            if standing.time == before.time { standing = (before.time, before.duration + round, before.activity) }
        }

        /// Whether every wait without an end has looked since it became quiet, and in vain: whatever it waits for was not
        /// there then. One look may have been under way before.
        private func haveLookedInVain(_ waits: [FieldPlace.Wait]) -> Bool {
            waits.allSatisfy { wait in wait.end != nil || wait.looks >= looks[wait.id, default: 0] + 2 }
        }

        /// For how long nothing has happened after what is under way.
        func stillness(after work: FieldPlace.Work, isOfAll: Bool = true) -> Stillness {
            Stillness(
                quiet: haveLookedInVain(work.waits) ? quiet : .zero,
                standing: standing.duration,
                isOfAll: isOfAll
            )
        }

        /// Whether it is time to look at threads: each look is later than the one before, up to twenty a second, so that what
        /// takes long is not made longer.
        mutating func isTimeToLook() -> Bool {
            guard quiet >= nextLook else { return false }
            nextLook = quiet + step
            step = min(step * 2, .milliseconds(50))
            return true
        }
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "org.opencorenfc.testkit.rest")

    func add(_ place: FieldPlace) {
        let starts = state.withLock { state in
            state.places.append(place)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { begin() }
    }

    func remove(_ place: FieldPlace) {
        state.withLock { state in state.places.removeAll { $0 === place } }
    }

    /// Begins a thread that belongs to no test.
    private func begin() {
        var thread = pthread_t()
        let begin: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { _ in
            RestMonitor.shared.run()
            return nil
        }
        guard unsafe OwnThreads.create(&thread, nil, begin, nil) == 0 else { return queue.async { self.run() } }
        pthread_detach(thread)
    }

    private func run() {
        PoolThreads.noteCaller()
        var threads = ThreadRest()
        var watched: [Watched] = []
        // Explorations open one field after the other: a thread for each would be too many.
        var rounds = 0
        var last = ContinuousClock.now
        while rounds < 1000 {
            // Where things happen there is nothing to look for.
            let quiet = watched.map(\.quiet).max() ?? .milliseconds(1)
            usleep(quiet > .milliseconds(100) ? 10_000 : quiet >= .milliseconds(1) ? 1000 : 4000)
            let now = ContinuousClock.now
            let round = min(last.duration(to: now), Self.longestRound)
            last = now
            SwiftJobs.releaseOld()
            let places = state.withLock { $0.places }
            for place in places { place.releaseJobs(onlyOld: true) }
            rounds = places.isEmpty ? rounds + 1 : 0
            watched = places.map { place in
                let work = place.work
                guard var watched = watched.first(where: { $0.place === place }) else { return Watched(place, work) }
                watched.goOn(work, round)
                return watched
            }
            for index in watched.indices { look(at: &watched[index], &threads) }
        }
        let goesOn = state.withLock { state in
            state.isRunning = !state.places.isEmpty
            return state.isRunning
        }
        if goesOn { run() }
    }

    private func look(at watched: inout Watched, _ threads: inout ThreadRest) {
        let work = watched.place.work
        guard let field = watched.place.field else { return }
        let changes = work.activity &- watched.standing.activity
        if watched.standing.duration >= Self.endless.duration, changes >= Self.endless.changes { field.stopEndless() }
        guard work.activity == watched.activity else { return }
        let quiet = watched.quiet
        let threadsWork = work.comingThreads > 0 || !threads.areWaiting(work.threads)
        if threadsWork, work.isAtRest || work.mayBeStuck, quiet < field.grace.long { return }
        if work.isAtRest {
            // What nobody counts rests when all threads do; a long rest is one whatever other tests do.
            let isOfAll =
                !work.hasUncounted || quiet >= field.grace.duration(after: work)
                || watched.isTimeToLook() && threads.isThere()
            watched.place.letTimePass(watched.stillness(after: work, isOfAll: isOfAll))
        } else if work.mayBeStuck {
            guard quiet >= Self.stuck else { return }
            let isKnown = watched.isKnownToBeStuck
            if isKnown || watched.isTimeToLook() && isStuck(work, &watched, &threads) {
                watched.isKnownToBeStuck = true
                watched.place.letTimePass(watched.stillness(after: work), isStuck: true)
            }
        } else if work.running > 0, quiet >= Self.blocked {
            field.stop(blockedFor: quiet)
        }
    }

    /// Whether what is queued can't begin: it is behind what waits.
    private func isStuck(_ work: FieldPlace.Work, _ watched: inout Watched, _ threads: inout ThreadRest) -> Bool {
        let probe = watched.probe ?? QueueProbe(ofOrders: true, ofMain: !work.waits.contains(where: \.isOnMainQueue))
        watched.probe = probe
        // On a busy machine work begins late, and where all threads of libdispatch wait it begins others once a second. When
        // the blocks that were given last have been run, threads have taken all that was given before; and when each of these
        // sleeps or has gone on, they have begun it, but for what is behind a queue's block that waits. Where no thread is left
        // that could run anything the blocks are not run either. When the test's own code has these threads, long quiet has to
        // do; when it does not wait, it is other tests that have them, and they will give them back.
        guard probe.isDone else {
            return !work.waits.isEmpty && watched.quiet >= Self.longQuiet && threads.isResting()
        }
        if threads.isResting() { return true }
        var chances = watched.chances ?? ThreadChances()
        let haveCome = chances.haveComeForAll()
        watched.chances = chances
        return haveCome || watched.quiet >= Self.longQuiet
    }
}

/// Blocks that were put on the queues that run everything, and only tell that they were run.
final class QueueProbe: Sendable {
    private static let classes: [DispatchQoS.QoSClass] = [
        .background, .utility, .default, .userInitiated, .userInteractive,
    ]
    private static let priorities: [TaskPriority] = [.background, .low, .medium, .high]

    private let remaining = Locked(0)

    /// - Parameters:
    ///   - asksOrders: whether the threads are asked too that run the queues which keep an order.
    ///   - asksMain: whether the main queue is asked too.
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

    /// Whether all have been run.
    var isDone: Bool { remaining.withLock { $0 == 0 } }
}

/// Whether every thread of the process rests, and new work would be begun.
struct ThreadRest {
    private var activity = ProcessActivity()
    private var probe: QueueProbe?

    /// Whether every thread rests.
    mutating func isResting() -> Bool { activity.isAtRest() }

    /// Whether each of these threads waits for something other than time.
    mutating func areWaiting(_ threads: Set<Int32>) -> Bool { threads.isEmpty || activity.areWaiting(threads) }

    /// Whether every thread rests, and new work would be begun.
    mutating func isThere() -> Bool {
        guard activity.isAtRest(), hasFreeWorkers() else { return false }
        return activity.isAtRest()
    }

    /// Whether new tasks and blocks are run now. When all threads that run them are blocked, some may wait for one while
    /// every thread sleeps.
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
