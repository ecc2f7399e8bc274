// SPDX-License-Identifier: Apache-2.0

/// Lets another thread end a wait: the one that is under way, and all that come after it.
package final class WaitCut: Sendable {
    private struct State {
        var isCut = false
        var end: (@Sendable () -> Void)?
    }

    private let state = Monitor(State())

    /// Creates a cut that has not been made.
    package init() {}

    /// Whether waits are ended.
    package var isCut: Bool { state.withLock { $0.isCut } }

    /// Ends the wait, from any thread.
    package func cut() {
        state.withLock { state in
            state.isCut = true
            // Under the lock, so that what is ended is not gone by then.
            state.end?()
        }
        state.signal()
    }

    /// Does work that waits.
    ///
    /// - Parameters:
    ///   - end: ends the wait from another thread. It may not wait itself.
    ///   - body: the work.
    /// - Throws: `cancelled` when waits were ended before; what `body` throws.
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

    /// Waits so long.
    ///
    /// - Throws: `cancelled` as soon as the wait is ended.
    package func sleep(milliseconds: Int) throws(SmartCardError) {
        let end = Monitor<State>.now + UInt64(milliseconds) * 1_000_000
        let isCut = state.wait { state -> Monitor<State>.Step<Bool> in
            if state.isCut { return .done(true) }
            // mutate: equivalent, because a sleep that is a nanosecond too long is not seen.
            return Monitor<State>.now >= end ? .done(false) : .wait(until: end)
        }
        if isCut { throw SmartCardError(.cancelled, "The wait") }
    }
}
