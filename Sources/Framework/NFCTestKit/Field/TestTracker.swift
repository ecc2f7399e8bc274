// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions
import TagLink

/// Tracks the work of a test: the queued and running work of the test's code, and its waits.
///
/// Each block and each task's job that the test's code puts on a queue is tracked until it has returned. When none is
/// left, the test's code can continue only if time passes or the user acts, whatever else the process does.
final class TestTracker: TestContext {
    static var environmentOfCaller: NFCEnvironment? { OpenFields.search() }

    struct Wait: Sendable {
        let id: UInt64
        /// The waiting function's name, as a client writes it.
        let call: String
        let queue: String
        let thread: Int32
        /// The field's time at which the wait ends at the latest; nil for no limit.
        let end: Duration?
        /// How many times the wait has checked its condition without success.
        var checkCount: UInt64 = 0
        var isSignalled = false
        var hasTimedOut = false

        /// Whether the wait will return without anything else. Its thread then counts as running.
        var isOver: Bool { isSignalled || hasTimedOut }

        var isOnMainQueue: Bool { queue == "com.apple.main-thread" }
    }

    struct Work: Sendable {
        var queued = 0
        var running = 0
        /// The kernel's IDs of the threads that run this work.
        var runners: [Int32] = []
        var waits: [Wait] = []
        var activity: UInt64 = 0
        /// Whether a thread that the test did not start has called the test's code or used the test's sessions.
        var hasGuests = false
        /// Whether the code uses timers, files or sockets, which take real time.
        var hasSources = false
        var hasThreads = false
        /// Whether a library has started a thread for all tests.
        var hasLibraryThreads = false
        /// The kernel's thread IDs of the test's threads that have not ended.
        var threads: Set<Int32> = []
        var startingThreads = 0
        var isOpen = true

        /// Whether all running work waits. Queued work may then be unable to start.
        var onlyWaits: Bool { running == waits.count { !$0.isOver } }
        /// Whether the code can continue only if time passes.
        var isAtRest: Bool { queued == 0 && onlyWaits }
        /// The threads that run work and are in no call that is tracked as a wait.
        var activeRunners: Set<Int32> {
            Set(runners).subtracting(waits.lazy.filter { !$0.isOver }.map(\.thread))
        }
        var areThreadsBlocked: Bool {
            guard hasThreads else { return true }
            var activity = ProcessActivity()
            return startingThreads == 0 && activity.areBlocked(threads)
        }
        var isOnThreads: Bool { startingThreads > 0 || !threads.isEmpty }
        var hasUntracked: Bool { hasGuests || hasSources }
    }

    private struct State {
        var work = Work()
        var lastWait: UInt64 = 0
        /// Whether a thread is advancing the time now, and whether that thread has to check once more.
        var isPassingTime = false
        var checksAgain = false
        /// Task jobs that count as queued, and are put on their queues when all other work has returned.
        var postponed: [SwiftJobs.Job] = []
        /// Whether the monitor has already seen these jobs once.
        var hasOldJobs = false
        /// The lines that were already printed and are not printed again; nil to print all lines.
        var printed: PrintedLines?
        /// Names the exploration's run in printed lines; nil outside of explorations.
        var run: String?
        /// Whether the test has failed because of a wait without a time limit.
        var isBlocked = false
        /// Sentences about what the code does that a field can't follow.
        var advice: [String] = []
        weak var field: TestField?
    }

    private let state = Locked(State())
    /// Whether time advances automatically when the code is idle.
    let isDriven: Bool

    init(isDriven: Bool) { self.isDriven = isDriven }

    /// The field; nil if the test advances the time by hand, or after the field was freed.
    var field: TestField? {
        get { state.withLock { $0.field } }
        set { state.withLock { $0.field = newValue } }
    }

    var work: Work { state.withLock { $0.work } }
    var isOpen: Bool { state.withLock { $0.work.isOpen } }

    /// Shares the printed messages among the runs of an exploration, so that each message is printed only once.
    func sharePrintedLines(_ lines: PrintedLines, of run: String) {
        state.withLock { ($0.printed, $0.run) = (lines, run) }
    }

    func willConnect() { field?.willConnect() }

