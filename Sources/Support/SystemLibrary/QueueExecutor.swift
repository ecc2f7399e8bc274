// SPDX-License-Identifier: Apache-2.0
package import Dispatch

/// Runs an actor on a serial dispatch queue.
///
/// A session's channel runs on a queue whose target is the session's own, so that commands and the completion handlers
/// between them follow each other on one thread: waking another one costs more than a whole command to a virtual tag.
/// Reader drivers wait for hardware on threads of their own and never hold up the queue.
package final class QueueExecutor: SerialExecutor, TaskExecutor {
    private let queue: DispatchQueue

    /// Creates an executor.
    ///
    /// - Parameter target: the queue on whose threads the work is done; nil for any.
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

    /// Runs what is no task, after the work that was given before it.
    package func async(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }
}
