// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Runs a server's tasks on a separate queue, because hosts wait for the answers even if the process is busy.
package final class ServerExecutor: TaskExecutor {
    /// The queue. Bytes from descriptors are also handled on it, so that an answer needs few thread switches.
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
