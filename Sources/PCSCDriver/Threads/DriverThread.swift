// SPDX-License-Identifier: Apache-2.0
import Glibc

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
@safe private final class Queue: @unchecked Sendable {
    // Safe: what follows is only touched while the mutex is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var work: [@Sendable () -> Void] = []
    private var thread: pthread_t?
    private var isFinished = false

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        let status = unsafe pthread_mutex_init(mutex, nil) + pthread_cond_init(condition, nil)
        precondition(status == 0, "no mutex could be made")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    var isCurrent: Bool {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }

    func append(_ item: @escaping @Sendable () -> Void) {
        unsafe pthread_mutex_lock(mutex)
        work.append(item)
        if thread == nil { start() }
        unsafe pthread_cond_signal(condition)
        unsafe pthread_mutex_unlock(mutex)
    }

    func finish() {
        unsafe pthread_mutex_lock(mutex)
        isFinished = true
        unsafe pthread_cond_signal(condition)
        unsafe pthread_mutex_unlock(mutex)
    }

    private func start() {
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
        thread = new
    }

    private func loop() {
        while true {
            unsafe pthread_mutex_lock(mutex)
            while work.isEmpty, !isFinished { unsafe pthread_cond_wait(condition, mutex) }
            let batch = work
            work = []
            unsafe pthread_mutex_unlock(mutex)
            if batch.isEmpty { return }
            for item in batch { item() }
        }
    }
}
