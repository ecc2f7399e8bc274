// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Runs an actor on a thread that may wait for a serial line.
final class LineExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "org.opencorenfc.pn532")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
}
