// SPDX-License-Identifier: Apache-2.0
package import Dispatch

/// Runs an actor on a serial dispatch queue.
///
/// A session's channel runs on a queue whose target is the session's own queue. So commands and the completion handlers
/// between them run on one thread. Waking another thread takes longer than a whole command to a virtual tag. Reader drivers
/// wait for hardware on their own threads and never block the queue.
package final class QueueExecutor: SerialExecutor, TaskExecutor {
    private let queue: DispatchQueue

    /// Creates an executor.
    ///
    /// - Parameter target: the queue whose threads run the work; nil for any thread.
    package init(target: DispatchQueue?) {
        queue = DispatchQueue(label: "org.opencorenfc.reader", target: target)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(),
                taskExecutor: asUnownedTaskExecutor()
            )
        }
    }

    /// Runs a function that is not a task, after all work that was added before.
    package func async(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }
}
