// SPDX-License-Identifier: Apache-2.0

/// The thread of an event loop as the executor of tasks, see ``LoopActor``.
package final class LoopTasks: TaskExecutor {
    private let inbox: LoopInbox

    init(_ inbox: LoopInbox) { self.inbox = inbox }

    package func enqueue(_ job: consuming ExecutorJob) { inbox.add(.job(UnownedJob(job))) }
}
