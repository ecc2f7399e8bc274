// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions
import TagLink

/// The work of a test: its field, and everything that its code has put on queues, is running, or waits for.
///
/// Each block and each task's job that the test's code puts on a queue is counted until it has returned. When none is
/// left, only time or the user can make the test's code continue, regardless of what else the process does.
final class TestTracker: TestContext {
    static var environmentOfCaller: NFCEnvironment? { OpenFields.search() }

    struct Wait: Sendable {
        let id: UInt64
        /// The function, as a client writes it.
        let call: String
        let queue: String
        /// The field's time at which the wait ends at the latest; nil for no limit.
        let end: Duration?
        /// How many times it has checked without success.
        var looks: UInt64 = 0

        var isOnMainQueue: Bool { queue == "com.apple.main-thread" }
    }

    struct Work: Sendable {
        /// The work that is on a queue and has not started.
        var queued = 0
        /// The work that has started and not returned.
        var running = 0
        /// The calls in which some of the running work waits.
        var waits: [Wait] = []
        /// Changes with every event.
        var activity: UInt64 = 0
        /// Whether a thread that the test did not start has called the test's code, or has used its sessions.
        var hasGuests = false
        /// Whether the code uses timers, files or sockets: these take real time.
        var hasSources = false
        var hasThreads = false
        /// The kernel's numbers of those threads that have not ended.
        var threads: Set<Int32> = []
        var startingThreads = 0
        var isOpen = true

        /// Whether all running work waits. Work that is queued may then be unable to start.
        var onlyWaits: Bool { running == waits.count }
        /// Whether only the passing of time can continue the code.
        var isAtRest: Bool { queued == 0 && onlyWaits }
        var isOnThreads: Bool { startingThreads > 0 || !threads.isEmpty }
        /// Whether there is work that is not counted.
        var hasUncounted: Bool { hasGuests || hasSources }
    }

    private struct State {
        var work = Work()
        var lastWait: UInt64 = 0
        /// Whether a thread lets time pass now, and whether it has to check once more.
        var isPassingTime = false
        var checksAgain = false
        /// Jobs of tasks that count as queued, and are put on their queues when all other work has returned.
        var postponed: [SwiftJobs.Job] = []
        /// Whether the monitor has seen these jobs before.
        var isOld = false
        /// The lines that were printed before, which are not printed again; nil if all lines are printed.
        var printed: PrintedLines?
        /// Whether the test has failed because of a wait.
        var isBlocked = false
        weak var field: TestField?
    }

    private let state = Locked(State())
    /// Whether time advances by itself when the code rests.
    let isDriven: Bool

    init(isDriven: Bool) { self.isDriven = isDriven }

    /// The field; nil for an environment whose time the test advances by hand, and after the field was freed.
    var field: TestField? {
        get { state.withLock { $0.field } }
        set { state.withLock { $0.field = newValue } }
    }

    var work: Work { state.withLock { $0.work } }
    var isOpen: Bool { state.withLock { $0.work.isOpen } }

    /// Shares the lines about the app that the runs of an exploration have printed, so that each is printed once.
    func sharePrintedLines(_ lines: PrintedLines) { state.withLock { $0.printed = lines } }

    func willConnect() { field?.willConnect() }

    func prints(_ notice: String) -> Bool { state.withLock { $0.printed }?.add(notice) ?? true }

    /// Whether the field has ended because of a wait without a limit. Such a wait is then given up.
    var givesUpWaits: Bool { state.withLock { $0.isBlocked && !$0.work.isOpen } }

    /// Notes that the test fails because of a wait without a limit.
    func noteBlocked() { state.withLock { $0.isBlocked = true } }

    func close() {
        let jobs = state.withLock { state in
            defer { (state.work.isOpen, state.postponed) = (false, []) }
            return state.postponed
        }
        for job in jobs { job.enqueue() }
    }

    // MARK: What happens

    func enqueued() {
        state.withLock { state in
            state.work.queued += 1
            state.work.activity &+= 1
        }
    }

    /// Notes that work starts. It was on a queue, unless a timer or a socket starts it.
    func begins(wasQueued: Bool = true) {
        state.withLock { state in
            if wasQueued { state.work.queued -= 1 }
            state.work.running += 1
            state.work.activity &+= 1
        }
    }

    /// Notes that work has returned. If it was the last, time advances.
    func ends() {
        let (isLast, jobs) = state.withLock { state -> (Bool, [SwiftJobs.Job]) in
            state.work.running -= 1
            state.work.activity &+= 1
            if !state.postponed.isEmpty, state.work.running == state.work.waits.count,
                state.work.queued == state.postponed.count
            {
                defer { state.postponed = [] }
                return (false, state.postponed)
            }
            guard state.work.isAtRest,
                state.work.isOpen,
                !state.work.hasUncounted, !state.work.isOnThreads
            else { return (false, []) }
            if state.isPassingTime { state.checksAgain = true }
            defer { state.isPassingTime = true }
            return (!state.isPassingTime, [])
        }
        for job in jobs { job.enqueue() }
        if isLast { passTime(.none) }
    }

