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
