// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// A thread of the driver's own, which may wait for hardware as long as it likes.
///
/// It is an executor too: a task that runs on it talks to its reader without waking another thread between two
/// exchanges, which would cost as much as a good part of an exchange itself.
///
/// The thread begins with the first piece of work, and ends with the last reference. Sendable because everything that
/// changes is in `Queue`, behind its lock.
@safe package final class DriverThread: SerialExecutor, TaskExecutor, @unchecked Sendable {
    private let queue = Queue()

    /// Creates a thread.
    package init() {}

    deinit {
        queue.finish()
    }

    /// Whether the caller runs on this thread.
    package var isCurrent: Bool {
        queue.isCurrent
    }

    /// Runs work after the work that was given before.
    package func run(_ work: @escaping @Sendable () -> Void) {
        queue.append(work)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.append { [self] in
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(),
                taskExecutor: asUnownedTaskExecutor()
            )
        }
    }

    package func checkIsolated() {
        precondition(isCurrent, "this runs on a thread that is not the driver's")
    }
}

/// The work that a thread has to do. The thread holds it, and not the executor.
private final class Queue: Sendable {
    private struct State: Sendable {
        var work: [@Sendable () -> Void] = []
        var thread: pthread_t?
        var isFinished = false
    }

    private let state = Monitor(State())

    var isCurrent: Bool {
        state.withLock { $0.thread }.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }

    func append(_ item: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.work.append(item)
            if state.thread == nil { state.thread = start() }
        }
        state.signal()
    }

    func finish() {
        state.withLock { $0.isFinished = true }
        state.signal()
    }

    private func start() -> pthread_t {
        var new = pthread_t()
        let status = unsafe pthread_create(
            &new,
            nil,
            { argument in
                if let argument = unsafe argument {
                    unsafe Unmanaged<Queue>.fromOpaque(argument).takeRetainedValue().loop()
                }
                return nil
            },
            Unmanaged.passRetained(self).toOpaque()
        )
        precondition(status == 0, "no thread could be made")
        pthread_detach(new)
        return new
    }

    private func loop() {
        while true {
            let batch = state.wait { state -> Monitor<State>.Step<[@Sendable () -> Void]> in
                guard !state.work.isEmpty || state.isFinished else { return .wait(until: nil) }
                defer { state.work = [] }
                return .done(state.work)
            }
            if batch.isEmpty { return }
            for item in batch { item() }
        }
    }
}

/// A value behind a lock, and a condition on which threads wait for it to change.
@safe final class Monitor<Value>: @unchecked Sendable {
    // Safe: the value is only touched while the mutex is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    /// What a thread that looks at the value does next.
    enum Step<Result> {
        case done(Result)
        /// Looks again when it was signalled, or at a point of ``now`` in nanoseconds.
        case wait(until: UInt64?)
    }

    init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        let status = unsafe pthread_mutex_init(mutex, nil) + pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
        precondition(status == 0, "no mutex could be made")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Works with the value.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Lets a thread that waits look again.
    func signal() {
        unsafe pthread_cond_signal(condition)
    }

    /// Looks at the value until `step` is done.
    func wait<Result>(_ step: (inout Value) -> Step<Result>) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            switch step(&value) {
            case .done(let result): return result
            case .wait(nil): unsafe pthread_cond_wait(condition, mutex)
            case .wait(let end?):
                var until = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
                unsafe pthread_cond_timedwait(condition, mutex, &until)
            }
        }
    }

    /// The time, as ``Step/wait(until:)`` counts it.
    static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