    // MARK: Jobs that are postponed

    /// Postpones a job until all current work has returned. Then a flow that a completion handler resumes finds its
    /// session ended, and its thread is woken only once.
    ///
    /// A job has no order relative to other work. If a job is postponed for long, ``QuiescenceMonitor`` releases it.
    ///
    /// - Returns: false when the job has to be put on its queue now.
    func postpone(_ job: SwiftJobs.Job) -> Bool {
        state.withLock { state in
            guard state.work.isOpen, state.work.waits.isEmpty, !state.work.hasUncounted else { return false }
            if state.postponed.isEmpty { state.isOld = false }
            state.postponed.append(job)
            return true
        }
    }

    /// Puts the postponed jobs on their queues. With `onlyOld`, only if a previous call has seen them.
    func releaseJobs(onlyOld: Bool = false) {
        let jobs = state.withLock { state in
            guard !onlyOld || state.isOld else {
                state.isOld = true
                return [] as [SwiftJobs.Job]
            }
            defer { state.postponed = [] }
            return state.postponed
        }
        for job in jobs { job.enqueue() }
    }

    func beginsToWait(_ call: String, queue: String, end: Duration?) -> UInt64 {
        state.withLock { state in
            state.lastWait += 1
            state.work.waits.append(Wait(id: state.lastWait, call: call, queue: queue, end: end))
            state.work.activity &+= 1
            return state.lastWait
        }
    }

    /// Notes that a wait has checked without success, and continues.
    func stillWaits(_ id: UInt64) {
        state.withLock { state in
            if let index = state.work.waits.firstIndex(where: { $0.id == id }) { state.work.waits[index].looks += 1 }
        }
    }

    func endsToWait(_ id: UInt64) {
        state.withLock { state in
            state.work.waits.removeAll { $0.id == id }
            state.work.activity &+= 1
        }
    }

    /// Notes that a thread without code of the test has put work on a queue.
    func noteGuest() { state.withLock { $0.work.hasGuests = true } }
    func noteThread() { state.withLock { $0.work.hasThreads = true } }

    func threadWillStart(_ comes: Bool = true) { state.withLock { $0.work.startingThreads += comes ? 1 : -1 } }

    func threadBegins(_ number: Int32) {
        state.withLock { state in
            state.work.startingThreads -= 1
            state.work.threads.insert(number)
            state.work.activity &+= 1
        }
    }

    func threadEnds(_ number: Int32) {
        state.withLock { state in
            state.work.threads.remove(number)
            state.work.activity &+= 1
        }
    }

    func noteSource() { state.withLock { $0.work.hasSources = true } }

    // MARK: Time

    /// Lets time pass for as long as nothing else can happen.
    ///
    /// - Parameters:
    ///   - idle: how long nothing has happened.
    ///   - isStuck: whether to ignore queued work, because it can't start.
    func letTimePass(_ idle: IdleState, isStuck: Bool = false) {
        let isFree = state.withLock { state in
            guard state.work.isOpen, state.work.isAtRest || isStuck && state.work.onlyWaits else { return false }
            defer { state.isPassingTime = true }
            return !state.isPassingTime
        }
        if isFree { passTime(idle) }
    }

    private func passTime(_ idle: IdleState) {
        var idle = idle
        while true {
            let (field, work) = state.withLock { ($0.field, $0.work) }
            let hasMoved = field.map { field in
                CurrentTest.within(field.environment) { field.advance(after: work, idle) }
            }
            let continues = state.withLock { state in
                if hasMoved == true { state.work.activity &+= 1 }
                defer { state.checksAgain = false }
                if hasMoved == true || state.checksAgain, state.work.isAtRest, state.work.isOpen,
                    !state.work.hasUncounted, !state.work.isOnThreads
                {
                    return true
                }
                state.isPassingTime = false
                return false
            }
            if !continues { return }
            idle = .none
        }
    }
}

/// Lines that are printed only once.
final class PrintedLines: Sendable {
    private let lines = Locked<Set<String>>([])

    /// - Returns: false when the line was printed before.
    func add(_ line: String) -> Bool { lines.withLock { $0.insert(line).inserted } }
}

/// How long nothing has happened in a field, in real time.
struct IdleState: Sendable {
    static let none = IdleState()

    var quiet = Duration.zero
    var standing = Duration.zero
    /// Whether the uncounted work rests too. If not, only a delay may end, and only when its real time is over too.
    var isOfAll = true
}
