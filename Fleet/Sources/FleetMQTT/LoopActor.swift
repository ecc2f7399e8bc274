// SPDX-License-Identifier: Apache-2.0

/// The thread of an event loop as an actor.
///
/// Its tasks call the other actors of the thread, and functions that belong to no actor, without a switch of executors.
/// Each switch is a job of its own, and together they would take longer than what is done for an event.
package actor LoopActor {
    /// The loop.
    package nonisolated let loop: EventLoop

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    package init(_ loop: EventLoop) { self.loop = loop }

    /// Begins a task on the thread.
    ///
    /// - Parameter body: gets the actor, because a closure with a list of captures does not stay where it is called from.
    @discardableResult
    package nonisolated func begin<Value: Sendable>(
        _ body: @escaping @Sendable (isolated LoopActor) async -> Value
    ) -> Task<Value, Never> {
        // A task that waits is resumed on its executor. Without one it would be resumed on another thread first.
        Task(executorPreference: loop) { await body(self) }
    }
}