    func line(for notice: String) -> String? {
        let (printed, run) = state.withLock { ($0.printed, $0.run) }
        guard let printed, let run else { return notice }
        return printed.add(notice) ? "\(notice) This was in \(run)." : nil
    }

    func note(_ event: String) { field?.note(event) }

    func end(because reason: String) -> Bool {
        guard let field, field.isOpen else { return false }
        field.fail(FieldError(.appEnds, reason, trace: field.trace), onlyFirst: true)
        return true
    }

    /// Sentences for the author of a failing test, about what the code does that a field can't follow.
    var advice: [String] { state.withLock { $0.advice } }
    func advise(_ sentence: String) {
        state.withLock { state in if !state.advice.contains(sentence) { state.advice.append(sentence) } }
    }

    /// Whether waits without a time limit should return, because such a wait has ended the field.
    var givesUpWaits: Bool { state.withLock { $0.isBlocked && !$0.work.isOpen } }

    /// Records that the test fails because of a wait without a time limit.
    func noteBlocked() { state.withLock { $0.isBlocked = true } }

    func close() {
        let jobs = state.withLock { state in
            defer { (state.work.isOpen, state.postponed) = (false, []) }
            return state.postponed
        }
        for job in jobs { job.enqueue() }
    }

    // MARK: Events

    func enqueued() {
        state.withLock { state in
            state.work.queued += 1
            state.work.activity &+= 1
        }
    }

    /// Records that work starts. Work that a timer or a socket starts was not queued.
    func begins(wasQueued: Bool = true) {
        let thread = PoolThreads.noteCaller()
        state.withLock { state in
            if wasQueued { state.work.queued -= 1 }
            state.work.running += 1
            state.work.runners.append(thread)
            state.work.activity &+= 1
        }
    }

    /// Records that work has returned. If no other work is left, time advances.
    func ends() {
        let thread = PoolThreads.noteCaller()
        let jobs = state.withLock { state -> [SwiftJobs.Job] in
            state.work.running -= 1
            if let index = state.work.runners.lastIndex(of: thread) { state.work.runners.remove(at: index) }
            state.work.activity &+= 1
            guard state.work.onlyWaits, state.work.queued == state.postponed.count else { return [] }
            defer { state.postponed = [] }
            return state.postponed
        }
        for job in jobs { job.enqueue() }
        if jobs.isEmpty { passTimeAtRest() }
    }

    func passTimeAtRest() {
        let isFree = state.withLock { state in
            guard state.work.isAtRest, state.work.isOpen, !state.work.hasUntracked, !state.work.isOnThreads else {
                return false
            }
            if state.isPassingTime { state.checksAgain = true }
            defer { state.isPassingTime = true }
            return !state.isPassingTime
        }
        if isFree { passTime(.none) }
    }

    // MARK: Postponed jobs

    /// Postpones a job until all current work has returned. So a flow that continues after a completion handler finds
    /// its session ended, and its thread is woken only once.
    ///
    /// The order of a job relative to other work doesn't matter. ``QuiescenceMonitor`` releases old jobs.
    ///
    /// - Returns: false when the job has to be put on its queue now.
    func postpone(_ job: SwiftJobs.Job) -> Bool {
        state.withLock { state in
            guard state.work.isOpen, state.work.waits.isEmpty, !state.work.hasUntracked else { return false }
            if state.postponed.isEmpty { state.hasOldJobs = false }
            state.postponed.append(job)
            return true
        }
    }

    /// Puts the postponed jobs on their queues. With `onlyOld`, only if an earlier call has already seen these jobs.
    func releaseJobs(onlyOld: Bool = false) {
        let jobs = state.withLock { state in
            guard !onlyOld || state.hasOldJobs else {
                state.hasOldJobs = true
                return [] as [SwiftJobs.Job]
            }
            defer { state.postponed = [] }
            return state.postponed
        }
        for job in jobs { job.enqueue() }
    }

    func waitBegins(_ call: String, queue: String, end: Duration?) -> UInt64 {
        let thread = PoolThreads.noteCaller()
        return state.withLock { state in
            state.lastWait += 1
            state.work.waits.append(Wait(id: state.lastWait, call: call, queue: queue, thread: thread, end: end))
            state.work.activity &+= 1
            return state.lastWait
        }
    }

