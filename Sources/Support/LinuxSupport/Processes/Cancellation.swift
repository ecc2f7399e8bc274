// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Whether the result of an operation is still needed.
package final class Cancellation: Sendable {
    private let interrupt: Interrupt
    private let state = Atomic(false)

    package init(_ interrupt: Interrupt) {
        self.interrupt = interrupt
    }

    /// Marks the operation as cancelled, and wakes the thread that runs it.
    package func cancel() {
        state.store(true, ordering: .releasing)
        interrupt.raise()
    }

    package var isCancelled: Bool { state.load(ordering: .acquiring) }
}
