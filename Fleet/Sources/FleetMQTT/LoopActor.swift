// SPDX-License-Identifier: Apache-2.0

/// An actor that runs on an event loop's thread.
///
/// Its tasks call other actors on the same thread, and functions without an actor, without switching executors. Each
/// switch is a separate job, and the switches would take longer than the work for an event.
package actor LoopActor {
    package nonisolated let loop: EventLoop

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    package init(_ loop: EventLoop) { self.loop = loop }

    /// Starts a task on the thread.
    ///
    /// - Parameter body: receives the actor, because a closure with a capture list does not inherit isolation.
    @discardableResult
    package nonisolated func begin<Value: Sendable>(
        _ body: @escaping @Sendable (isolated LoopActor) async -> Value
    ) -> Task<Value, Never> {
        // Without an executor preference, a suspended task would first be resumed on another thread.
        Task(executorPreference: loop) { await body(self) }
    }
}
