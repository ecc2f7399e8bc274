// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The driver's own thread, which may wait for hardware as long as necessary.
///
/// It is also an executor. A task that runs on it uses the reader without waking another thread between two exchanges,
/// which would take a considerable part of an exchange's time.
///
/// The thread starts with the first work, and ends when the last reference is released. Sendable because all of its
/// changing state is in `Queue`, behind a lock.
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

    /// Runs work after all earlier work.
    package func run(_ work: @escaping @Sendable () -> Void) {
        queue.append(work)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.append { [self] in
            unsafe job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
    }

    package func checkIsolated() {
        precondition(isCurrent, "this runs on a thread that is not the driver's")
    }
}

/// The work of a thread. The thread holds it, not the executor.
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
        state.change { state in
            state.work.append(item)
            if state.thread == nil { state.thread = start() }
        }
    }

    func finish() {
        state.change { $0.isFinished = true }
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

/// A value behind a lock, with a condition for threads that wait for a change of the value.
@safe final class Monitor<Value>: @unchecked Sendable {
    // Safe: the value is used only while the mutex is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    /// What a thread that has checked the value does next.
    enum Step<Result> {
        case done(Result)
        /// Checks again when it is signalled, or at a time of ``now``, in nanoseconds.
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

    /// Uses the value.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Uses the value, and then makes a waiting thread check it again.
    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        defer { signal() }
        return withLock(body)
    }

    /// Makes a waiting thread check again.
    func signal() {
        unsafe pthread_cond_signal(condition)
    }

    /// Checks the value until `step` is done.
    func wait<Result>(_ step: (inout Value) -> Step<Result>) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            switch step(&value) {
            case .done(let result): return result
            case .wait(nil): unsafe pthread_cond_wait(condition, mutex)
            case .wait(let end?):
                var until = timespec(tv_sec: Int(end / Self.second), tv_nsec: Int(end % Self.second))
                unsafe pthread_cond_timedwait(condition, mutex, &until)
            }
        }
    }

    /// The current time, in the unit of ``Step/wait(until:)``.
    static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * Self.second + UInt64(time.tv_nsec)
    }

    /// A millisecond in nanoseconds.
    static var millisecond: UInt64 { 1_000_000 }

    /// A second in nanoseconds.
    private static var second: UInt64 { 1_000_000_000 }
}
