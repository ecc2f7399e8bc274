// SPDX-License-Identifier: Apache-2.0
import CEpoll
import Dispatch
import Foundation
import Glibc

/// A thread that serves sockets, timers and tasks, for one connection or for the thousands in a process.
///
/// Actors may run on this thread too; see ``LoopActor``. An event then gets from the tag to the socket without waking
/// another thread, which would take longer than all the other steps.
@safe
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // Sendable because state shared between threads is protected by a lock, and the rest is used only on the thread.

    /// The shared loop for all agents in a process.
    package static let agents = EventLoop("nfc-agent")

    /// A socket to watch.
    struct Watch {
        let socket: Int32
        let onReady: (_ isReadable: Bool, _ isWritable: Bool) -> Void
    }

    private let inbox = LoopInbox()
    private var isClosed = false
    private let poll: Int32
    private var thread = pthread_t()

    private var watches: [UInt64: Watch] = [:]
    private var nextWatch: UInt64 = 1
    private var timers = TimerHeap()

    /// Starts the thread.
    ///
    /// - Parameter name: the thread's name, at most 15 characters.
    package init(_ name: String) {
        poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        precondition(poll >= 0 && inbox.wake >= 0, "The process has too many open files.")
        var event = unsafe epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: 0))
        let isWatched = unsafe epoll_ctl(poll, EPOLL_CTL_ADD, inbox.wake, &event) == 0
        precondition(isWatched, "The process watches too many descriptors.")
        let started = DispatchSemaphore(value: 0)
        let thread = Thread { [self] in
            self.thread = pthread_self()
            started.signal()
            run()
        }
        thread.name = name
        thread.start()
        // Foundation does not report if the system could not create the thread. Without it, no work would ever run.
        let isStarted = started.wait(timeout: .now() + Self.patience) == .success
        precondition(isStarted, "The process has too many threads.")
    }

    /// How long the thread may take to start.
    private static let patience = DispatchTimeInterval.seconds(60)

    deinit { Glibc.close(poll) }

    /// Ends the thread after the work already added.
    package func close() { async { [self] in isClosed = true } }

    // MARK: From any thread

    /// Whether the caller runs on the thread.
    package var isCurrent: Bool { pthread_equal(pthread_self(), thread) != 0 }

    /// Runs a function after all work already added.
    package func async(_ body: @escaping @Sendable () -> Void) { inbox.add(.block(body)) }

    /// Runs a function: immediately if called on the thread, otherwise like ``async(_:)``.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        if isCurrent { body() } else { async(body) }
    }

    /// Runs a job of an actor, or of a task.
    package func enqueue(_ job: consuming ExecutorJob) { inbox.add(.job(UnownedJob(job))) }

    package func checkIsolated() { precondition(isCurrent, "Call this only on the event loop's thread.") }

    // MARK: On the thread

    /// Runs a function after a delay. Call this on the thread.
    ///
    /// - Returns: the timer's ID, for ``cancel(_:)``.
    @discardableResult
    package func after(_ delay: Duration, _ body: @escaping () -> Void) -> UInt64 {
        timers.insert(at: SystemTime.now + delay, body)
    }

    package func cancel(_ timer: UInt64) { timers.remove(timer) }

    /// Watches a socket until ``remove(_:isOpen:)``.
    ///
    /// - Returns: the watch's ID; nil on failure.
    func add(_ watch: Watch) -> UInt64? {
        let id = nextWatch
        var event = unsafe epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: id))
        guard unsafe epoll_ctl(poll, EPOLL_CTL_ADD, watch.socket, &event) == 0 else { return nil }
        nextWatch += 1
        watches[id] = watch
        return id
    }

    /// Sets whether to report when the socket is writable.
    func setWriting(_ id: UInt64, _ isOn: Bool) {
        guard let watch = watches[id] else { return }
        let interest = EPOLLIN.rawValue | (isOn ? EPOLLOUT.rawValue : 0)
        var event = unsafe epoll_event(events: interest, data: epoll_data_t(u64: id))
        _ = unsafe epoll_ctl(poll, EPOLL_CTL_MOD, watch.socket, &event)
    }

    /// Ends a watch.
    ///
    /// - Parameter isOpen: whether the socket is still open. The number of a closed socket may have been reused.
    func remove(_ id: UInt64, isOpen: Bool) {
        guard let watch = watches.removeValue(forKey: id), isOpen else { return }
        _ = epoll_ctl(poll, EPOLL_CTL_DEL, watch.socket, nil)
    }

    // MARK: The loop

    /// How many rounds of new work to run before checking sockets.
    private static let maximumRounds = 16
    private static let maximumEvents = 256

    private func run() {
        var events = unsafe [epoll_event](repeating: epoll_event(), count: Self.maximumEvents)
        while !isClosed {
            var isIdle = false
            for _ in 0..<Self.maximumRounds where !isIdle { isIdle = !work() }
            let now = SystemTime.now
            while let body = timers.take(now: now) { body() }
            let count = unsafe epoll_wait(poll, &events, Int32(Self.maximumEvents), timeout())
            inbox.wakeUp()
            for index in 0..<max(Int(count), 0) { unsafe handle(events[index].data.u64, events[index].events) }
        }
        watches = [:]
        timers = TimerHeap()
    }

    /// Runs the work that was added. Returns whether there was any.
    private func work() -> Bool {
        let works = inbox.take()
        for work in works {
            switch work {
            case .block(let body): body()
            case .job(let job):
                // Runs as a job of both executors. That way, a task resumed on this thread continues directly in the
                // actor where it was suspended.
                unsafe job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(),
                    taskExecutor: asUnownedTaskExecutor()
                )
            }
        }
        return !works.isEmpty
    }

    /// Returns how long to wait for sockets, in milliseconds. From now on, new work wakes the thread.
    private func timeout() -> Int32 {
        if !inbox.fallAsleep() || isClosed { return 0 }
        guard let next = timers.next else { return -1 }
        let milliseconds = (next - SystemTime.now) / .milliseconds(1)
        return milliseconds <= 0 ? 0 : Int32(min(milliseconds.rounded(.up), 60_000))
    }

    private func handle(_ id: UInt64, _ ready: UInt32) {
        if id == 0 { return inbox.drain() }
        let isWritable = ready & EPOLLOUT.rawValue != 0
        let isReadable = ready & ~EPOLLOUT.rawValue != 0
        watches[id]?.onReady(isReadable, isWritable)
    }
}
