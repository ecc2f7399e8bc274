// SPDX-License-Identifier: Apache-2.0
package import Dispatch

/// Runs an actor on a serial dispatch queue.
///
/// The queue of a session's channel targets the session's own queue. So the commands and their completion handlers run
/// on one thread. Waking another thread takes longer than a whole command to a virtual tag. Reader drivers wait for
/// hardware on their own threads and never block the queue.
package final class QueueExecutor: SerialExecutor, TaskExecutor {
    package let queue: DispatchQueue
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    /// Creates an executor.
    ///
    /// - Parameters:
    ///   - target: the queue whose threads run the work; nil for any thread.
    ///   - knowsCallers: whether ``isCurrent`` is used. Removing the mark from a queue takes a third of a scan of a
    ///     virtual tag, because another thread does it. So executors of sessions have no mark.
    package init(target: DispatchQueue?, knowsCallers: Bool = false) {
        queue = DispatchQueue(label: "org.opencorenfc.reader", target: target)
        if knowsCallers { queue.setSpecific(key: Self.key, value: ObjectIdentifier(self)) }
    }

    /// Whether the caller runs on the queue. Always false if `knowsCallers` was false.
    package var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self) }

    package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(),
                taskExecutor: asUnownedTaskExecutor()
            )
        }
    }

    /// Runs a function that is not a task, after all work that was added earlier.
    package func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}

/// Calls a function once on the main queue, after a pause. The call can't be cancelled.
package func runOnMain(after pause: Duration, _ work: @escaping @MainActor @Sendable () -> Void) {
    let nanoseconds = Int(pause / .nanoseconds(1))
    DispatchQueue.main.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { MainActor.assumeIsolated(work) }
}