    func noteFailedCheck(_ id: UInt64) {
        state.withLock { state in
            let index = state.work.waits.firstIndex { $0.id == id }
            if let index { state.work.waits[index].checkCount += 1 }
        }
    }

    func isSignalled(_ id: UInt64) -> Bool {
        state.withLock { $0.work.waits.contains { $0.id == id && $0.isSignalled } }
    }

    func wait(_ id: UInt64, isSignalled: Bool) {
        state.withLock { state in
            guard let index = state.work.waits.firstIndex(where: { $0.id == id }),
                state.work.waits[index].isSignalled != isSignalled
            else { return }
            state.work.waits[index].isSignalled = isSignalled
            state.work.activity &+= 1
        }
    }

    /// Records that the field's time has reached the end of a wait.
    func waitTimesOut(_ id: UInt64) {
        state.withLock { state in
            let index = state.work.waits.firstIndex { $0.id == id }
            if let index { state.work.waits[index].hasTimedOut = true }
            state.work.activity &+= 1
        }
    }

    func hasTimedOut(_ id: UInt64) -> Bool {
        state.withLock { $0.work.waits.contains { $0.id == id && $0.hasTimedOut } }
    }

    func waitEnds(_ id: UInt64) {
        state.withLock { state in
            state.work.waits.removeAll { $0.id == id }
            state.work.activity &+= 1
        }
    }

    /// A thread that sleeps by the field's time: tracked work that waits, or a thread of the app.
    enum Sleeper: Sendable {
        case wait(UInt64)
        case thread(Int32)
    }

    func sleepBegins(_ call: String, onAppThread isOnAppThread: Bool, end: Duration) -> Sleeper {
        guard isOnAppThread else { return .wait(waitBegins(call, queue: DispatchLibrary.currentLabel, end: end)) }
        let thread = ProcessActivity.callerNumber
        threadEnds(thread)
        return .thread(thread)
    }

    func sleepTimesOut(_ sleeper: Sleeper) {
        switch sleeper {
        case .wait(let id): waitTimesOut(id)
        case .thread(let number): threadContinues(number)
        }
    }

    func sleepEnds(_ sleeper: Sleeper) {
        switch sleeper {
        case .wait(let id): waitEnds(id)
        case .thread(let number): threadContinues(number)
        }
    }

    /// Records that a thread outside the test has put work on a queue.
    func noteGuest() { state.withLock { $0.work.hasGuests = true } }
    func noteThread(ofLibrary: Bool) {
        state.withLock { state in
            state.work.hasThreads = true
            if ofLibrary { state.work.hasLibraryThreads = true }
        }
    }

    func threadWillStart(_ comes: Bool = true) { state.withLock { $0.work.startingThreads += comes ? 1 : -1 } }

    func threadBegins(_ number: Int32) {
        threadContinues(number)
        threadWillStart(false)
    }

    private func threadContinues(_ number: Int32) {
        state.withLock { state in
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
    ///   - idle: how long the test has been idle.
    ///   - isStuck: whether to ignore queued work, because it can't start.
    ///   - activity: the counter of events at which all other running work was found to be blocked; nil if none is.
    func letTimePass(_ idle: IdleState, isStuck: Bool = false, blockedAt activity: UInt64? = nil) {
        let isFree = state.withLock { state in
            guard state.work.isOpen, state.work.queued == 0 || isStuck,
                state.work.onlyWaits || activity == state.work.activity
            else { return false }
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
                    !state.work.hasUntracked, !state.work.isOnThreads
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

final class PrintedLines: Sendable {
    private let lines = Locked<Set<String>>([])

    /// - Returns: false when the line was already printed.
    func add(_ line: String) -> Bool { lines.withLock { $0.insert(line).inserted } }
}

struct IdleState: Sendable {
    static let none = IdleState()

    var quiet = Duration.zero
    var standing = Duration.zero
    /// Whether the untracked work is idle too. If not, time advances only to the end of a delay that is over in real
    /// time.
    var includesUntrackedWork = true
}
