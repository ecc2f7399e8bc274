// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagLink

/// What belongs to a test: its field, and all that its code has put on queues, is running, or waits for.
///
/// Each block and each job of a task that is put on a queue by the test's code is counted until it has returned. When none is
/// left, nothing but time or a person can make the test's code go on, whatever else the process does.
final class FieldPlace: TestPlace {
    /// A call in which code of the test waits for other code.
    struct Wait: Sendable {
        let id: UInt64
        /// The function, as a client writes it.
        let call: String
        /// What the queue is called whose thread waits.
        let queue: String
        /// The field's time until which it waits at the most; nil for ever.
        let end: Duration?
        /// How often it has looked in vain for what it waits for.
        var looks: UInt64 = 0

        var isOnMainQueue: Bool { queue == "com.apple.main-thread" }
    }

    /// What the counts say.
    struct Work: Sendable {
        /// What is on a queue and has not begun.
        var queued = 0
        /// What has begun and not returned.
        var running = 0
        /// The calls in which some of that waits.
        var waits: [Wait] = []
        /// Changes with all that happens.
        var activity: UInt64 = 0
        /// Whether a thread that the test did not begin has called the test's code, or has used its sessions.
        var hasGuests = false
        /// Whether the code made timers or waits for files and sockets: these take real time.
        var hasSources = false
        /// Whether the code has begun threads of its own.
        var hasThreads = false
        /// Those that have not ended, by the kernel's numbers.
        var threads: Set<Int32> = []
        /// How many are about to begin.
        var comingThreads = 0
        var isOpen = true

        /// Whether nothing can go on but by time.
        var isAtRest: Bool { queued == 0 && running == waits.count }
        /// Whether something is on a queue that may be unable to begin: all that has begun waits.
        var mayBeStuck: Bool { queued > 0 && running == waits.count }
        /// Whether there are threads of the code's own.
        var isOnThreads: Bool { comingThreads > 0 || !threads.isEmpty }
        /// Whether something goes on that no count shows.
        var hasUncounted: Bool { hasGuests || hasSources }
    }

    private struct State {
        var work = Work()
        var lastWait: UInt64 = 0
        /// Whether a thread lets time pass now, and whether it has to look once more.
        var isPassingTime = false
        var looksAgain = false
        /// Jobs of tasks that are counted as queued, and put on their queues when all else has returned.
        var postponed: [SwiftJobs.Job] = []
        /// Whether the monitor has seen them before.
        var isOld = false
        /// The lines that were printed before, which are not printed again; nil where all are printed.
        var printed: PrintedLines?
        /// Whether the test has failed because of a wait.
        var isBlocked = false
        weak var field: TestField?
    }

    private let state = Locked(State())
    /// Whether time moves by itself at rest.
    let isDriven: Bool

    init(isDriven: Bool) { self.isDriven = isDriven }

    /// The field; nil for an environment whose time the test moves by hand, and when the field is gone.
    var field: TestField? {
        get { state.withLock { $0.field } }
        set { state.withLock { $0.field = newValue } }
    }

    var work: Work { state.withLock { $0.work } }
    var isOpen: Bool { state.withLock { $0.work.isOpen } }

    /// The lines about the app that the runs of an exploration have printed: each is printed once.
    func sharePrintedLines(_ lines: PrintedLines) { state.withLock { $0.printed = lines } }

    func willConnect() { field?.willConnect() }

    func prints(_ notice: String) -> Bool { state.withLock { $0.printed }?.add(notice) ?? true }

    /// Whether the field has ended because of a wait without an end, which is given up then.
    var givesUpWaits: Bool { state.withLock { $0.isBlocked && !$0.work.isOpen } }

    /// The test fails because of a wait without an end.
    func noteBlocked() { state.withLock { $0.isBlocked = true } }

    func close() {
        state.withLock { $0.work.isOpen = false }
        releaseJobs()
    }

    // MARK: What happens

    func enqueued() {
        state.withLock { state in
            state.work.queued += 1
            state.work.activity &+= 1
        }
    }

