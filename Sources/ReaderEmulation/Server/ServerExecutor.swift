// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Runs a server's tasks on a queue of its own: hosts wait for their answers, whatever else the process is busy with.
package final class ServerExecutor: TaskExecutor {
    /// The queue; what comes from descriptors is taken on it too, so that an answer takes few changes of thread.
    let queue: DispatchQueue

    /// Creates an executor.
    ///
    /// - Parameter label: the queue's name.
    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
