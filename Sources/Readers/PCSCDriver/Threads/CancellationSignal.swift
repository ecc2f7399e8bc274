// SPDX-License-Identifier: Apache-2.0

/// Lets another thread end a wait: the current one and all later ones.
package final class CancellationSignal: Sendable {
    private struct State {
        var isCut = false
        var end: (@Sendable () -> Void)?
    }

    private let state = Monitor(State())

    /// Creates a value that has not been cut.
    package init() {}

    /// Whether waits have been ended.
    package var isCut: Bool { state.withLock { $0.isCut } }

    /// Ends the current wait and all later ones, from any thread.
    package func cut() {
        state.change { state in
            state.isCut = true
            // Called under the lock, so that the object of the wait still exists.
            state.end?()
        }
    }

    /// Runs work that waits.
    ///
    /// - Parameters:
    ///   - end: ends the wait from another thread. It must not wait itself.
    ///   - body: the work.
    /// - Throws: `cancelled` when waits have been ended before; the error of `body`.
    package func wait<Value>(
        endedBy end: @escaping @Sendable () -> Void,
        _ body: () throws(SmartCardError) -> Value
    ) throws(SmartCardError) -> Value {
        let isCut = state.withLock { state in
            if !state.isCut { state.end = end }
            return state.isCut
        }
        guard !isCut else { throw SmartCardError(.cancelled, "The wait") }
        defer { state.withLock { $0.end = nil } }
        return try body()
    }

    /// Waits for a time.
    ///
    /// - Throws: `cancelled` as soon as the wait is ended.
    package func sleep(milliseconds: Int) throws(SmartCardError) {
        let end = Monitor<State>.now + UInt64(milliseconds) * Monitor<State>.millisecond
        let isCut = state.wait { state -> Monitor<State>.Step<Bool> in
            if state.isCut { return .done(true) }
            return Monitor<State>.now >= end ? .done(false) : .wait(until: end)
        }
        if isCut { throw SmartCardError(.cancelled, "The wait") }
    }
}