    /// Something begins, which was on a queue unless a timer or a socket makes it begin.
    func begins(wasQueued: Bool = true) {
        state.withLock { state in
            if wasQueued { state.work.queued -= 1 }
            state.work.running += 1
            state.work.activity &+= 1
        }
    }

    /// Something has returned. When it was the last, time goes on.
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
            guard state.work.isAtRest, state.work.isOpen, !state.work.hasUncounted, !state.work.isOnThreads else {
                return (false, [])
            }
            if state.isPassingTime { state.looksAgain = true }
            defer { state.isPassingTime = true }
            return (!state.isPassingTime, [])
        }
        for job in jobs { job.enqueue() }
        if isLast { passTime(.none) }
    }

    // MARK: Jobs that are postponed

    /// Puts a job off until all has returned that is under way: a flow that a completion handler resumes then finds its session
    /// ended, and its thread is woken once, and not a second time for that.
    ///
    /// A job keeps no order with other work. One that would be put off for long is let go by ``RestMonitor``.
    ///
    /// - Returns: false when it has to be put on its queue now.
    func postpone(_ job: SwiftJobs.Job) -> Bool {
        state.withLock { state in
            guard state.work.isOpen, state.work.waits.isEmpty, !state.work.hasUncounted else { return false }
            if state.postponed.isEmpty { state.isOld = false }
            state.postponed.append(job)
            return true
        }
    }

    /// Puts the jobs on their queues that were put off; those that were there when this was called last, when asked for old ones.
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

    /// A wait has looked in vain, and goes on.
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

    /// Work was put on a queue by a thread that runs nothing of the test.
    func noteGuest() { state.withLock { $0.work.hasGuests = true } }
    /// The test's code begins a thread.
    func noteThread() { state.withLock { $0.work.hasThreads = true } }

    /// A thread is about to begin, or was to begin and can't.
    func threadComes(_ comes: Bool = true) {
        state.withLock { $0.work.comingThreads += comes ? 1 : -1 }
    }

    /// A thread of the test's code has begun.
    func threadBegins(_ number: Int32) {
        state.withLock { state in
            state.work.comingThreads -= 1
            state.work.threads.insert(number)
            state.work.activity &+= 1
        }
    }

    /// A thread of the test's code ends.
    func threadEnds(_ number: Int32) {
        state.withLock { state in
            state.work.threads.remove(number)
            state.work.activity &+= 1
        }
    }

    /// The test's code uses a timer, a file or a socket.
    func noteSource() { state.withLock { $0.work.hasSources = true } }

    // MARK: Time

    /// Lets time pass as far as it may while nothing else can go on.
    ///
    /// - Parameters:
    ///   - stillness: for how long nothing has happened.
    ///   - isStuck: whether what is queued counts as nothing, because it can't begin.
    func letTimePass(_ stillness: Stillness, isStuck: Bool = false) {
        let isFree = state.withLock { state in
            guard state.work.isOpen, state.work.isAtRest || isStuck && state.work.mayBeStuck else { return false }
            defer { state.isPassingTime = true }
            return !state.isPassingTime
        }
        if isFree { passTime(stillness) }
    }

    private func passTime(_ stillness: Stillness) {
        var stillness = stillness
        while true {
            let (field, work) = state.withLock { ($0.field, $0.work) }
            let hasMoved = field.map { field in
                CarriedPlace.within(field.environment) { field.goOn(after: work, stillness) }
            }
            let goesOn = state.withLock { state in
                if hasMoved == true { state.work.activity &+= 1 }
                defer { state.looksAgain = false }
                if hasMoved == true || state.looksAgain, state.work.isAtRest, state.work.isOpen,
                    !state.work.hasUncounted, !state.work.isOnThreads
                {
                    return true
                }
                state.isPassingTime = false
                return false
            }
            if !goesOn { return }
            stillness = .none
        }
    }
}

/// Lines that are printed once, however often they are said.
final class PrintedLines: Sendable {
    private let lines = Locked<Set<String>>([])

    /// - Returns: false when the line is there.
    func add(_ line: String) -> Bool { lines.withLock { $0.insert(line).inserted } }
}
