// SPDX-License-Identifier: Apache-2.0

/// The thread of an event loop as the executor of tasks.
///
/// It is an object of its own, because a job that belongs to no actor has to run as such a job. Else each call of another
/// function that belongs to no actor would be a switch of executors, with a job of its own.
package final class LoopTasks: TaskExecutor {
    private let inbox: LoopInbox

    init(_ inbox: LoopInbox) { self.inbox = inbox }

    package func enqueue(_ job: consuming ExecutorJob) { inbox.add(.taskJob(UnownedJob(job))) }
}
